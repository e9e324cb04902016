#include "row_shape.h"

#include <stdlib.h>

enum { N_SLOTS = 2 * SHAPE_MAX_SHAPES };

bool shape_set_init(struct shape_set *s) {
    *s = (struct shape_set){0};
    s->slots = calloc(N_SLOTS, sizeof *s->slots);
    return s->slots != NULL;
}

void shape_set_deinit(struct shape_set *s) {
    byte_buf_free(&s->shapes);
    byte_buf_free(&s->tables);
    byte_buf_free(&s->values);
    free(s->slots);
    *s = (struct shape_set){0};
}

static uint64_t hash(const struct row_shape *shape) {
    const uint8_t *bytes = (const uint8_t *)shape;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < sizeof *shape; i++)
        h = (h ^ bytes[i]) * UINT64_C(0x100000001b3);
    return h ^ h >> 32;
}

uint32_t shape_set_id(struct shape_set *s, const struct row_shape *shape) {
    size_t i = hash(shape) % N_SLOTS;
    for (; s->slots[i] != 0; i = (i + 1) % N_SLOTS) {
        const uint32_t id = s->slots[i] - 1u;
        if (memcmp(shape_at(s, id), shape, sizeof *shape) == 0) return id;
    }
    if (s->n == SHAPE_MAX_SHAPES || !byte_buf_put(&s->shapes, shape, sizeof *shape))
        return SHAPE_NONE;
    s->slots[i] = (uint16_t)++s->n;
    return s->n - 1;
}

/* Value of one linear combination when the slots' bits are `bits` (slot i in bit i). */
static void value_at(fr *out, const struct shape_term *terms, unsigned n, unsigned bits,
                     const struct coef_dict *dict) {
    *out = fr_zero;
    for (unsigned t = 0; t < n; t++) {
        if (terms[t].slot == SHAPE_ONE || (bits >> terms[t].slot & 1) != 0)
            fr_add(out, out, &coef_at(dict, terms[t].coef)->mont);
    }
}

static bool make_table(struct shape_set *s, struct shape_table *table, int which,
                       const struct shape_term *terms, unsigned n, const struct coef_dict *dict) {
    uint8_t *used = table->used[which];
    unsigned n_used = 0, seen = 0;
    for (unsigned t = 0; t < n; t++) {
        if (terms[t].slot == SHAPE_ONE || (seen >> terms[t].slot & 1) != 0) continue;
        seen |= 1u << terms[t].slot;
        used[n_used++] = terms[t].slot;
    }
    table->n_used[which] = (uint8_t)n_used;
    table->first[which] = (uint32_t)(s->values.n / sizeof(fr));
    if (n_used > SHAPE_MAX_TABLE_SLOTS) return true;
    for (unsigned index = 0; index < 1u << n_used; index++) {
        unsigned bits = 0;
        for (unsigned i = 0; i < n_used; i++)
            bits |= (index >> i & 1) << used[i];
        fr value;
        value_at(&value, terms, n, bits, dict);
        if (!byte_buf_put(&s->values, &value, sizeof value)) return false;
    }
    return true;
}

bool shape_set_seal(struct shape_set *s, const struct coef_dict *dict) {
    free(s->slots);
    s->slots = NULL;
    for (uint32_t id = 0; id < s->n; id++) {
        const struct row_shape *shape = shape_at(s, id);
        struct shape_table table = {0};
        const struct shape_term *terms = shape->terms;
        for (int i = 0; i < 3; i++) {
            if (!make_table(s, &table, i, terms, shape->n_terms[i], dict)) return false;
            terms += shape->n_terms[i];
        }
        if (!byte_buf_put(&s->tables, &table, sizeof table)) return false;
    }
    byte_buf_trim(&s->shapes);
    byte_buf_trim(&s->tables);
    byte_buf_trim(&s->values);
    return true;
}
