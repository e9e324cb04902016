#include "memlab.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "flow.h"
#include "lock.h"
#include "plan.h"
#include "slab.h"

enum { PAGE = 4096 };

/* One vector of a partition: a slab, or heap memory. */
struct buffer {
    struct slab slab;
    unsigned char *heap;
    size_t bytes;
};

/* What a partition holds between its stages. */
struct partition_data {
    struct buffer aux[MEMLAB_CHUNKS], abc[MEMLAB_CHUNKS], pending;
};

struct lab {
    const struct memlab_setup *setup;
    struct memlab_result *result;
    struct flow *flow;
    struct slab_pool *slabs;
    struct lock lock;
    struct lock_cond changed;
    struct partition_data *data; /* [proofs * partitions] */
    struct flow_task *finish;    /* started, waiting for a finisher; a ring of that size */
    size_t finish_first, finish_n, finish_max;
    unsigned added, over;
    bool failed;
    atomic_bool done;
    _Atomic uint64_t live;
    uint64_t start_ns;
};

static struct partition_data *data_of(struct lab *lab, const struct flow_task *t) {
    return &lab->data[(t->job - 1) * lab->setup->partitions + t->partition];
}

static void touch(unsigned char *bytes, size_t from, size_t to) {
    for (size_t i = from; i < to; i += PAGE)
        bytes[i] = 1;
}

/* As a vector that is pushed to: twice as large each time. */
static bool grow_heap(struct buffer *b, size_t bytes) {
    for (size_t have = 0; have < bytes;) {
        size_t want = have == 0 ? 64 << 10 : 2 * have;
        if (want > bytes) want = bytes;
        unsigned char *larger = realloc(b->heap, want);
        if (larger == NULL) return false;
        b->heap = larger;
        touch(larger, have, want);
        have = want;
    }
    return true;
}

static bool buffer_take(struct lab *lab, struct buffer *b, size_t bytes, enum mem_class kind) {
    if (lab->setup->use_malloc) {
        if (!grow_heap(b, bytes)) return false;
    } else {
        if (slab_take(lab->slabs, &b->slab, bytes, kind, NULL) != CUZK_OK) return false;
        touch(b->slab.ptr, 0, bytes);
    }
    b->bytes = bytes;
    atomic_fetch_add(&lab->live, bytes);
    return true;
}

static void buffer_give(struct lab *lab, struct buffer *b) {
    if (b->bytes == 0) return;
    atomic_fetch_sub(&lab->live, b->bytes);
    if (lab->setup->use_malloc)
        free(b->heap);
    else
        slab_give(lab->slabs, &b->slab);
    *b = (struct buffer){0};
}

static bool take_chunks(struct lab *lab, struct buffer b[MEMLAB_CHUNKS], uint64_t bytes,
                        enum mem_class kind) {
    for (int i = 0; i < MEMLAB_CHUNKS; i++)
        if (!buffer_take(lab, &b[i], bytes / MEMLAB_CHUNKS, kind)) return false;
    return true;
}

static void give_chunks(struct lab *lab, struct buffer b[MEMLAB_CHUNKS]) {
    for (int i = 0; i < MEMLAB_CHUNKS; i++)
        buffer_give(lab, &b[i]);
}

static void sleep_seconds(double seconds) {
    if (seconds <= 0) return;
    const struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
}

/* ---- jobs: always `jobs` of them in the pipeline ---- */

static void add_jobs(struct lab *lab) {
    while (lab->added < lab->setup->proofs && lab->added - lab->over < lab->setup->jobs) {
        lab->added++;
        if (flow_job_add(lab->flow, lab->added, FLOW_NORMAL, lab->setup->partitions, 0, NULL,
                         NULL) != CUZK_OK)
            lab->failed = true;
    }
}

static bool is_over(const struct lab *lab) {
    return lab->failed || lab->over == lab->setup->proofs;
}

static void job_ended(struct lab *lab, uint64_t job) {
    flow_job_remove(lab->flow, job);
    lab->over++;
    lab->result->n_proofs++;
    add_jobs(lab);
}

static void fail(struct lab *lab) {
    lock_take(&lab->lock);
    lab->failed = true;
    lock_cond_wake_all(&lab->changed);
    lock_give(&lab->lock);
}

/* ---- the workers ---- */

