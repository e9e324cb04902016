#include "test_main.h"

#include "engine_fixture.h"

#include <ftw.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "c1_text.h"
#include "clock.h"
#include "device_fake.h"

/* ---- the folder ---- */

static void write_text(const char *dir, const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

void engine_folder_make(struct engine_folder *f) {
    snprintf(f->dir, sizeof f->dir, "/tmp/cuzk-engine-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->params, sizeof f->params, "%s/params", f->dir);
    snprintf(f->state, sizeof f->state, "%s/state", f->dir);
    snprintf(f->proc, sizeof f->proc, "%s/proc", f->dir);
    assert_int_equal(mkdir(f->params, 0700), 0);
    assert_int_equal(mkdir(f->proc, 0700), 0);
    write_text(f->proc, "meminfo", "MemTotal: 67108864 kB\nMemAvailable: 62914560 kB\n");
    write_text(f->params, "porep-2k.dev.params", "");
    write_text(f->params, "porep-4k.dev.params", "");
    write_text(f->params, "porep-16k.dev.params", "");
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw) {
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

void engine_folder_remove(struct engine_folder *f) {
    assert_int_equal(nftw(f->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

struct engine_config engine_test_config(const struct engine_folder *f, const char *options) {
    struct engine_config c = {
        .memory_total = (uint64_t)16 << 30,
        .memory_margin = 1 << 20,
        .budget_roots = {.proc = f->proc, .cgroup = f->dir},
        .param_dir = f->params,
        .n_devices = 1,
        .partition_workers = 3,
        .synthesis_threads = 1,
        .device_threads = 1,
        .max_message_bytes = 8 << 20,
        .no_input_check = true,
        .accept_fake_proofs = true,
    };
    c.devices[0] = (struct engine_device_config){
        .program = CUZK_DEVICE, .backend = "fake", .options = options, .workers = 1};
    return c;
}

/* ---- different C1 files, and what is to come of them ---- */

struct engine_text engine_text_make(unsigned k) {
    char id[256];
    snprintf(id, sizeof id, "[%u,%u,%u,%u,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]",
             k & 255, k >> 8 & 255, k >> 16 & 255, k >> 24);
    struct c1_text inner = c1_text_load_inner(CUZK_FIXTURES "/porep/2KiB/c1.json");
    struct c1_text edited = c1_text_edit(
        &inner, &(struct c1_edit){.action = EDIT_REPLACE, .key = "replica_id", .with = id});
    struct c1_text wrapped = c1_text_wrap(&edited, 101, 2048);
    c1_text_free(&inner);
    c1_text_free(&edited);
    return (struct engine_text){.bytes = wrapped.bytes, .n = wrapped.n};
}

/* The circuit is recorded once for all tests of a program. */
static struct r1cs *recorded(struct r1cs_stats *stats) {
    static struct r1cs *r1cs;
    struct cuzk_error err;
    if (r1cs == NULL)
        assert_int_equal(porep_record(porep_shape_by_name("2KiB"), &r1cs, &err), CUZK_OK);
    assert_int_equal(r1cs_get_stats(r1cs, stats, NULL, &err), CUZK_OK);
    return r1cs;
}

static void witness_digest(uint8_t digest[SHA256_BYTES], unsigned k) {
    struct r1cs_stats st;
    struct r1cs *r1cs = recorded(&st);
    struct engine_text text = engine_text_make(k);
    struct c1 *c1 = NULL;
    struct cuzk_error err;
    struct slab_pool *pool = NULL;
    struct slab slab;
    struct witness w;
    const struct slab_options options = {0};
    assert_int_equal(c1_decode_memory(&c1, text.bytes, text.n, NULL, &err), CUZK_OK);
    assert_int_equal(slab_pool_create(&pool, &options, &err), CUZK_OK);
    const size_t bytes = witness_bytes(st.n_inputs, st.n_aux, st.n_elements);
    assert_int_equal(slab_take(pool, &slab, bytes, MEM_WITNESS, &err), CUZK_OK);
    witness_place(&w, slab.ptr, st.n_inputs, st.n_aux, st.n_elements);
    assert_int_equal(
        porep_witness_into(porep_shape_by_name("2KiB"), r1cs, c1_partition(c1, 0), &w, NULL, &err),
        CUZK_OK);
    fake_witness_digest(digest, slab.ptr, slab.bytes);
    slab_give(pool, &slab);
    slab_pool_destroy(pool);
    c1_destroy(c1);
    free(text.bytes);
}

bool engine_proof_is_of(const uint8_t *proof, size_t n_bytes, unsigned k, uint64_t tasks) {
    uint8_t digest[SHA256_BYTES], expected[PROOF_BYTES];
    if (n_bytes != PROOF_BYTES) return false;
    witness_digest(digest, k);
    for (uint64_t t = 1; t <= tasks; t++) {
        fake_proof(expected, t, digest);
        if (memcmp(expected, proof, sizeof expected) == 0) return true;
    }
    return false;
}

/* ---- waiting ---- */

struct wait {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool over;
    struct engine_end end;
};

static void is_over(void *ctx, const struct engine_result *r) {
    struct wait *w = ctx;
    pthread_mutex_lock(&w->lock);
    w->end.outcome = r->outcome;
    w->end.code = r->error.code;
    memcpy(w->end.what, r->error.what, sizeof w->end.what);
    memcpy(w->end.hint, r->error.hint, sizeof w->end.hint);
    w->end.proof_bytes = r->proof_bytes;
    w->end.total_ms = r->total_ms;
    if (r->proof_bytes >= PROOF_BYTES) memcpy(w->end.proof, r->proof, PROOF_BYTES);
    w->over = true;
    pthread_cond_signal(&w->cond);
    pthread_mutex_unlock(&w->lock);
}

struct engine_end engine_await(struct engine *e, const char *job_id, uint64_t timeout_ns) {
    struct wait w = {.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
    struct cuzk_error err;
    uint64_t watch;
    const cuzk_status s =
        engine_watch(e, job_id, clock_ns() + timeout_ns, is_over, &w, &watch, &err);
    if (s != CUZK_OK) return (struct engine_end){.code = s};
    pthread_mutex_lock(&w.lock);
    while (!w.over)
        pthread_cond_wait(&w.cond, &w.lock);
    pthread_mutex_unlock(&w.lock);
    engine_unwatch(e, watch);
    return w.end;
}
