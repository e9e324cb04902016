#include "c1_decoder.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* The frame that holds the one on top. */
static const struct c1_frame *parent_frame(const struct c1_decoder *d) {
    assert(d->n_frames >= 2);
    return &d->frames[d->n_frames - 2];
}

static uint32_t current(const struct c1_frame *array) {
    return array->count - 1;
}

/* ---- counts ---- */

/* Until the registered proof is known, as many as any with this variant has. */
static void partition_bounds(const struct c1_decoder *d, uint32_t *least, uint32_t *most) {
    const struct c1 *c1 = d->c1;
    *least = c1->seal != NULL ? c1->seal->n_partitions : 1;
    *most = c1->seal != NULL ? c1->seal->n_partitions : c1->max_parts;
}

void c1_array_bounds(const struct c1_decoder *d, uint32_t *least, uint32_t *most) {
    const struct c1_layout *layout = &d->c1->layout;
    uint32_t n;
    switch (d->frames[d->n_frames - 1].type) {
    case T_PARTITIONS:
        partition_bounds(d, least, most);
        return;
    case T_CHALLENGES:
        n = layout->shape->n_challenges;
        break;
    case T_ELEMENTS:
        n = d->n_levels;
        break;
    case T_SIBLINGS:
        n = c1_slot_arity(layout, d->slot, d->first_level + current(parent_frame(d) - 1)) - 1;
        break;
    case T_DRG:
        n = POREP_DRG_PARENTS;
        break;
    case T_EXP:
        n = POREP_EXP_PARENTS;
        break;
    case T_LABEL_PARENTS:
        n = C1_LABEL_PARENTS;
        break;
    default: /* T_ROWS, T_LABELINGS */
        n = layout->shape->n_layers;
        break;
    }
    *least = *most = n;
}

cuzk_status c1_check_agreement(struct c1_decoder *d) {
    const struct c1 *c1 = d->c1;
    const struct registered_seal *seal = c1->seal;
    const uint64_t sector_bytes = seal != NULL         ? seal->sector_bytes
                                  : d->variant != NULL ? d->variant->sector_bytes
                                                       : 0;
    if (sector_bytes == 0) return CUZK_OK;
    if (seal != NULL && d->variant != NULL && strcmp(seal->variant, d->variant->variant) != 0)
        return c1_fail(d, CUZK_SECTOR_SIZE, NULL,
                       "the registered proof %s does not go with vanilla proofs of %s", seal->name,
                       d->variant->variant);
    if (c1->has_size && c1->size != sector_bytes)
        return c1_fail(d, CUZK_SECTOR_SIZE, NULL,
                       "SectorSize is %" PRIu64 ", but %s has sectors of %" PRIu64 " bytes",
                       c1->size, seal != NULL ? seal->name : d->variant->variant, sector_bytes);
    if (seal != NULL && d->partitions_done && c1->n_parts != seal->n_partitions)
        return c1_fail(d, CUZK_FIELD_COUNT, NULL, "%s has %u partitions, but vanilla_proofs has %u",
                       seal->name, seal->n_partitions, c1->n_parts);
    return CUZK_OK;
}

/* ---- entering ---- */

static cuzk_status enter_partition(struct c1_decoder *d) {
    return c1_add_partition(d->c1, d->err);
}

static void enter_challenge(struct c1_decoder *d) {
    const struct c1_part *part = &d->c1->parts[d->c1->n_parts - 1];
    d->challenge_index = current(parent_frame(d));
    d->challenge = c1_challenge(part, d->challenge_index);
    d->copies = &part->copies[d->challenge_index];
    d->copies->offset = c1_here(d);
}

static void enter_column(struct c1_decoder *d) {
    const struct c1_frame *in = parent_frame(d);
    if (in->type == T_DRG)
        d->column = 1 + current(in);
    else if (in->type == T_EXP)
        d->column = 1 + POREP_DRG_PARENTS + current(in);
    else
        d->column = 0;
}

static void enter_proof(struct c1_decoder *d) {
    const struct c1_frame *in = parent_frame(d);
    if (in->type == T_COLUMN_PROOF)
        d->slot = PATH_COLUMNS + d->column;
    else
        d->slot = in->field == F_COMM_D_PROOFS ? PATH_COMM_D : PATH_COMM_R_LAST;
    d->path = c1_path(d->challenge, d->slot);
    d->elements =
        c1_elements(&d->c1->layout, &d->c1->parts[d->c1->n_parts - 1], d->challenge_index, d->slot);
}

