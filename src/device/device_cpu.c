/* The backend "cpu": this processor, through src/groth16. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "circuit_files.h"
#include "device_runner.h"
#include "device_self_test.h"
#include "error.h"
#include "hash.h"

struct cpu {
    const struct backend *backend;
    unsigned threads;
    struct pool *workers[DEVICE_MAX_TASKS]; /* of each worker */
    struct pool *finisher;
};

struct cpu_circuit {
    const struct porep_shape *shape;
    struct r1cs *r1cs;
    struct r1cs_stats stats;
    struct srs *srs;
    struct prover_key *key;
};

/* ---- life ---- */

/* A finish is a sum in G2 over a part of the witness: a quarter of the threads keeps up with starts
 * that have all of them. */
static cuzk_status make_pools(struct cpu *c, const struct runner_config *config,
                              struct cuzk_error *err) {
    const unsigned each = config->threads / config->workers;
    const unsigned quarter = config->threads / 4;
    for (unsigned i = 0; i < config->workers; i++)
        CUZK_TRY(pool_create(&c->workers[i], each > 0 ? each : 1, err));
    return pool_create(&c->finisher, quarter > 0 ? quarter : 1, err);
}

static cuzk_status cpu_create(void **self, const struct runner_config *config,
                              char name[DEVICE_NAME_BYTES], struct cuzk_error *err) {
    struct cpu *c = calloc(1, sizeof *c);
    *self = c;
    if (c == NULL) return error_set(err, CUZK_NO_MEMORY, "cpu", NULL, "no memory for it");
    if (config->options[0] != '\0')
        return error_set(err, CUZK_CONFIG, "options of the device", "leave them out",
                         "the backend cpu has none, not \"%s\"", config->options);
    c->backend = &backend_cpu;
    c->threads = config->threads;
    snprintf(name, DEVICE_NAME_BYTES, "cpu (%s, %u threads)", msm_kernel_name(), c->threads);
    CUZK_TRY(make_pools(c, config, err));
    return device_self_test(c->backend, c->workers[0], err);
}

/* ---- circuits ---- */

static void destroy_circuit(struct cpu_circuit *c) {
    prover_key_destroy(c->key);
    srs_destroy(c->srs);
    r1cs_destroy(c->r1cs);
    free(c);
}

/* Of the verifying key's bytes, as the parameter file begins with and the .vk file consists of. */
static void digest_vkey(uint8_t out[SHA256_BYTES], const struct vkey *vk) {
    uint8_t head[VKEY_FIXED_BYTES + 4], point[G1_BYTES];
    struct sha256_ctx h = {0};
    sha256_init(&h);
    vkey_encode_head(head, vk);
    sha256_update(&h, head, sizeof head);
    for (uint32_t i = 0; i < vk->n_ic; i++) {
        g1_encode(point, &vk->ic[i]);
        sha256_update(&h, point, sizeof point);
    }
    sha256_final(&h, out);
    sha256_deinit(&h);
}

static cuzk_status load_all(struct cpu_circuit *c, const struct cpu *cpu, const char *circuit,
                            const char *path, struct pool *pool, const struct progress *progress,
                            struct cuzk_error *err) {
    struct param_place place;
    CUZK_TRY(circuit_find(&c->shape, circuit, NULL, err));
    CUZK_TRY(circuit_file_find(&place, path, c->shape, "params", err));
    progress_report(progress, "circuit", 0, 0);
    CUZK_TRY(porep_record(c->shape, &c->r1cs, err));
    CUZK_TRY(r1cs_get_stats(c->r1cs, &c->stats, pool, err));
    const struct srs_options options = {.circuit = &c->stats, .pool = pool, .progress = progress};
    CUZK_TRY(srs_load(&c->srs, place.path, &options, err));
    progress_report(progress, "key", 0, 0);
    return prover_key_create(&c->key, c->srs, c->r1cs, cpu->backend, pool, err);
}

static cuzk_status cpu_load(void *self, struct runner_circuit *out, const char *circuit_id,
                            const char *path, const struct progress *progress,
                            struct cuzk_error *err) {
    const struct cpu *cpu = self;
    struct pool *pool;
    struct cpu_circuit *c = calloc(1, sizeof *c);
    if (c == NULL) return error_set(err, CUZK_NO_MEMORY, circuit_id, NULL, "no memory for it");
    cuzk_status s = pool_create(&pool, cpu->threads, err);
    if (s == CUZK_OK) {
        s = load_all(c, cpu, circuit_id, path, pool, progress, err);
        pool_destroy(pool);
    }
    if (s != CUZK_OK) {
        destroy_circuit(c);
        return s;
    }
    *out = (struct runner_circuit){
        .state = c,
        .srs_bytes = srs_bytes(&c->srs->layout) + c->key->points_block.bytes,
        .matrices_bytes = c->stats.bytes + c->key->planes_block.bytes,
        .development = !c->srs->network,
    };
    digest_vkey(out->vkey_digest, &c->srs->vk);
    return CUZK_OK;
}

static void cpu_evict(void *self, void *circuit) {
    (void)self;
    destroy_circuit(circuit);
}

/* ---- proofs ---- */

/* The slab as a witness. That it holds one of this circuit cannot be seen; that it is large enough,
 * and that ONE stands where it should, can. */
static cuzk_status view_witness(struct witness *out, const struct cpu_circuit *c,
                                const struct runner_task *task, struct cuzk_error *err) {
    const struct r1cs_stats *n = &c->stats;
    const size_t need = witness_bytes(n->n_inputs, n->n_aux, n->n_elements);
    if (task->witness_bytes < need)
        return error_set(err, CUZK_INTERNAL, "witness", "report this",
                         "the slab has %zu bytes, the circuit's witness %zu", task->witness_bytes,
                         need);
    witness_view(out, (void *)(uintptr_t)task->witness, n->n_inputs, n->n_aux, n->n_elements);
    if (!fr_equal(&out->inputs[0], &fr_one))
        return error_set(err, CUZK_INTERNAL, "witness", "report this",
                         "its first input is not one: it is no witness of this circuit");
    return CUZK_OK;
}

static cuzk_status cpu_start(void *self, struct runner_task *task, struct cuzk_error *err) {
    const struct cpu *cpu = self;
    const struct cpu_circuit *c = task->circuit;
    struct witness w;
    struct pending_proof *pending;
    fr r, s;
    CUZK_TRY(view_witness(&w, c, task, err));
    struct prover_options options = {.pool = cpu->workers[task->worker],
                                     .progress = task->progress};
    if (task->fixed_r != NULL) {
        fr_from_u64(&r, *task->fixed_r);
        fr_from_u64(&s, *task->fixed_s);
        options.fixed_r = &r;
        options.fixed_s = &s;
    }
    CUZK_TRY(prover_start(&pending, c->key, &w, &options, &task->timings, err));
    task->pending = pending;
    return CUZK_OK;
}

static cuzk_status cpu_finish(void *self, struct runner_task *task, uint8_t proof[PROOF_BYTES],
                              struct cuzk_error *err) {
    const struct cpu *cpu = self;
    const struct prover_options options = {.pool = cpu->finisher, .progress = task->progress};
    return prover_finish(proof, task->pending, &options, &task->timings, err);
}

static void cpu_drop(void *self, struct runner_task *task) {
    (void)self;
    pending_proof_destroy(task->pending);
    task->pending = NULL;
}

const struct runner runner_cpu = {
    .name = "cpu",
    .create = cpu_create,
    .load = cpu_load,
    .evict = cpu_evict,
    .start = cpu_start,
    .finish = cpu_finish,
    .drop = cpu_drop,
};
