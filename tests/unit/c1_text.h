/*
 * Editing of C1 texts for tests: a JSON text is copied with one thing changed, or with every object
 * rearranged, and wrapped in base64 as Curio does.
 *
 * The text must be well-formed JSON; everything fails the test that is running when it is not.
 */
#ifndef TESTS_C1_TEXT_H
#define TESTS_C1_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "c1.h"

/* Owned; NUL-terminated, n bytes without it. */
struct c1_text {
    char *bytes;
    size_t n;
};
void c1_text_free(struct c1_text *t);

/* The inner text of a wrapped file, and the sector number and size that the wrapper gives. */
struct c1_text c1_text_load_inner(const char *path);
struct c1_text c1_text_read(const char *path);

/* `{"SectorNum":number,"Phase1Out":"…","SectorSize":size}`. */
struct c1_text c1_text_wrap(const struct c1_text *inner, unsigned long long number,
                            unsigned long long size);
/* Standard base64 of n bytes, owned. */
char *c1_text_base64(const void *bytes, size_t n);

enum edit_action {
    EDIT_NONE,
    EDIT_REPLACE,   /* the value becomes `with` */
    EDIT_DROP,      /* the member vanishes */
    EDIT_TWICE,     /* the member occurs twice */
    EDIT_POP,       /* the value, an array, loses its last element */
    EDIT_PUSH,      /* the value, an array, has its last element twice */
    EDIT_POP_INNER, /* the same for the first element of the value, itself an array */
    EDIT_PUSH_INNER,
};
struct c1_edit {
    enum edit_action action;
    const char *key; /* the member that is changed … */
    unsigned skip;   /* … after so many of the same name, in the order of the text */
    const char *with;
    bool reverse;        /* every object's members in the opposite order */
    const char *unknown; /* a member to be put at the start of every object, NULL: none */
    bool spaced;         /* white space between all tokens */
};
struct c1_text c1_text_edit(const struct c1_text *in, const struct c1_edit *edit);

/* A number in the text, and its place: `vanilla_proofs.StackedDrg2KiBV1[0][1].comm_d_proofs…[31]`.
 */
struct c1_number {
    size_t offset, n;
    const char *path;
};
typedef void (*c1_number_fn)(void *ctx, const struct c1_number *number);
void c1_text_each_number(const struct c1_text *in, c1_number_fn fn, void *ctx);

/* The decoded files have the same values; fails the test otherwise. */
void c1_assert_same(const struct c1 *a, const struct c1 *b);

#endif
