#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "c1_decoder.h"
#include "c1_types.h"

const struct c1_limits c1_default_limits = {.max_bytes = (uint64_t)1 << 30, .max_depth = 64};

/* ---- storage ---- */

void c1_layout_init(struct c1_layout *layout, const struct porep_shape *shape) {
    static const struct tree_shape binary = {.base_arity = 2};
    assert(shape->n_challenges <= C1_MAX_CHALLENGES);
    layout->shape = shape;
    layout->d_levels = tree_path_levels(&binary, shape->n_nodes);
    layout->levels = tree_path_levels(&shape->tree, shape->n_nodes);
    layout->base_levels =
        layout->levels - (shape->tree.sub_arity != 0) - (shape->tree.top_arity != 0);
    layout->elements = layout->d_levels + (size_t)(PATH_SLOTS - 1) * layout->levels;
    layout->partition_bytes =
        shape->n_challenges * (sizeof(struct porep_challenge) + sizeof(struct c1_copies) +
                               layout->elements * sizeof(struct path_element));
}

struct porep_challenge *c1_challenge(const struct c1_part *part, size_t j) {
    return (struct porep_challenge *)part->block.ptr + j;
}

struct porep_column *c1_column(struct porep_challenge *challenge, unsigned c) {
    if (c == 0) return &challenge->c_x;
    c--;
    return c < POREP_DRG_PARENTS ? &challenge->drg[c] : &challenge->exp[c - POREP_DRG_PARENTS];
}

const fr *c1_label_parent(const struct porep_challenge *challenge, unsigned layer, unsigned i) {
    const unsigned n = layer == 1 ? POREP_DRG_PARENTS : POREP_DRG_PARENTS + POREP_EXP_PARENTS;
    const unsigned which = i % n;
    if (which < POREP_DRG_PARENTS) return &challenge->drg[which].rows[layer - 1];
    return &challenge->exp[which - POREP_DRG_PARENTS].rows[layer - 2];
}

struct path_element *c1_elements(const struct c1_layout *layout, const struct c1_part *part,
                                 size_t j, unsigned slot) {
    const size_t n = layout->shape->n_challenges;
    unsigned char *first = (unsigned char *)part->block.ptr +
                           n * (sizeof(struct porep_challenge) + sizeof(struct c1_copies));
    return (struct path_element *)first + j * layout->elements + c1_slot_offset(layout, slot);
}

struct merkle_path *c1_path(struct porep_challenge *challenge, unsigned slot) {
    if (slot == PATH_COMM_D) return &challenge->comm_d;
    if (slot == PATH_COMM_R_LAST) return &challenge->comm_r_last;
    return &c1_column(challenge, slot - PATH_COLUMNS)->path;
}

cuzk_status c1_reserve(struct c1 *c1, const struct registered_seal *variant,
                       struct cuzk_error *err) {
    for (size_t i = 0; registered_seal_at(i) != NULL; i++) {
        const struct registered_seal *seal = registered_seal_at(i);
        if (seal->sector_bytes == variant->sector_bytes && seal->n_partitions > c1->max_parts)
            c1->max_parts = seal->n_partitions;
    }
    c1->parts = calloc(c1->max_parts, sizeof *c1->parts);
    if (c1->parts == NULL)
        return error_set(err, CUZK_NO_MEMORY, "C1", NULL, "no memory for the list of partitions");
    c1_layout_init(&c1->layout, registered_seal_shape(variant));
    return CUZK_OK;
}

cuzk_status c1_add_partition(struct c1 *c1, struct cuzk_error *err) {
    const struct c1_layout *layout = &c1->layout;
    const size_t n = layout->shape->n_challenges;
    struct c1_part *part = &c1->parts[c1->n_parts];
    CUZK_TRY(mem_take(&part->block, layout->partition_bytes, MEM_INPUT, err));
    c1->n_parts++;
    part->view.challenges = part->block.ptr;
    part->view.n_challenges = (uint32_t)n;
    part->copies = (struct c1_copies *)(void *)c1_challenge(part, n);
    for (size_t j = 0; j < n; j++)
        for (unsigned slot = 0; slot < PATH_SLOTS; slot++) {
            struct merkle_path *path = c1_path(c1_challenge(part, j), slot);
            path->elements = c1_elements(layout, part, j, slot);
            path->n_elements = c1_slot_levels(layout, slot);
        }
    return CUZK_OK;
}

void c1_destroy(struct c1 *c1) {
    if (c1 == NULL) return;
    for (unsigned k = 0; k < c1->n_parts; k++)
        mem_give(&c1->parts[k].block);
    free(c1->parts);
    free(c1);
}

/* ---- errors ---- */

void c1_offset_append(char *what, size_t what_bytes, const struct c1_offset *offset, bool wrapped) {
    const size_t n = strlen(what);
    if (wrapped)
        snprintf(what + n, what_bytes - n,
                 " (byte %" PRIu64 " of the file, byte %" PRIu64 " of Phase1Out's text)",
                 offset->file, offset->text);
    else
        snprintf(what + n, what_bytes - n, " (byte %" PRIu64 " of the file)", offset->file);
}

