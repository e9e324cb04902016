/*
 * The dictionary of coefficients that all templates of a system share. Each distinct one has an id.
 *
 * The powers of two and their negations are there from the start: 2^k has id 2 k, -2^k has id
 * 2 k + 1, for k below 255. So small ids are frequent ones, and a packed word's coefficients
 * c, 2 c, 4 c, ... have ids two apart.
 */
#ifndef R1CS_COEF_DICT_H
#define R1CS_COEF_DICT_H

#include "byte_buf.h"
#include "fr.h"

struct coef {
    fr mont;
    uint8_t bytes[32]; /* canonical, little-endian: as the digest hashes it */
};

enum { COEF_POWERS = 255, COEF_N_PRESET = 2 * COEF_POWERS, COEF_ONE = 0, COEF_MINUS_ONE = 1 };
#define COEF_NONE UINT32_MAX

struct coef_dict {
    struct byte_buf entries; /* struct coef */
    struct byte_buf slots;   /* open addressing: uint32_t id + 1, 0 empty */
    uint32_t n;
};

bool coef_dict_init(struct coef_dict *d); /* false: no memory; deinit is due all the same */
void coef_dict_deinit(struct coef_dict *d);
/* Drops the index, after which no id can be asked for. */
void coef_dict_seal(struct coef_dict *d);
/* The id of c, a new one if need be; COEF_NONE: no memory. */
uint32_t coef_dict_id(struct coef_dict *d, const fr *c);

static inline const struct coef *coef_at(const struct coef_dict *d, uint32_t id) {
    return (const struct coef *)(const void *)d->entries.data + id;
}

#endif
