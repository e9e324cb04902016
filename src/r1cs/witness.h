/*
 * The witness of one partition, compact: one bit for each variable, 32 bytes for those that are no
 * bits.
 *
 * A constraint system's variables are inputs (input 0 is ONE) and aux variables. Which aux
 * variables are bits is static: it is decided where they are allocated and is the same for every
 * witness of a circuit. The kind plane (in struct r1cs) has a one for each bit variable. Here:
 *
 *   values    bit i: the value of aux variable i if it is a bit, else 0
 *   elements  the values of the aux variables that are no bits, in order, Montgomery form
 *   inputs    the inputs, ONE first, Montgomery form
 *
 * Bit i of a plane is bit i % 64 of word i / 64. A plane has one zero word of padding at its end.
 */
#ifndef R1CS_WITNESS_H
#define R1CS_WITNESS_H

#include "fr.h"
#include "mem.h"

struct witness {
    uint32_t n_inputs, n_aux;
    uint32_t n_elements;
    uint64_t *values;
    fr *elements;
    fr *inputs;
    struct mem_block block; /* owns all three, class MEM_WITNESS; empty: the caller's memory */
};

/* Zeroed planes for a circuit of these counts; inputs[0] is set to one. */
CUZK_NODISCARD cuzk_status witness_create(struct witness *out, uint32_t n_inputs, uint32_t n_aux,
                                          uint32_t n_elements, struct cuzk_error *err);
/* Wipes, then frees. A placed or viewed one is only emptied: its memory is the caller's to wipe. */
void witness_destroy(struct witness *w);

/*
 * The same planes in memory of the caller: witness_bytes() bytes, aligned to 64. The layout follows
 * from the counts alone, so that two processes that share the memory agree on it.
 *
 *   witness_place   in zeroed memory, for a witness that is yet to be made; sets inputs[0] to one
 *   witness_view    on memory that already holds a witness, which is not touched
 */
size_t witness_bytes(uint32_t n_inputs, uint32_t n_aux, uint32_t n_elements);
void witness_place(struct witness *out, void *memory, uint32_t n_inputs, uint32_t n_aux,
                   uint32_t n_elements);
void witness_view(struct witness *out, void *memory, uint32_t n_inputs, uint32_t n_aux,
                  uint32_t n_elements);

/*
 * Reads a witness from the form that `fil-oracle witness --out` writes: u64 inputs, u64 aux, then
 * every value, inputs first, 32 bytes little-endian each. `kind_plane`, n_elements: of the circuit.
 * Errors: INPUT_SIZE (too short or too long), FIELD_COUNT (other counts than n_inputs and n_aux),
 * NOT_CANONICAL, FIELD_RANGE (input 0 is not one, or a bit variable is neither 0 nor 1).
 */
CUZK_NODISCARD cuzk_status witness_from_values(struct witness *out, const uint64_t *kind_plane,
                                               uint32_t n_inputs, uint32_t n_aux,
                                               uint32_t n_elements, const uint8_t *data,
                                               size_t n_bytes, struct cuzk_error *err);

#endif