static void *synthesis_worker(void *arg) {
    struct lab *lab = arg;
    lock_take(&lab->lock);
    for (;;) {
        struct flow_task t;
        while (!is_over(lab) && !flow_next_synthesis(lab->flow, &t))
            lock_cond_wait(&lab->changed, &lab->lock);
        if (is_over(lab)) break;
        lock_give(&lab->lock);
        const uint64_t start = clock_ns();
        struct partition_data *d = data_of(lab, &t);
        if (!take_chunks(lab, d->aux, lab->setup->aux_bytes, MEM_WITNESS) ||
            !take_chunks(lab, d->abc, lab->setup->abc_bytes, MEM_ABC))
            fail(lab);
        sleep_seconds(lab->setup->synthesis_seconds - clock_seconds_since(start));
        lock_take(&lab->lock);
        flow_synthesized(lab->flow, &t, true);
        lock_cond_wake_all(&lab->changed);
    }
    lock_give(&lab->lock);
    return NULL;
}

static void *device_worker(void *arg) {
    struct lab *lab = arg;
    lock_take(&lab->lock);
    for (;;) {
        struct flow_task t;
        while (!is_over(lab) && !flow_next_start(lab->flow, 0, &t))
            lock_cond_wait(&lab->changed, &lab->lock);
        if (is_over(lab)) break;
        lock_cond_wake_all(&lab->changed); /* its permit is free */
        lock_give(&lab->lock);
        sleep_seconds(lab->setup->start_seconds);
        struct partition_data *d = data_of(lab, &t);
        if (!lab->setup->late_abc) give_chunks(lab, d->abc);
        if (!buffer_take(lab, &d->pending, lab->setup->pending_bytes, MEM_PENDING)) fail(lab);
        if (!lab->setup->late_abc) give_chunks(lab, d->aux);
        lock_take(&lab->lock);
        flow_started(lab->flow, &t);
        lab->finish[(lab->finish_first + lab->finish_n++) % lab->finish_max] = t;
        lock_cond_wake_all(&lab->changed);
    }
    lock_give(&lab->lock);
    return NULL;
}

static void *finisher(void *arg) {
    struct lab *lab = arg;
    lock_take(&lab->lock);
    for (;;) {
        while (!is_over(lab) && lab->finish_n == 0)
            lock_cond_wait(&lab->changed, &lab->lock);
        if (is_over(lab)) break;
        const struct flow_task t = lab->finish[lab->finish_first];
        lab->finish_first = (lab->finish_first + 1) % lab->finish_max;
        lab->finish_n--;
        lock_give(&lab->lock);
        sleep_seconds(lab->setup->finish_seconds);
        struct partition_data *d = data_of(lab, &t);
        give_chunks(lab, d->abc);
        give_chunks(lab, d->aux);
        buffer_give(lab, &d->pending);
        if (lab->setup->trim) malloc_trim(0);
        lock_take(&lab->lock);
        flow_finished(lab->flow, &t);
        if (flow_verified(lab->flow, &t, true) == FLOW_JOB_DONE) job_ended(lab, t.job);
        lock_cond_wake_all(&lab->changed);
    }
    lock_give(&lab->lock);
    return NULL;
}

/* ---- watching ---- */

static void sample(struct lab *lab) {
    struct memlab_result *r = lab->result;
    lock_take(&lab->lock);
    const unsigned waiting = flow_count(lab->flow).stage[FLOW_READY];
    lock_give(&lab->lock);
    const struct memlab_sample s = {.seconds = clock_seconds_since(lab->start_ns),
                                    .rss_bytes = mem_rss(),
                                    .live_bytes = atomic_load(&lab->live),
                                    .waiting = waiting};
    if (s.live_bytes > r->peak_live_bytes) r->peak_live_bytes = s.live_bytes;
    if (s.waiting > r->most_waiting) r->most_waiting = s.waiting;
    if (r->n_samples < MEMLAB_SAMPLES) r->samples[r->n_samples++] = s;
}

static void *watcher(void *arg) {
    struct lab *lab = arg;
    while (!atomic_load(&lab->done)) {
        sample(lab);
        sleep_seconds(0.02);
    }
    sample(lab);
    return NULL;
}

/* ---- a run ---- */

static struct flow_config flow_of(const struct memlab_setup *s) {
    return (struct flow_config){
        .permits = s->partition_workers,
        .n_devices = 1,
        .workers = {s->device_workers},
        .pendings = {s->finishers},
        .early_permit = s->early_permit,
    };
}

static bool prepare(struct lab *lab, const struct memlab_setup *s) {
    const struct flow_config config = flow_of(s);
    const struct slab_options slabs = {.keep_bytes = (size_t)1 << 50, .idle_ns = 1000000000};
    if (s->arenas != 0) mallopt(M_ARENA_MAX, (int)s->arenas);
    lab->finish_max = (size_t)s->proofs * s->partitions;
    lab->data = calloc(lab->finish_max, sizeof *lab->data);
    lab->finish = calloc(lab->finish_max, sizeof *lab->finish);
    if (lab->data == NULL || lab->finish == NULL) return false;
    if (flow_create(&lab->flow, &config, NULL) != CUZK_OK) return false;
    if (slab_pool_create(&lab->slabs, &slabs, NULL) != CUZK_OK) return false;
    lock_init(&lab->lock, LOCK_ENGINE);
    lock_cond_init(&lab->changed);
    flow_circuit_ready(lab->flow, 0, true);
    flow_device_up(lab->flow, 0, true);
    add_jobs(lab);
    lab->start_ns = clock_ns();
    return true;
}

