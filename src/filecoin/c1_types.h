/*
 * The inside of a decoded C1, shared by decoder, checks and accessors; not for other rooms.
 *
 * One partition is one block of MEM_INPUT, sized exactly by its shape:
 *
 *     n_challenges struct porep_challenge | n_challenges struct c1_copies | path elements
 *
 * The path elements of a challenge follow each other in the order of `enum path_slot`.
 */
#ifndef FILECOIN_C1_TYPES_H
#define FILECOIN_C1_TYPES_H

#include "c1.h"
#include "mem.h"

enum {
    C1_MAX_CHALLENGES = 18, /* of one partition, in any shape */
    C1_LABEL_PARENTS = 37,  /* a label hashes its parents, repeated to this many */
    C1_COLUMNS = 1 + POREP_DRG_PARENTS + POREP_EXP_PARENTS,
};

/* The paths of a challenge. Column c of C1_COLUMNS (the challenged one, DRG parents, expander
 * parents) has slot PATH_COLUMNS + c. */
enum path_slot {
    PATH_COMM_D,
    PATH_COMM_R_LAST,
    PATH_COLUMNS,
    PATH_SLOTS = PATH_COLUMNS + C1_COLUMNS
};

/* Where something begins: in the file and, when that is wrapped, in Phase1Out's text. */
struct c1_offset {
    uint64_t file, text;
};

/*
 * What the file repeats and the circuit does not take. Labelling proofs carry the challenged node
 * and the parents' labels once more, for each layer; they are compared when the challenge ends and
 * only the first difference is kept, so that c1_check() can name it after everything before it has
 * been found right.
 */
struct c1_copies {
    struct c1_offset offset; /* of the challenge, for errors */
    uint32_t column_index[C1_COLUMNS];
    uint8_t has_bad_node, bad_node;     /* which labelling proof; n_layers: the encoding proof */
    uint8_t has_bad_parent, bad_parent; /* which of C1_LABEL_PARENTS … */
    uint8_t bad_parent_of;              /* … of which labelling proof */
};

struct c1_part {
    struct mem_block block;
    struct porep_partition view;
    struct c1_copies *copies;
};

/* Everything that follows from the shape, worked out once. */
struct c1_layout {
    const struct porep_shape *shape;
    unsigned d_levels, levels; /* of a path in tree D; in trees C and R-last */
    unsigned base_levels;      /* of `levels`, those in the base tree */
    size_t elements;           /* path elements of one challenge */
    size_t partition_bytes;
};

struct c1 {
    const struct registered_seal *seal;
    struct c1_layout layout;
    struct c1_values values;
    struct c1_offset comm_r_at, comm_d_at, replica_id_at, number_at;
    bool wrapped, has_number, has_size;
    uint64_t number, size;
    unsigned n_parts;
    unsigned max_parts;
    struct c1_part *parts; /* max_parts of them, owned */
};

void c1_layout_init(struct c1_layout *layout, const struct porep_shape *shape);

/* First of a slot's elements, counted from the challenge's first. */
static inline size_t c1_slot_offset(const struct c1_layout *layout, unsigned slot) {
    return slot == PATH_COMM_D ? 0 : layout->d_levels + (size_t)(slot - 1) * layout->levels;
}
static inline unsigned c1_slot_levels(const struct c1_layout *layout, unsigned slot) {
    return slot == PATH_COMM_D ? layout->d_levels : layout->levels;
}
/* Number of children of a node `level` levels above the leaves. */
static inline unsigned c1_slot_arity(const struct c1_layout *layout, unsigned slot,
                                     unsigned level) {
    return slot == PATH_COMM_D
               ? 2
               : tree_path_arity(&layout->shape->tree, layout->shape->n_nodes, level);
}

/* Appends ` (byte N of the file, byte M of Phase1Out's text)` to a sentence. */
void c1_offset_append(char *what, size_t what_bytes, const struct c1_offset *offset, bool wrapped);

/* What to do about an error in a C1 text. */
const char *c1_hint(cuzk_status code);

/* Makes room for as many partitions as any registered proof of this variant has. */
CUZK_NODISCARD cuzk_status c1_reserve(struct c1 *c1, const struct registered_seal *variant,
                                      struct cuzk_error *err);
/* Adds an empty partition: its challenges' paths have their elements and lengths. */
CUZK_NODISCARD cuzk_status c1_add_partition(struct c1 *c1, struct cuzk_error *err);

/* Element i of C1_LABEL_PARENTS in the label of `layer` (from 1): the DRG columns' rows of this
 * layer, then, but for layer 1, the expander columns' rows of the one before; over and over. */
const fr *c1_label_parent(const struct porep_challenge *challenge, unsigned layer, unsigned i);

/* Challenge j of a partition, and column c of it, writable while the decoder fills them. */
struct porep_challenge *c1_challenge(const struct c1_part *part, size_t j);
struct porep_column *c1_column(struct porep_challenge *challenge, unsigned c);
struct merkle_path *c1_path(struct porep_challenge *challenge, unsigned slot);
struct path_element *c1_elements(const struct c1_layout *layout, const struct c1_part *part,
                                 size_t j, unsigned slot);

#endif
