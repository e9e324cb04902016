#include "circuit_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

const char *default_params_dir(void) {
    const char *dir = getenv("FIL_PROOFS_PARAMETER_CACHE");
    return dir != NULL && dir[0] != '\0' ? dir : "/var/tmp/filecoin-proof-parameters";
}

cuzk_status circuit_file_find(struct param_place *out, const char *path,
                              const struct porep_shape *shape, const char *suffix,
                              struct cuzk_error *err) {
    if (path == NULL) path = default_params_dir();
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode)) {
        out->development = network_file_by_path(path) == NULL;
        const int n = snprintf(out->path, sizeof out->path, "%s", path);
        if (n < 0 || (size_t)n >= sizeof out->path)
            return error_set(err, CUZK_USAGE, path, "give a shorter path", "the path is too long");
        return CUZK_OK;
    }
    char id[CIRCUIT_ID_BYTES], name[CIRCUIT_NAME_BYTES];
    circuit_id(id, shape);
    circuit_network_file(name, shape, suffix);
    return param_find(out, path, name, id, suffix, err);
}
