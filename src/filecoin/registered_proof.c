#include "registered_proof.h"

#include <assert.h>
#include <string.h>

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

/* The five network sizes of one generation, numbered from `first`. */
#define GENERATION(first, suffix, kind, legacy, parts_small, parts_large)                          \
    SEAL(first, "2KiB", suffix, 2 * KIB, kind, legacy, first, parts_small),                        \
        SEAL(first + 1, "8MiB", suffix, 8 * MIB, kind, legacy, first + 1, parts_small),            \
        SEAL(first + 2, "512MiB", suffix, 512 * MIB, kind, legacy, first + 2, parts_small),        \
        SEAL(first + 3, "32GiB", suffix, 32 * GIB, kind, legacy, first + 3, parts_large),          \
        SEAL(first + 4, "64GiB", suffix, 64 * GIB, kind, legacy, first + 4, parts_large)
#define SEAL(no, size, suffix, bytes, k, legacy, porep, parts)                                     \
    {                                                                                              \
        .number = no, .name = "StackedDrg" size suffix, .variant = "StackedDrg" size "V1",         \
        .sector_bytes = bytes, .kind = k, .legacy_graph = legacy, .porep_number = porep,           \
        .n_partitions = parts                                                                      \
    }

static const struct registered_seal table[] = {
    GENERATION(0, "V1", SEAL_INTERACTIVE, true, 1, 10),
    GENERATION(5, "V1_1", SEAL_INTERACTIVE, false, 1, 10),
    GENERATION(10, "V1_1_Feat_SyntheticPoRep", SEAL_SYNTHETIC, false, 1, 10),
    GENERATION(15, "V1_2_Feat_NonInteractivePoRep", SEAL_NON_INTERACTIVE, false, 13, 126),
    SEAL(SEAL_NO_NUMBER, "4KiB", "V1_1", 4 * KIB, SEAL_INTERACTIVE, false, 5, 1),
    SEAL(SEAL_NO_NUMBER, "16KiB", "V1_1", 16 * KIB, SEAL_INTERACTIVE, false, 5, 1),
    SEAL(SEAL_NO_NUMBER, "32KiB", "V1_1", 32 * KIB, SEAL_INTERACTIVE, false, 5, 1),
};
static const size_t n_table = sizeof table / sizeof table[0];

const struct registered_seal *registered_seal_at(size_t i) {
    return i < n_table ? &table[i] : NULL;
}

const struct registered_seal *registered_seal_by_number(uint64_t number) {
    for (size_t i = 0; i < n_table; i++)
        if (table[i].number >= 0 && (uint64_t)table[i].number == number) return &table[i];
    return NULL;
}

const struct registered_seal *registered_seal_by_name(const char *name, size_t name_bytes) {
    for (size_t i = 0; i < n_table; i++)
        if (strlen(table[i].name) == name_bytes && memcmp(table[i].name, name, name_bytes) == 0)
            return &table[i];
    return NULL;
}

const struct porep_shape *registered_seal_shape(const struct registered_seal *seal) {
    const struct porep_shape *shape = porep_shape_by_bytes(seal->sector_bytes);
    assert(shape != NULL);
    return shape;
}

void registered_seal_porep_id(uint8_t out[32], const struct registered_seal *seal) {
    memset(out, 0, 32);
    for (unsigned i = 0; i < 8; i++)
        out[i] = (uint8_t)(seal->porep_number >> 8 * i);
}
