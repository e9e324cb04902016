#include "witness.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { ALIGN = 64 };

static size_t aligned(size_t bytes) {
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* Whole words for n bits, and one word of padding, so that an unaligned word may be read anywhere.
 */
static size_t plane_bytes(uint32_t n_bits) {
    return ((size_t)n_bits / 64 + 2) * sizeof(uint64_t);
}

size_t witness_bytes(uint32_t n_inputs, uint32_t n_aux, uint32_t n_elements) {
    return aligned(plane_bytes(n_aux)) + aligned(n_elements * sizeof(fr)) +
           aligned(n_inputs * sizeof(fr));
}

void witness_view(struct witness *out, void *memory, uint32_t n_inputs, uint32_t n_aux,
                  uint32_t n_elements) {
    assert((uintptr_t)memory % ALIGN == 0);
    uint8_t *const elements = (uint8_t *)memory + aligned(plane_bytes(n_aux));
    *out = (struct witness){
        .n_inputs = n_inputs,
        .n_aux = n_aux,
        .n_elements = n_elements,
        .values = memory,
        .elements = (fr *)elements,
        .inputs = (fr *)(elements + aligned(n_elements * sizeof(fr))),
    };
}

void witness_place(struct witness *out, void *memory, uint32_t n_inputs, uint32_t n_aux,
                   uint32_t n_elements) {
    witness_view(out, memory, n_inputs, n_aux, n_elements);
    if (n_inputs > 0) out->inputs[0] = fr_one;
}

cuzk_status witness_create(struct witness *out, uint32_t n_inputs, uint32_t n_aux,
                           uint32_t n_elements, struct cuzk_error *err) {
    *out = (struct witness){0};
    struct mem_block block;
    CUZK_TRY(mem_take(&block, witness_bytes(n_inputs, n_aux, n_elements), MEM_WITNESS, err));
    witness_place(out, block.ptr, n_inputs, n_aux, n_elements);
    out->block = block;
    return CUZK_OK;
}

void witness_destroy(struct witness *w) {
    if (w->block.ptr != NULL) {
        explicit_bzero(w->block.ptr, w->block.bytes);
        mem_give(&w->block);
    }
    *w = (struct witness){0};
}

static cuzk_status bad_value(struct cuzk_error *err, cuzk_status code, bool is_input,
                             uint32_t index, const char *what) {
    char where[64];
    snprintf(where, sizeof where, "witness, %s %u", is_input ? "input" : "aux variable", index);
    return error_set(err, code, where, NULL, "%s", what);
}

static cuzk_status read_inputs(struct witness *w, const uint8_t *at, struct cuzk_error *err) {
    for (uint32_t i = 0; i < w->n_inputs; i++, at += 32) {
        if (!fr_from_bytes(&w->inputs[i], at))
            return bad_value(err, CUZK_NOT_CANONICAL, true, i, "it is not below the modulus");
    }
    if (w->n_inputs == 0 || !fr_equal(&w->inputs[0], &fr_one))
        return bad_value(err, CUZK_FIELD_RANGE, true, 0, "it is not one");
    return CUZK_OK;
}

static cuzk_status read_aux(struct witness *w, const uint64_t *kind, const uint8_t *at,
                            struct cuzk_error *err) {
    uint32_t element = 0;
    for (uint32_t i = 0; i < w->n_aux; i++, at += 32) {
        fr value;
        if (!fr_from_bytes(&value, at))
            return bad_value(err, CUZK_NOT_CANONICAL, false, i, "it is not below the modulus");
        if ((kind[i / 64] >> i % 64 & 1) == 0) {
            if (element == w->n_elements)
                return bad_value(err, CUZK_FIELD_COUNT, false, i, "there are too many elements");
            w->elements[element++] = value;
        } else if (fr_equal(&value, &fr_one)) {
            w->values[i / 64] |= UINT64_C(1) << i % 64;
        } else if (!fr_is_zero(&value)) {
            return bad_value(err, CUZK_FIELD_RANGE, false, i, "it is a bit, but not 0 or 1");
        }
    }
    return CUZK_OK;
}

cuzk_status witness_from_values(struct witness *out, const uint64_t *kind_plane, uint32_t n_inputs,
                                uint32_t n_aux, uint32_t n_elements, const uint8_t *data,
                                size_t n_bytes, struct cuzk_error *err) {
    uint64_t counts[2];
    *out = (struct witness){0};
    if (n_bytes < sizeof counts)
        return error_set(err, CUZK_INPUT_SIZE, "witness", NULL, "%zu bytes are too few", n_bytes);
    memcpy(counts, data, sizeof counts);
    if (counts[0] != n_inputs || counts[1] != n_aux)
        return error_set(err, CUZK_FIELD_COUNT, "witness", NULL,
                         "it has %llu inputs and %llu variables; the circuit has %u and %u",
                         (unsigned long long)counts[0], (unsigned long long)counts[1], n_inputs,
                         n_aux);
    const size_t want = sizeof counts + ((size_t)n_inputs + n_aux) * 32;
    if (n_bytes != want)
        return error_set(err, CUZK_INPUT_SIZE, "witness", NULL, "it has %zu bytes instead of %zu",
                         n_bytes, want);
    CUZK_TRY(witness_create(out, n_inputs, n_aux, n_elements, err));
    const uint8_t *values = data + sizeof counts;
    cuzk_status status = read_inputs(out, values, err);
    if (status == CUZK_OK) status = read_aux(out, kind_plane, values + (size_t)n_inputs * 32, err);
    if (status != CUZK_OK) witness_destroy(out);
    return status;
}