/* The form of a proof follows from its tree's shape. */
static cuzk_status enter_tree_form(struct c1_decoder *d) {
    const struct tree_shape *tree = &d->c1->layout.shape->tree;
    uint8_t form = T_SINGLE;
    if (d->slot != PATH_COMM_D && tree->sub_arity != 0) form = tree->top_arity != 0 ? T_TOP : T_SUB;
    if (c1_top(d)->type == form) return CUZK_OK;
    d->n_frames--;
    return c1_fail(d, CUZK_FIELD_TYPE, NULL, "proofs in this tree have the form %s",
                   form == T_SINGLE ? "Single"
                   : form == T_SUB  ? "Sub"
                                    : "Top");
}

static void enter_path(struct c1_decoder *d) {
    const struct c1_frame *in = parent_frame(d);
    const struct c1_layout *layout = &d->c1->layout;
    if (in->field == F_BASE_PATH) {
        d->first_level = 0;
        d->n_levels = d->slot == PATH_COMM_D ? layout->d_levels : layout->base_levels;
    } else {
        d->first_level = layout->base_levels + (in->field == F_TOP_PATH);
        d->n_levels = 1;
    }
}

static void enter_labeling(struct c1_decoder *d) {
    const struct c1_frame *in = parent_frame(d);
    d->labeling = in->type == T_LABELINGS ? current(in) : d->c1->layout.shape->n_layers;
}

cuzk_status c1_entered(struct c1_decoder *d) {
    switch (c1_top(d)->type) {
    case T_CHALLENGES:
        return enter_partition(d);
    case T_CHALLENGE:
        enter_challenge(d);
        return CUZK_OK;
    case T_COLUMN_PROOF:
        enter_column(d);
        return CUZK_OK;
    case T_PROOF:
        enter_proof(d);
        return CUZK_OK;
    case T_SINGLE:
    case T_SUB:
    case T_TOP:
        return enter_tree_form(d);
    case T_PATH:
        enter_path(d);
        return CUZK_OK;
    case T_LABELING:
        enter_labeling(d);
        return CUZK_OK;
    default:
        return CUZK_OK;
    }
}

/* ---- storing ---- */

static struct path_element *current_element(const struct c1_decoder *d,
                                            const struct c1_frame *elements) {
    return &d->elements[d->first_level + current(elements)];
}

static uint8_t *output_bytes(struct c1_values *v, unsigned field) {
    switch (field) {
    case F_COMM_R:
        return v->comm_r;
    case F_COMM_D:
        return v->comm_d;
    case F_REPLICA_ID:
        return v->replica_id;
    case F_SEED:
        return v->seed;
    default:
        return v->ticket;
    }
}

/* Where the field element goes whose place is the top frame's current one. */
static fr *hash_target(struct c1_decoder *d) {
    const struct c1_frame *f = c1_top(d);
    switch (f->type) {
    case T_SIBLINGS:
        return &current_element(d, parent_frame(d) - 1)->siblings[current(f)];
    case T_ROWS:
        return &c1_column(d->challenge, d->column)->rows[current(f)];
    case T_LABEL_PARENTS:
        return &d->labels[d->labeling][current(f)];
    default: /* T_SINGLE, T_SUB, T_TOP */
        return f->field == F_ROOT ? &d->path->root : &d->path->leaf;
    }
}

cuzk_status c1_store_hash(struct c1_decoder *d) {
    static const char too_large[] = "the value is not below the field's modulus";
    const struct c1_frame *f = c1_top(d);
    if (f->type != T_FILE && f->type != T_OUTPUT) {
        if (!fr_from_bytes(hash_target(d), d->hash))
            return c1_fail(d, CUZK_NOT_CANONICAL, NULL, "%s", too_large);
        return CUZK_OK;
    }
    memcpy(output_bytes(&d->c1->values, f->field), d->hash, sizeof d->hash);
    if (f->field == F_COMM_R) d->c1->comm_r_at = c1_here(d);
    if (f->field == F_COMM_D) d->c1->comm_d_at = c1_here(d);
    if (f->field == F_REPLICA_ID) d->c1->replica_id_at = c1_here(d);
    fr ignored;
    const bool any = f->field == F_SEED || f->field == F_TICKET; /* no field elements */
    if (!any && !fr_from_bytes(&ignored, d->hash))
        return c1_fail(d, CUZK_NOT_CANONICAL, NULL, "%s", too_large);
    return CUZK_OK;
}

static cuzk_status store_file_number(struct c1_decoder *d, unsigned field, uint64_t value) {
    if (field == F_SECTOR_NUM) {
        d->c1->number = value;
        d->c1->has_number = true;
        d->c1->number_at = c1_here(d);
        return CUZK_OK;
    }
    d->c1->size = value;
    d->c1->has_size = true;
    return c1_check_agreement(d);
}

