#include <stdio.h>
#include <stdlib.h>

#include "circuit_files.h"
#include "command.h"
#include "proof_file.h"
#include "snarkjs_export.h"
#include "verifier.h"

struct export_request {
    const char *dir, *c1, *proof, *vk, *params_dir;
    struct option_u64 partition;
};

static cuzk_status export_one(const char *dir, const struct proof_file *f, const struct vkey *vk,
                              struct cuzk_error *err) {
    const size_t n = c1_public_inputs_count(f->c1);
    if (n + 1 != vk->n_ic)
        return error_set(err, CUZK_PARAM_CIRCUIT, NULL, "name the sector's own verifying key",
                         "the key is for %u public inputs, the sector has %zu", vk->n_ic - 1, n);
    fr *inputs = calloc(n, sizeof *inputs);
    if (inputs == NULL)
        return error_set(err, CUZK_NO_MEMORY, "public inputs", NULL, "no memory for %zu inputs", n);
    c1_public_inputs(f->c1, f->first, inputs);
    const cuzk_status s = snarkjs_export(dir, vk, f->proof, inputs, n, err);
    free(inputs);
    return s;
}

static cuzk_status run(const struct export_request *req, struct cuzk_error *err) {
    struct proof_file f;
    struct param_place place;
    struct vkey vk = {0};
    CUZK_TRY(proof_file_open(&f, req->c1, req->proof, &req->partition, err));
    const struct porep_shape *shape = registered_seal_shape(c1_registered(f.c1));
    cuzk_status s = CUZK_OK;
    if (f.n != 1)
        s = error_set(err, CUZK_USAGE, "--partition", "choose one with --partition K",
                      "the sector has %u partitions; one is exported at a time", f.n);
    if (s == CUZK_OK)
        s = circuit_file_find(&place, req->vk != NULL ? req->vk : req->params_dir, shape, "vk",
                              err);
    if (s == CUZK_OK) s = vkey_load(&vk, place.path, 0, NULL, err);
    if (s == CUZK_OK) s = export_one(req->dir, &f, &vk, err);
    vkey_destroy(&vk);
    proof_file_close(&f);
    return s;
}

cuzk_status command_export(int argc, char **argv, struct cuzk_error *err) {
    struct export_request req = {0};
    bool help = false;
    const struct option_spec options[] = {
        {"snarkjs", OPTION_STRING, &req.dir, "DIR", "write snarkjs' three JSON files there", true},
        {"c1", OPTION_STRING, &req.c1, "FILE", "the sector's C1 file", true},
        {"proof", OPTION_STRING, &req.proof, "FILE", "the proof", true},
        {"vk", OPTION_STRING, &req.vk, "FILE", "the verifying key", false},
        {"params-dir", OPTION_STRING, &req.params_dir, "DIR",
         "folder of verifying keys (FIL_PROOFS_PARAMETER_CACHE)", false},
        {"partition", OPTION_U64, &req.partition, "K", "which partition (the only one)", false},
        {.kind = OPTION_END},
    };
    const struct command_spec spec = {
        "cuzk export --snarkjs DIR --c1 FILE --proof FILE (--vk FILE | --params-dir DIR)",
        "Writes verification_key.json, public.json and proof.json for\n"
        "`snarkjs groth16 verify verification_key.json public.json proof.json`. The proof is not\n"
        "verified here. The last line is the folder.",
        options};
    CUZK_TRY(options_parse(&spec, argc, argv, &help, err));
    if (help) return CUZK_OK;
    CUZK_TRY(run(&req, err));
    printf("%s\n", req.dir);
    return CUZK_OK;
}
