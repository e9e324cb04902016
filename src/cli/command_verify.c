#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "circuit_files.h"
#include "command.h"
#include "proof_file.h"
#include "verifier.h"

struct verify_request {
    const char *c1, *proof, *vk, *params_dir;
    struct option_u64 miner, partition;
};

/* Puts the partition before the place in its proof: `partition 3, A`. */
static void name_partition(struct cuzk_error *err, unsigned partition) {
    char place[64];
    snprintf(place, sizeof place, "%.63s", err->where);
    snprintf(err->where, sizeof err->where, "partition %u%s%s", partition,
             place[0] != '\0' ? ", " : "", place);
}

static cuzk_status verify_partitions(const struct proof_file *f, const struct vkey *vk,
                                     struct cuzk_error *err) {
    const size_t n_inputs = c1_public_inputs_count(f->c1);
    fr *inputs = calloc(n_inputs, sizeof *inputs);
    if (inputs == NULL)
        return error_set(err, CUZK_NO_MEMORY, "public inputs", NULL, "no memory for %zu inputs",
                         n_inputs);
    cuzk_status s = CUZK_OK;
    for (unsigned i = 0; i < f->n && s == CUZK_OK; i++) {
        c1_public_inputs(f->c1, f->first + i, inputs);
        s = groth16_verify(vk, inputs, n_inputs, f->proof + (size_t)i * PROOF_BYTES, NULL, err);
        if (s != CUZK_OK) name_partition(err, f->first + i);
    }
    free(inputs);
    return s;
}

static cuzk_status run(const struct verify_request *req, struct cuzk_error *err) {
    struct proof_file f;
    struct param_place place;
    struct vkey vk = {0};
    CUZK_TRY(proof_file_open(&f, req->c1, req->proof, &req->partition, err));
    const struct porep_shape *shape = registered_seal_shape(c1_registered(f.c1));
    const struct c1_claims claims = {.has_miner = req->miner.given, .miner = req->miner.value};
    cuzk_status s = c1_check_replica_id(f.c1, &claims, err);
    note_replica_id(req->miner.given, s != CUZK_OK || c1_replica_id_checkable(f.c1, &claims));
    if (s == CUZK_OK)
        s = circuit_file_find(&place, req->vk != NULL ? req->vk : req->params_dir, shape, "vk",
                              err);
    if (s == CUZK_OK) s = vkey_load(&vk, place.path, 0, NULL, err);
    if (s == CUZK_OK) s = verify_partitions(&f, &vk, err);
    vkey_destroy(&vk);
    proof_file_close(&f);
    return s;
}

cuzk_status command_verify(int argc, char **argv, struct cuzk_error *err) {
    struct verify_request req = {0};
    bool help = false;
    const struct option_spec options[] = {
        {"c1", OPTION_STRING, &req.c1, "FILE", "the sector's C1 file", true},
        {"proof", OPTION_STRING, &req.proof, "FILE", "the proof", true},
        {"vk", OPTION_STRING, &req.vk, "FILE", "the verifying key", false},
        {"params-dir", OPTION_STRING, &req.params_dir, "DIR",
         "folder of verifying keys (FIL_PROOFS_PARAMETER_CACHE)", false},
        {"miner", OPTION_U64, &req.miner, "N", "the miner's actor id; checks the replica id",
         false},
        {"partition", OPTION_U64, &req.partition, "K", "verify one partition's proof (all)", false},
        {.kind = OPTION_END},
    };
    const struct command_spec spec = {
        "cuzk verify --c1 FILE --proof FILE (--vk FILE | --params-dir DIR) [--miner N]",
        "Verifies a proof. The public inputs are computed from the sector's registered proof, "
        "replica\n"
        "id, commitments and seed, never from its vanilla proofs. The last line says VALID.",
        options};
    CUZK_TRY(options_parse(&spec, argc, argv, &help, err));
    if (help) return CUZK_OK;
    CUZK_TRY(run(&req, err));
    printf("VALID\n");
    return CUZK_OK;
}
