/* Where the parameter files of a circuit are. */
#ifndef GROTH16_CIRCUIT_FILES_H
#define GROTH16_CIRCUIT_FILES_H

#include "circuit_name.h"
#include "param_names.h"

/* FIL_PROOFS_PARAMETER_CACHE, else /var/tmp/filecoin-proof-parameters. */
const char *default_params_dir(void);

/*
 * The file that `path` means: itself, or, for a folder, the circuit's file in it, the network's
 * before a development one. NULL: the default folder. suffix: "params" or "vk".
 * Errors: PARAM_MISSING, USAGE (the path is too long).
 */
CUZK_NODISCARD cuzk_status circuit_file_find(struct param_place *out, const char *path,
                                             const struct porep_shape *shape, const char *suffix,
                                             struct cuzk_error *err);

#endif
