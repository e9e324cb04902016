/*
 * The names of a circuit: its id ("porep-2k"), which is its one name in commands, configuration and
 * metrics, and the network's name, from which parameter files take theirs.
 */
#ifndef CIRCUIT_CIRCUIT_NAME_H
#define CIRCUIT_CIRCUIT_NAME_H

#include "porep.h"

enum { CIRCUIT_ID_BYTES = 16, CIRCUIT_NAME_BYTES = 200 };

/*
 * Finds a circuit by its id, or by a kind and a size ("porep", "2KiB" or "2k"; size NULL: `circuit`
 * is an id). Errors: USAGE, naming the ids that there are; UNSUPPORTED for kinds without a circuit.
 */
CUZK_NODISCARD cuzk_status circuit_find(const struct porep_shape **out, const char *circuit,
                                        const char *size, struct cuzk_error *err);

void circuit_id(char out[CIRCUIT_ID_BYTES], const struct porep_shape *shape);

/* "stacked-proof-of-replication-merkletree-…", and with "v28-" and the suffix ("params", "vk") the
 * name of the network's file. */
void circuit_network_name(char out[CIRCUIT_NAME_BYTES], const struct porep_shape *shape);
void circuit_network_file(char out[CIRCUIT_NAME_BYTES], const struct porep_shape *shape,
                          const char *suffix);

#endif
