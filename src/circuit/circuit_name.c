#include "circuit_name.h"

#include <stdio.h>
#include <string.h>

static const char porep_prefix[] = "porep-";

/* Kinds that the network has and this version does not. */
static bool is_other_kind(const char *circuit) {
    static const char *const kinds[] = {"winning", "window", "wpost", "snap"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strncmp(circuit, kinds[i], strlen(kinds[i])) == 0) return true;
    }
    return false;
}

static cuzk_status unknown(const char *circuit, const char *size, struct cuzk_error *err) {
    char ids[200] = "";
    size_t n = 0;
    for (size_t i = 0; porep_shape_at(i) != NULL; i++)
        n += (size_t)snprintf(ids + n, sizeof ids - n, "%s%s%s", i > 0 ? ", " : "one of ",
                              porep_prefix, porep_shape_at(i)->size_suffix);
    return error_set(err, CUZK_USAGE, NULL, ids, "there is no circuit '%s%s%s'", circuit,
                     size != NULL ? " " : "", size != NULL ? size : "");
}

cuzk_status circuit_find(const struct porep_shape **out, const char *circuit, const char *size,
                         struct cuzk_error *err) {
    const size_t prefix = strlen(porep_prefix);
    const struct porep_shape *shape = NULL;
    if (size == NULL && strncmp(circuit, porep_prefix, prefix) == 0)
        shape = porep_shape_by_name(circuit + prefix);
    if (size != NULL && strcmp(circuit, "porep") == 0) shape = porep_shape_by_name(size);
    if (shape != NULL) {
        *out = shape;
        return CUZK_OK;
    }
    if (size == NULL && strcmp(circuit, "porep") == 0)
        return error_set(err, CUZK_USAGE, NULL, "add --size 2KiB, or name porep-2k",
                         "the circuit 'porep' needs a size");
    if (is_other_kind(circuit))
        return error_set(err, CUZK_UNSUPPORTED, NULL, "this version has the PoRep circuits only",
                         "the circuit '%s' is not built in", circuit);
    return unknown(circuit, size, err);
}

void circuit_id(char out[CIRCUIT_ID_BYTES], const struct porep_shape *shape) {
    snprintf(out, CIRCUIT_ID_BYTES, "%s%s", porep_prefix, shape->size_suffix);
}

void circuit_network_name(char out[CIRCUIT_NAME_BYTES], const struct porep_shape *shape) {
    snprintf(out, CIRCUIT_NAME_BYTES,
             "stacked-proof-of-replication-merkletree-poseidon_hasher-%u-%u-%u-sha256_hasher-%s",
             shape->tree.base_arity, shape->tree.sub_arity, shape->tree.top_arity,
             shape->parameter_id);
}

void circuit_network_file(char out[CIRCUIT_NAME_BYTES], const struct porep_shape *shape,
                          const char *suffix) {
    char name[CIRCUIT_NAME_BYTES];
    circuit_network_name(name, shape);
    snprintf(out, CIRCUIT_NAME_BYTES, "v28-%.*s.%s", (int)sizeof name - 16, name, suffix);
}
