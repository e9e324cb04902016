#include "coef_dict.h"

static uint64_t hash(const fr *c) {
    uint64_t h = 0;
    for (int i = 0; i < 4; i++) {
        h = (h ^ c->l[i]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return h;
}

/* The place of c in the index, or the empty place where it belongs. */
static uint32_t *find(const struct coef_dict *d, const fr *c) {
    uint32_t *slots = (uint32_t *)(void *)d->slots.data;
    const size_t mask = d->slots.n / sizeof *slots - 1;
    size_t i = hash(c) & mask;
    while (slots[i] != 0 && !fr_equal(&coef_at(d, slots[i] - 1)->mont, c))
        i = (i + 1) & mask;
    return &slots[i];
}

/* An index twice as large (n_slots: a power of two), with everything in it again. */
static bool rebuild(struct coef_dict *d, size_t n_slots) {
    struct byte_buf fresh = {0};
    if (!byte_buf_reserve(&fresh, n_slots * sizeof(uint32_t))) return false;
    fresh.n = n_slots * sizeof(uint32_t);
    memset(fresh.data, 0, fresh.n);
    byte_buf_free(&d->slots);
    d->slots = fresh;
    for (uint32_t id = 0; id < d->n; id++)
        *find(d, &coef_at(d, id)->mont) = id + 1;
    return true;
}

bool coef_dict_init(struct coef_dict *d) {
    *d = (struct coef_dict){0};
    if (!rebuild(d, 2048)) return false;
    for (unsigned k = 0; k < COEF_POWERS; k++) {
        fr power, negative;
        fr_pow2(&power, k);
        fr_neg(&negative, &power);
        if (coef_dict_id(d, &power) != 2 * k || coef_dict_id(d, &negative) != 2 * k + 1)
            return false;
    }
    return true;
}

void coef_dict_deinit(struct coef_dict *d) {
    byte_buf_free(&d->entries);
    byte_buf_free(&d->slots);
    *d = (struct coef_dict){0};
}

void coef_dict_seal(struct coef_dict *d) {
    byte_buf_free(&d->slots);
    byte_buf_trim(&d->entries);
}

uint32_t coef_dict_id(struct coef_dict *d, const fr *c) {
    uint32_t *slot = find(d, c);
    if (*slot != 0) return *slot - 1;
    struct coef entry = {.mont = *c};
    fr_to_bytes(entry.bytes, c);
    if (d->n == COEF_NONE - 1 || !byte_buf_put(&d->entries, &entry, sizeof entry)) return COEF_NONE;
    *slot = ++d->n;
    const size_t n_slots = d->slots.n / sizeof *slot;
    if (d->n > n_slots / 2 && !rebuild(d, 2 * n_slots)) return COEF_NONE;
    return d->n - 1;
}