static cuzk_status store_labeling_number(struct c1_decoder *d, unsigned field, uint64_t value) {
    if (field == F_NODE) {
        d->nodes[d->labeling] = value;
        return CUZK_OK;
    }
    const unsigned n_layers = d->c1->layout.shape->n_layers;
    const unsigned layer = d->labeling < n_layers ? d->labeling + 1 : n_layers;
    if (value != layer)
        return c1_fail(d, CUZK_FIELD_RANGE, NULL, "layer %" PRIu64 " is given, not %u", value,
                       layer);
    return CUZK_OK;
}

cuzk_status c1_store_number(struct c1_decoder *d, uint64_t value) {
    const struct c1_frame *f = c1_top(d);
    const struct c1_layout *layout = &d->c1->layout;
    uint64_t limit;
    switch (f->type) {
    case T_FILE:
        return store_file_number(d, f->field, value);
    case T_LABELING:
        return store_labeling_number(d, f->field, value);
    case T_ELEMENT: {
        const struct c1_frame *elements = parent_frame(d);
        limit = c1_slot_arity(layout, d->slot, d->first_level + current(elements));
        if (value >= limit) break;
        current_element(d, elements)->index = (uint32_t)value;
        return CUZK_OK;
    }
    default: /* T_COLUMN */
        limit = layout->shape->n_nodes;
        if (value >= limit) break;
        d->copies->column_index[d->column] = (uint32_t)value;
        return CUZK_OK;
    }
    return c1_fail(d, CUZK_FIELD_RANGE, NULL, "%" PRIu64 " is not below %" PRIu64, value, limit);
}

/* ---- leaving ---- */

static void compare_parents(struct c1_decoder *d, unsigned labeling, unsigned layer) {
    for (unsigned i = 0; i < C1_LABEL_PARENTS; i++)
        if (!fr_equal(&d->labels[labeling][i], c1_label_parent(d->challenge, layer, i))) {
            d->copies->has_bad_parent = 1;
            d->copies->bad_parent = (uint8_t)i;
            d->copies->bad_parent_of = (uint8_t)labeling;
            return;
        }
}

/* Compares what the challenge repeats, and notes the first difference of each kind. */
static void leave_challenge(struct c1_decoder *d) {
    struct c1_copies *copies = d->copies;
    const unsigned n_layers = d->c1->layout.shape->n_layers;
    d->challenge->node = copies->column_index[0];
    for (unsigned l = 0; l <= n_layers; l++) {
        if (copies->has_bad_node == 0 && d->nodes[l] != d->challenge->node) {
            copies->has_bad_node = 1;
            copies->bad_node = (uint8_t)l;
        }
        if (copies->has_bad_parent == 0) compare_parents(d, l, l < n_layers ? l + 1 : n_layers);
    }
}

static cuzk_status leave_tree(struct c1_decoder *d) {
    if (c1_top(d)->seen == 0)
        return c1_fail(d, CUZK_FIELD_MISSING, NULL, "there is none of Single, Sub and Top");
    return CUZK_OK;
}

/* Everything is there: the partitions get what is the same for all of them. */
static void leave_output(struct c1_decoder *d) {
    struct c1 *c1 = d->c1;
    const struct porep_challenge *first = c1->parts[0].view.challenges;
    for (unsigned k = 0; k < c1->n_parts; k++) {
        struct porep_partition *view = &c1->parts[k].view;
        const bool good = fr_from_bytes(&view->replica_id, c1->values.replica_id) &&
                          fr_from_bytes(&view->comm_d, c1->values.comm_d) &&
                          fr_from_bytes(&view->comm_r, c1->values.comm_r);
        assert(good); /* c1_store_hash() has seen to it */
        (void)good;
        view->comm_c = first->c_x.path.root;
        view->comm_r_last = first->comm_r_last.root;
    }
    d->complete = true;
}

cuzk_status c1_leaving(struct c1_decoder *d) {
    const struct c1_frame *f = c1_top(d);
    switch (f->type) {
    case T_CHALLENGE:
        leave_challenge(d);
        return CUZK_OK;
    case T_TREE:
        return leave_tree(d);
    case T_PARTITIONS:
        d->partitions_done = true;
        return CUZK_OK;
    case T_VARIANTS:
        if (d->variant == NULL)
            return c1_fail(d, CUZK_FIELD_MISSING, NULL, "there are no vanilla proofs");
        return CUZK_OK;
    case T_FILE:
        if (!d->c1->wrapped) leave_output(d);
        return CUZK_OK;
    case T_OUTPUT:
        leave_output(d);
        return CUZK_OK;
    default:
        return CUZK_OK;
    }
}
