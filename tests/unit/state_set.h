/* A set of states for model checks: byte strings of one length, compared in full. */
#ifndef STATE_SET_H
#define STATE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begins as {.state_bytes = n}. */
struct state_set {
    uint8_t *states; /* n of state_bytes */
    uint32_t *table; /* 1 + the number of a state; 0: free */
    size_t n, allocated, n_slots, state_bytes;
};

/* False: it was in the set. */
bool state_set_insert(struct state_set *set, const uint8_t *state);
void state_set_free(struct state_set *set);

#endif
