/*
 * The grammar of a C1 text: which fields an object has, what each holds. Not for other rooms.
 *
 * Counts that depend on the registered proof (partitions, challenges, layers, path lengths) are not
 * here; the decoder asks the shape.
 */
#ifndef FILECOIN_C1_SCHEMA_H
#define FILECOIN_C1_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum c1_kind {
    KIND_OBJECT,
    KIND_VARIANTS, /* an object with one key, the variant's name */
    KIND_ARRAY,
    KIND_HASH, /* 32 integers below 256 */
    KIND_U64,
    KIND_NULL,
    KIND_NAME,   /* a short string */
    KIND_BASE64, /* a string that holds T_OUTPUT */
};

enum c1_type {
    T_FILE,   /* the outermost object: wrapper or bare */
    T_OUTPUT, /* the inner object */
    T_VARIANTS,
    T_PARTITIONS,
    T_CHALLENGES,
    T_CHALLENGE,
    T_PROOF,  /* {"data": T_TREE} */
    T_TREE,   /* one of Single, Sub, Top */
    T_SINGLE, /* one tree */
    T_SUB,    /* base trees under one node */
    T_TOP,    /* base trees under sub-trees under one node */
    T_PATH,
    T_ELEMENTS,
    T_ELEMENT,
    T_SIBLINGS,
    T_REPLICA,
    T_COLUMN_PROOF,
    T_DRG,
    T_EXP,
    T_COLUMN,
    T_ROWS,
    T_LABELINGS,
    T_LABELING,
    T_LABEL_PARENTS,
    T_HASH,
    T_U64,
    T_NULL,
    T_NAME,
    T_BASE64,
    C1_TYPES
};

/* Places of fields, for the code that stores their values. */
enum {
    F_REGISTERED_PROOF,
    F_VANILLA_PROOFS,
    F_COMM_R,
    F_COMM_D,
    F_REPLICA_ID,
    F_SEED,
    F_TICKET,
    F_OUTPUT_FIELDS, /* the wrapper's own follow */
    F_PHASE1_OUT = F_OUTPUT_FIELDS,
    F_SECTOR_NUM,
    F_SECTOR_SIZE,

    F_COMM_D_PROOFS = 0,
    F_COMM_R_LAST_PROOF,
    F_REPLICA_COLUMN_PROOFS,
    F_LABELING_PROOFS,
    F_ENCODING_PROOF,

    F_TREE_SINGLE = 0,
    F_TREE_SUB,
    F_TREE_TOP,

    F_ROOT = 0, /* of T_SINGLE, T_SUB, T_TOP alike */
    F_LEAF,
    F_BASE_PATH,
    F_SUB_PATH,
    F_TOP_PATH,

    F_HASHES = 0,
    F_INDEX,

    F_C_X = 0,
    F_DRG_PARENTS,
    F_EXP_PARENTS,

    F_COLUMN_INDEX = 0,
    F_ROWS,

    F_LABEL_PARENTS = 0,
    F_LAYER_INDEX,
    F_NODE,
};

struct c1_field {
    const char *name;
    uint8_t type;
    bool optional;
};

struct c1_type_info {
    enum c1_kind kind;
    uint8_t element; /* type of an array's elements */
    uint8_t n_fields;
    const struct c1_field *fields;
};

extern const struct c1_type_info c1_types[C1_TYPES];

/* The field's place, or -1. */
int c1_field_find(const struct c1_type_info *type, const char *name, size_t name_bytes);

#endif
