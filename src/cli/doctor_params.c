/* `cuzk doctor`: the parameter files of every circuit. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "circuit_files.h"
#include "command.h"
#include "doctor_checks.h"
#include "param_layout.h"
#include "param_stamp.h"

static bool is_preloaded(const struct config *c, const char *id) {
    for (unsigned i = 0; i < c->engine.n_preload; i++) {
        if (strcmp(c->engine.preload[i], id) == 0) return true;
    }
    return false;
}

/* How its files are had. */
static void print_remedy(char *out, size_t n, const struct porep_shape *shape, const char *id,
                         const char *folder) {
    char name[CIRCUIT_NAME_BYTES];
    circuit_network_file(name, shape, "params");
    const struct network_file *file = network_file_by_path(name);
    const int used = file == NULL ? 0
                                  : snprintf(out, n,
                                             "fetch the network's with `curio fetch-params %llu` "
                                             "or `lotus fetch-params %llu`; ",
                                             (unsigned long long)file->sector_bytes,
                                             (unsigned long long)file->sector_bytes);
    snprintf(out + used, n - (size_t)used,
             "for tests: `cuzk params setup --circuit %s --out %.200s`", id, folder);
}

/*
 * Lengths and counts of both files; `stats` NULL: of any circuit. Whether the digest was checked
 * before is in *stamped.
 */
static cuzk_status check_files(const struct param_place *params, const char *folder,
                               const struct porep_shape *shape, const struct r1cs_stats *stats,
                               bool *stamped, struct cuzk_error *err) {
    struct param_source src;
    struct param_layout layout;
    struct param_place vk;
    CUZK_TRY(circuit_file_find(&vk, folder, shape, "vk", err));
    CUZK_TRY(param_source_open(&src, params->path, err));
    struct param_stamp stamp;
    *stamped = param_stamp_read(&stamp, params->path, &src.identity);
    cuzk_status s = param_layout_read(&layout, &src, stats, err);
    param_source_close(&src);
    if (s != CUZK_OK) return s;
    CUZK_TRY(param_source_open(&src, vk.path, err));
    s = vkey_layout_read(&layout, &src, layout.count[SECTION_IC], err);
    param_source_close(&src);
    return s;
}

static void check_circuit(struct doctor *d, const struct porep_shape *shape, const char *folder) {
    char id[CIRCUIT_ID_BYTES], check[64], remedy[400];
    circuit_id(id, shape);
    snprintf(check, sizeof check, "parameters %s", id);
    print_remedy(remedy, sizeof remedy, shape, id, folder);
    const bool needed = is_preloaded(d->config, id);
    struct param_place place;
    struct cuzk_error err = {0};
    if (circuit_file_find(&place, folder, shape, "params", &err) != CUZK_OK) {
        if (needed)
            doctor_say(d, d->config->require_params ? DOCTOR_FAIL : DOCTOR_WARN, check, remedy,
                       "missing in %s", folder);
        else
            doctor_say(d, DOCTOR_OK, check, NULL, "not needed, and not there");
        return;
    }
    const struct plan_circuit *counts = NULL;
    bool stamped = false;
    cuzk_status s = CUZK_OK;
    if (needed) s = plan_circuit_find(&counts, id, d->config->engine.device_threads, &err);
    if (s == CUZK_OK)
        s = check_files(&place, folder, shape, counts != NULL ? &counts->stats : NULL, &stamped,
                        &err);
    if (s != CUZK_OK) {
        doctor_say_error(d, needed ? DOCTOR_FAIL : DOCTOR_WARN, check, &err);
        return;
    }
    doctor_say(d, DOCTOR_OK, check, NULL, "%s, %s%s%s", place.path,
               place.development ? "development ones" : "the network's",
               stamped ? ", checked before" : ", to be checked at the first load",
               needed ? "" : "; not preloaded");
}

void doctor_check_parameters(struct doctor *d) {
    const char *folder = d->config->engine.param_dir;
    if (folder == NULL) folder = default_params_dir();
    struct stat st;
    if (stat(folder, &st) != 0 || !S_ISDIR(st.st_mode))
        doctor_say(d, d->config->require_params ? DOCTOR_FAIL : DOCTOR_WARN, "parameter folder",
                   "make it, or set srs.param_cache", "%s: %s", folder,
                   strerror(errno == 0 ? ENOTDIR : errno));
    else
        doctor_check_folder(d, "parameter folder", folder, false);
    for (size_t i = 0; porep_shape_at(i) != NULL; i++)
        check_circuit(d, porep_shape_at(i), folder);
}