static bool run_threads(struct lab *lab) {
    const struct memlab_setup *s = lab->setup;
    pthread_t threads[3 * MEMLAB_MAX_WORKERS], watch;
    size_t n = 0;
    bool ok = pthread_create(&watch, NULL, watcher, lab) == 0;
    if (!ok) return false;
    void *(*const roles[])(void *) = {synthesis_worker, device_worker, finisher};
    const unsigned counts[] = {s->partition_workers, s->device_workers, s->finishers};
    for (size_t role = 0; role < 3; role++)
        for (unsigned i = 0; ok && i < counts[role]; i++) {
            ok = pthread_create(&threads[n], NULL, roles[role], lab) == 0;
            n += ok;
        }
    if (!ok) fail(lab);
    for (size_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    lab->result->seconds = clock_seconds_since(lab->start_ns);
    atomic_store(&lab->done, true);
    pthread_join(watch, NULL);
    return ok && !lab->failed;
}

/* In the child; ends with _exit, so that nothing needs freeing. */
static bool run_here(struct memlab_result *result, const struct memlab_setup *setup) {
    struct lab lab = {.setup = setup, .result = result};
    if (!prepare(&lab, setup) || !run_threads(&lab)) return false;
    result->peak_rss_bytes = mem_peak_rss();
    result->end_rss_bytes = mem_rss();
    result->most_witnesses = flow_count(lab.flow).most_witnesses;
    return true;
}

static uint64_t planned_bytes(const struct memlab_setup *s) {
    struct memlab_setup ours = *s;
    ours.early_permit = false;
    const struct flow_config config = flow_of(&ours);
    return flow_max_witnesses(&config) * (s->aux_bytes + s->abc_bytes) +
           (s->device_workers + s->finishers) * s->pending_bytes;
}

cuzk_status memlab_run(struct memlab_result *out, const struct memlab_setup *setup,
                       struct cuzk_error *err) {
    struct memlab_result *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return error_set(err, CUZK_NO_MEMORY, "memlab", NULL, "no memory");
    const pid_t child = fork();
    if (child == 0) _exit(run_here(shared, setup) ? 0 : 1);
    int state = 0;
    const bool waited = child > 0 && waitpid(child, &state, 0) == child;
    *out = *shared;
    munmap(shared, sizeof *shared);
    out->planned_bytes = planned_bytes(setup);
    if (!waited) return error_set(err, CUZK_INTERNAL, "memlab", NULL, "the run could not be begun");
    if (WIFSIGNALED(state))
        return error_set(err, CUZK_NO_MEMORY, "memlab", "give a larger --scale",
                         "the run was ended by signal %d", WTERMSIG(state));
    if (WEXITSTATUS(state) != 0)
        return error_set(err, CUZK_NO_MEMORY, "memlab", "give a larger --scale",
                         "the run could not have its memory");
    return CUZK_OK;
}

/* ---- the 32 GiB sector ---- */

/*
 * Seconds of one partition in the older daemon with 10 synthesis and 2 proving workers: 37.1 s for
 * the 10 partitions of a proof, the device always busy, so 7.4 s for each of two workers; synthesis
 * takes what lets 10 workers just keep up with that.
 */
static const double synthesis_seconds = 35.0, start_seconds = 7.4, finish_seconds = 1.7;

cuzk_status memlab_replay_32g(struct memlab_setup *out, unsigned scale, double time_scale,
                              struct cuzk_error *err) {
    const struct plan_circuit *circuit;
    CUZK_TRY(plan_circuit_find(&circuit, "porep-32g", 1, err));
    const uint64_t element = 32;
    *out = (struct memlab_setup){
        .partition_workers = 12,
        .device_workers = 2,
        .finishers = 4,
        .jobs = 5,
        .proofs = 10,
        .partitions = 10,
        .aux_bytes = circuit->stats.n_aux * element / scale,
        .abc_bytes = 3 * circuit->stats.n_rows * element / scale,
        .pending_bytes = circuit->pending_bytes / scale,
        .synthesis_seconds = synthesis_seconds / time_scale,
        .start_seconds = start_seconds / time_scale,
        .finish_seconds = finish_seconds / time_scale,
    };
    return CUZK_OK;
}
