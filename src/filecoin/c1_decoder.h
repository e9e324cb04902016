/*
 * The streaming decoder behind c1_decode(): its state, and how its two halves meet. Not for other
 * rooms.
 *
 * c1_decoder.c follows the grammar (c1_schema.h): frames, counts, duplicates, unknown fields,
 * paths, errors. c1_store.c puts values where they belong. The outer text's Phase1Out feeds its
 * decoded bytes to a second JSON stream at once, whose frames stand on the outer one's.
 */
#ifndef FILECOIN_C1_DECODER_H
#define FILECOIN_C1_DECODER_H

#include "base64_stream.h"
#include "c1_schema.h"
#include "c1_types.h"
#include "json_stream.h"

/* An open object or array that the schema knows. */
struct c1_frame {
    uint8_t type;
    uint8_t field;  /* objects: the current field */
    uint16_t seen;  /* objects: bit per field */
    uint32_t count; /* arrays: elements begun; the current one is count - 1 */
};

enum { C1_MAX_FRAMES = 24, C1_NAME_MAX = 63, C1_SKIP_NAME_MAX = 31 };

struct c1_decoder {
    struct c1 *c1;
    struct cuzk_error *err;
    uint64_t max_bytes, bytes;
    unsigned max_depth;

    struct json_stream outer, inner;
    struct json_stream *stream; /* whose event is being handled */
    struct base64_stream base64;
    bool inner_open;
    uint64_t at;          /* offset of the current token in its stream */
    uint64_t file_anchor; /* file offset minus base64 characters before it, for error offsets */
    uint64_t base64_chars;

    struct c1_frame frames[C1_MAX_FRAMES];
    unsigned n_frames;
    bool unknown;  /* the current field is not in the schema … */
    unsigned skip; /* … and this many of its containers are open */
    char skip_name[C1_SKIP_NAME_MAX + 1];

    char name[C1_NAME_MAX + 1]; /* of the string being read */
    uint8_t name_bytes;
    bool name_long;
    const struct registered_seal *variant; /* any seal of that variant; NULL: not yet */
    bool partitions_done, complete;

    /* where values go */
    uint8_t hash[32];
    struct porep_challenge *challenge;
    struct c1_copies *copies;
    size_t challenge_index;
    unsigned slot;   /* of the current path */
    unsigned column; /* of C1_COLUMNS */
    struct merkle_path *path;
    struct path_element *elements;  /* the current path's, from the leaf up */
    unsigned first_level, n_levels; /* of the current part of the path */
    unsigned labeling;              /* which labelling proof; n_layers: the encoding proof */
    uint64_t nodes[POREP_MAX_LAYERS + 1];
    fr labels[POREP_MAX_LAYERS + 1][C1_LABEL_PARENTS];
};

CUZK_NODISCARD cuzk_status c1_decoder_create(struct c1_decoder **out,
                                             const struct c1_limits *limits,
                                             struct cuzk_error *err);
void c1_decoder_destroy(struct c1_decoder *d); /* and what it has decoded; accepts NULL */
CUZK_NODISCARD cuzk_status c1_decoder_feed(struct c1_decoder *d, const void *text, size_t n);
/* Destroys the decoder, whatever it returns. */
CUZK_NODISCARD cuzk_status c1_decoder_finish(struct c1_decoder *d, struct c1 **out);

/* Fails at the current path, with `.suffix` appended where that is not NULL. */
cuzk_status c1_fail(struct c1_decoder *d, cuzk_status code, const char *suffix, const char *fmt,
                    ...) __attribute__((format(printf, 4, 5)));

/* Where the current token begins. */
struct c1_offset c1_here(const struct c1_decoder *d);

static inline struct c1_frame *c1_top(struct c1_decoder *d) {
    return &d->frames[d->n_frames - 1];
}

/* ---- c1_store.c ---- */

/* How many elements the array on top may have at most, and must have at least. */
void c1_array_bounds(const struct c1_decoder *d, uint32_t *least, uint32_t *most);
/* A frame has been pushed; it is on top. */
cuzk_status c1_entered(struct c1_decoder *d);
/* The frame on top is complete and about to be popped (T_HASH excepted). */
cuzk_status c1_leaving(struct c1_decoder *d);
/* d->hash is complete; its frame has been popped, its place is the top frame's current one. */
cuzk_status c1_store_hash(struct c1_decoder *d);
cuzk_status c1_store_number(struct c1_decoder *d, uint64_t value);
/* Do registered proof, variant, sector size and partitions, as far as known, agree? */
cuzk_status c1_check_agreement(struct c1_decoder *d);

#endif
