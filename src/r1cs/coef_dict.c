#include "coef_dict.h"

#include <pthread.h>

static uint64_t hash(const fr *c) {
    uint64_t h = 0;
    for (int i = 0; i < 4; i++) {
        h = (h ^ c->l[i]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return h;
}

/* The place of c in an index of n_slots (a power of two), or the empty place where it belongs. */
static uint32_t *find(uint32_t *slots, size_t n_slots, const struct coef *entries, const fr *c) {
    const size_t mask = n_slots - 1;
    size_t i = hash(c) & mask;
    while (slots[i] != 0 && !fr_equal(&entries[slots[i] - 1].mont, c))
        i = (i + 1) & mask;
    return &slots[i];
}

static void fill(uint32_t *slots, size_t n_slots, const struct coef *entries, uint32_t n) {
    for (uint32_t id = 0; id < n; id++)
        *find(slots, n_slots, entries, &entries[id].mont) = id + 1;
}

/* What a dictionary begins with: made once, copied into each. */
enum { PRESET_SLOTS = 2048 };
static struct {
    struct coef entries[COEF_N_PRESET];
    uint32_t slots[PRESET_SLOTS];
} preset;
static pthread_once_t preset_once = PTHREAD_ONCE_INIT;

static void make_preset(void) {
    for (unsigned k = 0; k < COEF_POWERS; k++) {
        struct coef *const power = &preset.entries[2 * k], *const negative = power + 1;
        fr_pow2(&power->mont, k);
        fr_neg(&negative->mont, &power->mont);
        fr_to_bytes(power->bytes, &power->mont);
        fr_to_bytes(negative->bytes, &negative->mont);
    }
    fill(preset.slots, PRESET_SLOTS, preset.entries, COEF_N_PRESET);
}

static uint32_t *slots_of(const struct coef_dict *d) {
    return (uint32_t *)(void *)d->slots.data;
}
static size_t n_slots_of(const struct coef_dict *d) {
    return d->slots.n / sizeof(uint32_t);
}

bool coef_dict_init(struct coef_dict *d) {
    *d = (struct coef_dict){0};
    pthread_once(&preset_once, make_preset);
    d->n = COEF_N_PRESET;
    return byte_buf_put(&d->entries, preset.entries, sizeof preset.entries) &&
           byte_buf_put(&d->slots, preset.slots, sizeof preset.slots);
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

/* An index twice as large, with everything in it again. False: no memory, nothing changed. */
static bool grow_index(struct coef_dict *d) {
    struct byte_buf fresh;
    if (byte_buf_take(&fresh, 2 * d->slots.n, NULL) != CUZK_OK) return false;
    byte_buf_free(&d->slots);
    d->slots = fresh;
    fill(slots_of(d), n_slots_of(d), coef_at(d, 0), d->n);
    return true;
}

uint32_t coef_dict_id(struct coef_dict *d, const fr *c) {
    uint32_t *slot = find(slots_of(d), n_slots_of(d), coef_at(d, 0), c);
    if (*slot != 0) return *slot - 1;
    if (d->n == COEF_NONE - 1) return COEF_NONE;
    if (d->n >= n_slots_of(d) / 2) { /* at most half full, so that a search ends soon */
        if (!grow_index(d)) return COEF_NONE;
        slot = find(slots_of(d), n_slots_of(d), coef_at(d, 0), c);
    }
    struct coef entry = {.mont = *c};
    fr_to_bytes(entry.bytes, c);
    if (!byte_buf_put(&d->entries, &entry, sizeof entry)) return COEF_NONE;
    *slot = ++d->n;
    return d->n - 1;
}
