#include "c1_schema.h"

#include <string.h>

static const struct c1_field file_fields[] = {
    [F_REGISTERED_PROOF] = {"registered_proof", T_NAME, false},
    [F_VANILLA_PROOFS] = {"vanilla_proofs", T_VARIANTS, false},
    [F_COMM_R] = {"comm_r", T_HASH, false},
    [F_COMM_D] = {"comm_d", T_HASH, false},
    [F_REPLICA_ID] = {"replica_id", T_HASH, false},
    [F_SEED] = {"seed", T_HASH, false},
    [F_TICKET] = {"ticket", T_HASH, false},
    [F_PHASE1_OUT] = {"Phase1Out", T_BASE64, false},
    [F_SECTOR_NUM] = {"SectorNum", T_U64, false},
    [F_SECTOR_SIZE] = {"SectorSize", T_U64, false},
};
static const struct c1_field challenge_fields[] = {
    [F_COMM_D_PROOFS] = {"comm_d_proofs", T_PROOF, false},
    [F_COMM_R_LAST_PROOF] = {"comm_r_last_proof", T_PROOF, false},
    [F_REPLICA_COLUMN_PROOFS] = {"replica_column_proofs", T_REPLICA, false},
    [F_LABELING_PROOFS] = {"labeling_proofs", T_LABELINGS, false},
    [F_ENCODING_PROOF] = {"encoding_proof", T_LABELING, false},
};
static const struct c1_field proof_fields[] = {{"data", T_TREE, false}};
static const struct c1_field tree_fields[] = {
    [F_TREE_SINGLE] = {"Single", T_SINGLE, true},
    [F_TREE_SUB] = {"Sub", T_SUB, true},
    [F_TREE_TOP] = {"Top", T_TOP, true},
};
static const struct c1_field single_fields[] = {
    [F_ROOT] = {"root", T_HASH, false},
    [F_LEAF] = {"leaf", T_HASH, false},
    [F_BASE_PATH] = {"path", T_PATH, false},
};
/* Sub has all but the last of these. */
static const struct c1_field top_fields[] = {
    [F_ROOT] = {"root", T_HASH, false},
    [F_LEAF] = {"leaf", T_HASH, false},
    [F_BASE_PATH] = {"base_proof", T_PATH, false},
    [F_SUB_PATH] = {"sub_proof", T_PATH, false},
    [F_TOP_PATH] = {"top_proof", T_PATH, false},
};
static const struct c1_field path_fields[] = {{"path", T_ELEMENTS, false}};
static const struct c1_field element_fields[] = {
    [F_HASHES] = {"hashes", T_SIBLINGS, false},
    [F_INDEX] = {"index", T_U64, false},
};
static const struct c1_field replica_fields[] = {
    [F_C_X] = {"c_x", T_COLUMN_PROOF, false},
    [F_DRG_PARENTS] = {"drg_parents", T_DRG, false},
    [F_EXP_PARENTS] = {"exp_parents", T_EXP, false},
};
static const struct c1_field column_proof_fields[] = {
    {"column", T_COLUMN, false},
    {"inclusion_proof", T_PROOF, false},
};
static const struct c1_field column_fields[] = {
    [F_COLUMN_INDEX] = {"index", T_U64, false},
    [F_ROWS] = {"rows", T_ROWS, false},
    {"_h", T_NULL, true},
};
static const struct c1_field labeling_fields[] = {
    [F_LABEL_PARENTS] = {"parents", T_LABEL_PARENTS, false},
    [F_LAYER_INDEX] = {"layer_index", T_U64, false},
    [F_NODE] = {"node", T_U64, false},
};

#define OBJECT(n, list)                                                                            \
    { .kind = KIND_OBJECT, .n_fields = n, .fields = list }
#define ARRAY(type)                                                                                \
    { .kind = KIND_ARRAY, .element = type }

const struct c1_type_info c1_types[C1_TYPES] = {
    [T_FILE] = OBJECT(F_SECTOR_SIZE + 1, file_fields),
    [T_OUTPUT] = OBJECT(F_OUTPUT_FIELDS, file_fields),
    [T_VARIANTS] = {.kind = KIND_VARIANTS},
    [T_PARTITIONS] = ARRAY(T_CHALLENGES),
    [T_CHALLENGES] = ARRAY(T_CHALLENGE),
    [T_CHALLENGE] = OBJECT(5, challenge_fields),
    [T_PROOF] = OBJECT(1, proof_fields),
    [T_TREE] = OBJECT(3, tree_fields),
    [T_SINGLE] = OBJECT(3, single_fields),
    [T_SUB] = OBJECT(4, top_fields),
    [T_TOP] = OBJECT(5, top_fields),
    [T_PATH] = OBJECT(1, path_fields),
    [T_ELEMENTS] = ARRAY(T_ELEMENT),
    [T_ELEMENT] = OBJECT(2, element_fields),
    [T_SIBLINGS] = ARRAY(T_HASH),
    [T_REPLICA] = OBJECT(3, replica_fields),
    [T_COLUMN_PROOF] = OBJECT(2, column_proof_fields),
    [T_DRG] = ARRAY(T_COLUMN_PROOF),
    [T_EXP] = ARRAY(T_COLUMN_PROOF),
    [T_COLUMN] = OBJECT(3, column_fields),
    [T_ROWS] = ARRAY(T_HASH),
    [T_LABELINGS] = ARRAY(T_LABELING),
    [T_LABELING] = OBJECT(3, labeling_fields),
    [T_LABEL_PARENTS] = ARRAY(T_HASH),
    [T_HASH] = {.kind = KIND_HASH, .element = T_U64},
    [T_U64] = {.kind = KIND_U64},
    [T_NULL] = {.kind = KIND_NULL},
    [T_NAME] = {.kind = KIND_NAME},
    [T_BASE64] = {.kind = KIND_BASE64},
};

int c1_field_find(const struct c1_type_info *type, const char *name, size_t name_bytes) {
    for (unsigned i = 0; i < type->n_fields; i++) {
        const char *field = type->fields[i].name;
        if (strlen(field) == name_bytes && memcmp(field, name, name_bytes) == 0) return (int)i;
    }
    return -1;
}
