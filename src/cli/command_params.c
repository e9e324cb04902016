#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "circuit_files.h"
#include "command.h"
#include "json_out.h"
#include "options.h"
#include "setup.h"
#include "srs.h"

/* ---- setup ---- */

struct setup_request {
    const char *circuit, *size, *out;
    struct option_u64 seed, threads;
    bool quiet;
};

static cuzk_status make_dir(const char *dir, struct cuzk_error *err) {
    if (mkdir(dir, 0777) == 0 || errno == EEXIST) return CUZK_OK;
    return error_set(err, CUZK_FILE_WRITE, dir, "check the path and its permissions", "%s",
                     strerror(errno));
}

static cuzk_status run_setup(const struct setup_request *req, struct cuzk_error *err) {
    const struct porep_shape *shape = NULL;
    char id[CIRCUIT_ID_BYTES], params[1024], vk[1024];
    CUZK_TRY(circuit_find(&shape, req->circuit, req->size, err));
    circuit_id(id, shape);
    CUZK_TRY(param_development_path(params, sizeof params, req->out, id, "params", err));
    CUZK_TRY(param_development_path(vk, sizeof vk, req->out, id, "vk", err));
    CUZK_TRY(make_dir(req->out, err));
    struct workers w;
    CUZK_TRY(workers_init(&w, req->threads.value, !req->quiet, err));
    struct r1cs *r = NULL;
    cuzk_status s = porep_record(shape, &r, err);
    const struct setup_options options = {.seeded = req->seed.given,
                                          .seed = req->seed.value,
                                          .pool = w.pool,
                                          .progress = &w.progress};
    if (s == CUZK_OK) s = setup_write(params, vk, r, &options, err);
    r1cs_destroy(r);
    workers_deinit(&w);
    CUZK_TRY(s);
    printf("development parameters for %s: whoever made them can forge proofs under them%s\n", id,
           req->seed.given ? ", and so can whoever knows the seed" : "");
    printf("%s\n%s\n", vk, params);
    return CUZK_OK;
}

static cuzk_status params_setup(int argc, char **argv, struct cuzk_error *err) {
    struct setup_request req = {.out = "."};
    bool help = false;
    const struct option_spec options[] = {
        {"circuit", OPTION_STRING, &req.circuit, "NAME", "porep-2k, or porep with --size", true},
        {"size", OPTION_STRING, &req.size, "SIZE", "2KiB, 4KiB, …", false},
        {"seed", OPTION_U64, &req.seed, "N", "reproducible secrets (random ones)", false},
        {"out", OPTION_STRING, &req.out, "DIR", "folder for the files (.)", false},
        {"threads", OPTION_U64, &req.threads, "N", "threads (all processors)", false},
        {"quiet", OPTION_FLAG, &req.quiet, NULL, "no progress on stderr", false},
        {.kind = OPTION_END},
    };
    const struct command_spec spec = {
        "cuzk params setup --circuit NAME [--size SIZE] [--seed N] [--out DIR]",
        "Makes development parameters: DIR/CIRCUIT.dev.params and .dev.vk. They are for tests and\n"
        "test networks; the chain accepts none but its own. The last line is the file's path.",
        options};
    CUZK_TRY(options_parse(&spec, argc, argv, &help, err));
    return help ? CUZK_OK : run_setup(&req, err);
}

/* ---- list ---- */

static void list_one(struct json_out *j, const char *dir, const struct porep_shape *shape,
                     const char *suffix) {
    char id[CIRCUIT_ID_BYTES], name[CIRCUIT_NAME_BYTES], bytes[32];
    circuit_id(id, shape);
    circuit_network_file(name, shape, suffix);
    struct param_place place;
    struct cuzk_error ignored;
    const bool found = circuit_file_find(&place, dir, shape, suffix, &ignored) == CUZK_OK;
    struct stat st = {0};
    if (found && stat(place.path, &st) != 0) st.st_size = 0;
    const char *state = !found ? "missing" : place.development ? "development" : "network";
    if (j == NULL) {
        printf("%-11s %-6s  %-11s %10s  %s\n", id, suffix, state,
               found ? format_bytes(bytes, (uint64_t)st.st_size) : "-", found ? place.path : name);
        return;
    }
    json_object_begin(j, NULL);
    json_string(j, "circuit_id", id);
    json_string(j, "kind", suffix);
    json_string(j, "state", state);
    json_string(j, "network_file", name);
    if (found) {
        json_string(j, "path", place.path);
        json_u64(j, "bytes", (uint64_t)st.st_size);
    }
    json_object_end(j);
}

static cuzk_status params_list(int argc, char **argv, struct cuzk_error *err) {
    const char *dir = NULL;
    bool json = false, help = false;
    const struct option_spec options[] = {
        {"params-dir", OPTION_STRING, &dir, "DIR", "the folder (FIL_PROOFS_PARAMETER_CACHE)",
         false},
        {"json", OPTION_FLAG, &json, NULL, "print JSON", false},
        {.kind = OPTION_END},
    };
    const struct command_spec spec = {
        "cuzk params list [--params-dir DIR] [--json]",
        "Lists, for each circuit, the parameter files that there are.", options};
    CUZK_TRY(options_parse(&spec, argc, argv, &help, err));
    if (help) return CUZK_OK;
    if (dir == NULL) dir = default_params_dir();
    struct json_out j;
    if (json) {
        json_begin(&j, stdout);
        json_array_begin(&j, NULL);
    } else {
        printf("folder %s\n", dir);
    }
    for (size_t i = 0; porep_shape_at(i) != NULL; i++) {
        list_one(json ? &j : NULL, dir, porep_shape_at(i), "params");
        list_one(json ? &j : NULL, dir, porep_shape_at(i), "vk");
    }
    if (json) {
        json_array_end(&j);
        json_end(&j);
    }
    return CUZK_OK;
}

