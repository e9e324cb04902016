#include "unit/state_set.h"

#include "unit/test_main.h"

static uint64_t hash(const uint8_t *s, size_t n) {
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ s[i]) * 0x100000001b3u;
    return h ^ h >> 29;
}

static uint32_t *slot_of(const struct state_set *set, const uint8_t *state) {
    size_t at = hash(state, set->state_bytes) & (set->n_slots - 1);
    while (set->table[at] != 0 && memcmp(set->states + (set->table[at] - 1) * set->state_bytes,
                                         state, set->state_bytes) != 0)
        at = (at + 1) & (set->n_slots - 1);
    return &set->table[at];
}

static void grow(struct state_set *set) {
    set->allocated = set->allocated == 0 ? 1024 : 2 * set->allocated;
    set->n_slots = 2 * set->allocated;
    set->states = realloc(set->states, set->allocated * set->state_bytes);
    assert_non_null(set->states);
    free(set->table);
    set->table = calloc(set->n_slots, sizeof *set->table);
    assert_non_null(set->table);
    for (size_t i = 0; i < set->n; i++)
        *slot_of(set, set->states + i * set->state_bytes) = (uint32_t)i + 1;
}

bool state_set_insert(struct state_set *set, const uint8_t *state) {
    if (set->n == set->allocated) grow(set);
    uint32_t *slot = slot_of(set, state);
    if (*slot != 0) return false;
    memcpy(set->states + set->n * set->state_bytes, state, set->state_bytes);
    *slot = (uint32_t)++set->n;
    return true;
}

void state_set_free(struct state_set *set) {
    free(set->states);
    free(set->table);
}