const char *c1_hint(cuzk_status code) {
    switch (code) {
    case CUZK_JSON_SYNTAX:
    case CUZK_JSON_TRUNCATED:
    case CUZK_BASE64:
        return "the file is cut, damaged or no C1 output: copy or write it again";
    case CUZK_JSON_DEPTH:
    case CUZK_INPUT_SIZE:
        return "this is no C1 output";
    case CUZK_REGISTERED_PROOF:
        return "registered seal proofs 0 to 19 are known";
    case CUZK_SECTOR_SIZE:
        return "one of the two belongs to another sector";
    case CUZK_REPLICA_ID:
        return "give the miner and the sector number of the sector that was sealed";
    default:
        return "let commit phase 1 of this sector write the file again";
    }
}

/* ---- accessors ---- */

const struct registered_seal *c1_registered(const struct c1 *c1) {
    return c1->seal;
}

const struct c1_values *c1_values(const struct c1 *c1) {
    return &c1->values;
}

bool c1_is_wrapped(const struct c1 *c1) {
    return c1->wrapped;
}

bool c1_sector_number(const struct c1 *c1, uint64_t *out) {
    if (c1->has_number) *out = c1->number;
    return c1->has_number;
}

bool c1_sector_size(const struct c1 *c1, uint64_t *out) {
    if (c1->has_size) *out = c1->size;
    return c1->has_size;
}

unsigned c1_partitions(const struct c1 *c1) {
    return c1->n_parts;
}

const struct porep_partition *c1_partition(const struct c1 *c1, unsigned k) {
    return &c1->parts[k].view;
}

size_t c1_bytes(const struct c1 *c1) {
    size_t sum = 0;
    for (unsigned k = 0; k < c1->n_parts; k++)
        sum += c1->parts[k].block.bytes;
    return sum;
}

size_t c1_decoded_bytes(const struct registered_seal *seal) {
    struct c1_layout layout;
    c1_layout_init(&layout, registered_seal_shape(seal));
    return seal->n_partitions * layout.partition_bytes;
}

/* ---- sources ---- */

/* How much of the text is in memory at once. */
enum { READ_BYTES = 64 << 10 };

static cuzk_status pump(struct c1_decoder *d, const struct c1_source *source,
                        struct cuzk_error *err) {
    char *buffer = malloc(READ_BYTES);
    if (buffer == NULL)
        return error_set(err, CUZK_NO_MEMORY, "C1", NULL, "no memory for the reading buffer");
    cuzk_status status = CUZK_OK;
    for (;;) {
        const long n = source->read(source->ctx, buffer, READ_BYTES, err);
        if (n < 0) status = err != NULL && err->code != CUZK_OK ? err->code : CUZK_FILE_READ;
        if (n > 0) status = c1_decoder_feed(d, buffer, (size_t)n);
        if (n <= 0 || status != CUZK_OK) break;
    }
    free(buffer);
    return status;
}

cuzk_status c1_decode(struct c1 **out, const struct c1_source *source,
                      const struct c1_limits *limits, struct cuzk_error *err) {
    *out = NULL;
    struct c1_decoder *d;
    CUZK_TRY(c1_decoder_create(&d, limits, err));
    const cuzk_status status = pump(d, source, err);
    if (status == CUZK_OK) return c1_decoder_finish(d, out);
    c1_decoder_destroy(d);
    return status;
}

cuzk_status c1_decode_memory(struct c1 **out, const void *text, size_t n,
                             const struct c1_limits *limits, struct cuzk_error *err) {
    *out = NULL;
    struct c1_decoder *d;
    CUZK_TRY(c1_decoder_create(&d, limits, err));
    const cuzk_status status = c1_decoder_feed(d, text, n);
    if (status == CUZK_OK) return c1_decoder_finish(d, out);
    c1_decoder_destroy(d);
    return status;
}

struct file_source {
    int fd;
    const char *path;
};

static long file_source_read(void *ctx, void *out, size_t capacity, struct cuzk_error *err) {
    const struct file_source *f = ctx;
    ssize_t n;
    do
        n = read(f->fd, out, capacity);
    while (n < 0 && errno == EINTR);
    if (n < 0) error_set(err, CUZK_FILE_READ, f->path, NULL, "%s", strerror(errno));
    return (long)n;
}

cuzk_status c1_decode_file(struct c1 **out, const char *path, const struct c1_limits *limits,
                           struct cuzk_error *err) {
    *out = NULL;
    struct file_source f = {.fd = open(path, O_RDONLY | O_CLOEXEC), .path = path};
    if (f.fd < 0)
        return error_set(err, CUZK_FILE_OPEN, path, "give the path of a C1 file", "%s",
                         strerror(errno));
    struct cuzk_error local = {.code = CUZK_OK};
    const struct c1_source source = {.read = file_source_read, .ctx = &f};
    const cuzk_status status = c1_decode(out, &source, limits, err != NULL ? err : &local);
    close(f.fd);
    return status;
}