/* ---- check ---- */

struct check_request {
    const char *dir, *circuit, *size;
    struct option_u64 threads;
    bool quiet;
};

static bool vkey_equal(const struct vkey *a, const struct vkey *b) {
    uint8_t head_a[VKEY_FIXED_BYTES + 4], head_b[VKEY_FIXED_BYTES + 4];
    vkey_encode_head(head_a, a);
    vkey_encode_head(head_b, b);
    return memcmp(head_a, head_b, sizeof head_a) == 0 &&
           memcmp(a->ic, b->ic, a->n_ic * sizeof a->ic[0]) == 0;
}

static cuzk_status check_files(const struct porep_shape *shape, const char *dir, struct workers *w,
                               struct cuzk_error *err) {
    struct param_place params, vk_place;
    CUZK_TRY(circuit_file_find(&params, dir, shape, "params", err));
    struct r1cs *r = NULL;
    struct r1cs_stats stats;
    struct srs *srs = NULL;
    struct vkey vk = {0};
    cuzk_status s = porep_record(shape, &r, err);
    if (s == CUZK_OK) s = r1cs_get_stats(r, &stats, w->pool, err);
    const struct srs_options options = {
        .circuit = &stats, .pool = w->pool, .progress = &w->progress, .ignore_stamp = true};
    if (s == CUZK_OK) s = srs_load(&srs, params.path, &options, err);
    if (s == CUZK_OK) s = circuit_file_find(&vk_place, dir, shape, "vk", err);
    if (s == CUZK_OK) s = vkey_load(&vk, vk_place.path, stats.n_inputs, w->pool, err);
    if (s == CUZK_OK && !vkey_equal(&vk, &srs->vk))
        s = error_set(err, CUZK_PARAM_CIRCUIT, vk_place.path, "fetch or make both files again",
                      "it is not the verifying key of %s", params.path);
    progress_bar_end(&w->bar);
    if (s == CUZK_OK)
        printf("%s: good (%s)\n", params.path,
               srs->network ? "the network's" : "development parameters");
    vkey_destroy(&vk);
    srs_destroy(srs);
    r1cs_destroy(r);
    return s;
}

static cuzk_status run_check(const struct check_request *req, struct cuzk_error *err) {
    struct workers w;
    const struct porep_shape *only = NULL;
    if (req->circuit != NULL) CUZK_TRY(circuit_find(&only, req->circuit, req->size, err));
    CUZK_TRY(workers_init(&w, req->threads.value, !req->quiet, err));
    cuzk_status s = CUZK_OK;
    unsigned n = 0;
    for (size_t i = 0; porep_shape_at(i) != NULL && s == CUZK_OK; i++) {
        const struct porep_shape *shape = porep_shape_at(i);
        struct param_place place;
        if (only != NULL ? shape != only
                         : circuit_file_find(&place, req->dir, shape, "params", NULL) != CUZK_OK)
            continue;
        s = check_files(shape, req->dir, &w, err);
        n++;
    }
    workers_deinit(&w);
    if (s == CUZK_OK && n == 0)
        return error_set(err, CUZK_PARAM_MISSING,
                         req->dir != NULL ? req->dir : default_params_dir(),
                         "fetch the network's files, or make some with `cuzk params setup`",
                         "the folder holds no parameters of any circuit");
    if (s == CUZK_OK) printf("VALID\n");
    return s;
}

static cuzk_status params_check(int argc, char **argv, struct cuzk_error *err) {
    struct check_request req = {0};
    bool help = false;
    const struct option_spec options[] = {
        {"params-dir", OPTION_STRING, &req.dir, "DIR", "the folder (FIL_PROOFS_PARAMETER_CACHE)",
         false},
        {"circuit", OPTION_STRING, &req.circuit, "NAME", "one circuit (all that are there)", false},
        {"size", OPTION_STRING, &req.size, "SIZE", "with --circuit porep", false},
        {"threads", OPTION_U64, &req.threads, "N", "threads (all processors)", false},
        {"quiet", OPTION_FLAG, &req.quiet, NULL, "no progress on stderr", false},
        {.kind = OPTION_END},
    };
    const struct command_spec spec = {
        "cuzk params check [--params-dir DIR] [--circuit NAME]",
        "Checks parameter files completely, stamps or not: lengths, counts, digests, every point,\n"
        "and that the verifying key belongs to the parameters. The last line says VALID.",
        options};
    CUZK_TRY(options_parse(&spec, argc, argv, &help, err));
    return help ? CUZK_OK : run_check(&req, err);
}

cuzk_status command_params(int argc, char **argv, struct cuzk_error *err) {
    const char *what = argc >= 2 ? argv[1] : "";
    if (strcmp(what, "setup") == 0) return params_setup(argc - 1, argv + 1, err);
    if (strcmp(what, "list") == 0) return params_list(argc - 1, argv + 1, err);
    if (strcmp(what, "check") == 0) return params_check(argc - 1, argv + 1, err);
    if (strcmp(what, "--help") == 0 || strcmp(what, "-h") == 0) {
        printf(
            "usage: cuzk params setup|list|check [options]\n\n"
            "`cuzk params setup --help` and so on explain each.\n");
        return CUZK_OK;
    }
    return error_set(err, CUZK_USAGE, "params", "one of setup, list, check", "there is no '%s'",
                     what);
}
