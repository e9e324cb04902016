#include "snapshot_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

enum { PARTITIONS = 10, MOST_JOBS = 60, WORKERS = 4, DEVICES = 2 };
static const uint64_t mib = (uint64_t)1 << 20;

static void *zeroed(size_t n, size_t each) {
    void *p = calloc(n, each);
    if (p == NULL) abort();
    return p;
}

/* Partition g of all begins g seconds after the first and goes through the stages in order. */
static enum flow_stage stage_at(double age) {
    static const struct {
        double until;
        enum flow_stage stage;
    } steps[] = {{0, FLOW_PENDING}, {3.2, FLOW_SYNTHESIS}, {3.9, FLOW_READY},
                 {5.7, FLOW_START}, {6.4, FLOW_FINISH},    {6.8, FLOW_VERIFY}};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        if (age < steps[i].until) return steps[i].stage;
    return FLOW_DONE;
}

static double between(double v, double low, double high) {
    return v < low ? 0 : v > high ? high - low : v - low;
}

static void fill_job(struct engine_job_view *v, unsigned k, double now) {
    const double begin = 10.0 * k;
    snprintf(v->job_id, sizeof v->job_id, "j-%04u-7f3a91c2", k);
    snprintf(v->request_id, sizeof v->request_id, "porep-1000-%u", 4200 + k);
    strcpy(v->circuit_id, "porep-32g");
    v->kind = ENGINE_KIND_POREP;
    v->priority = k % 7 == 3 ? FLOW_CRITICAL : FLOW_NORMAL;
    v->miner_id = 1000;
    v->sector_number = 4200 + k;
    v->n_partitions = PARTITIONS;
    v->running = now >= begin;
    v->reserved_bytes = 310 * mib;
    for (unsigned i = 0; i < PARTITIONS; i++) {
        const double age = now - begin - i;
        struct engine_partition_view *p = &v->partitions[i];
        p->stage = stage_at(age);
        p->device = p->stage >= FLOW_START ? (int)(i % DEVICES) : -1;
        p->synthesis_seconds = between(age, 0, 3.2);
        p->device_seconds = between(age, 3.9, 6.4);
        p->attempt = k % 5 == 2 && i == 4 ? 1 : 0;
        if (p->stage == FLOW_START) strcpy(p->phase, "msm h");
        v->n_done += p->stage == FLOW_DONE;
    }
    v->over = v->n_done == PARTITIONS;
    const double end = begin + PARTITIONS - 1 + 6.8, waited = between(now, begin - 25, begin);
    v->age_seconds = now - begin + 25;
    v->seconds[0] = waited;
    v->seconds[2] = between(now, begin, begin + PARTITIONS + 2);
    v->seconds[3] = between(now, begin + 4, end);
    v->seconds[4] = between(now, begin - 25, end);
    v->eta_seconds = v->running && !v->over ? end - now : -1;
    if (!v->over) return;
    v->outcome = k % 9 == 4 ? ENGINE_FAILED : ENGINE_COMPLETED;
    if (v->outcome == ENGINE_FAILED)
        strcpy(v->error, "CUZK-E-SUSPECT: partition 4 was proved twice and was invalid both times");
}

/* Open ones first, in order; then those that are over, the latest first. */
static void fill_jobs(struct engine_snapshot *s, double now) {
    s->jobs = zeroed(MOST_JOBS, sizeof *s->jobs);
    const unsigned accepted = now < 0 ? 0 : (unsigned)(now / 10.0) + 4;
    const unsigned first = accepted > MOST_JOBS ? accepted - MOST_JOBS : 0;
    struct engine_job_view one;
    for (int pass = 0; pass < 2; pass++) {
        for (unsigned i = first; i < accepted; i++) {
            const unsigned k = pass == 0 ? i : accepted - 1 - (i - first);
            memset(&one, 0, sizeof one);
            fill_job(&one, k, now);
            if (one.over != (pass == 1)) continue;
            s->jobs[s->n_jobs++] = one;
        }
    }
}

static void count_jobs(struct engine_snapshot *s) {
    for (unsigned i = 0; i < s->n_jobs; i++) {
        const struct engine_job_view *v = &s->jobs[i];
        if (v->over) {
            (v->outcome == ENGINE_FAILED ? s->failed : s->completed)[v->kind]++;
            continue;
        }
        if (v->running) {
            s->running[v->kind]++;
        } else {
            s->queued[v->kind]++;
            s->queued_by_priority[v->priority]++;
            if (v->age_seconds > s->oldest_queued_seconds)
                s->oldest_queued_seconds = v->age_seconds;
        }
        for (unsigned p = 0; p < v->n_partitions; p++)
            s->flow.stage[v->partitions[p].stage]++;
    }
    s->flow.witnesses =
        s->flow.stage[FLOW_SYNTHESIS] + s->flow.stage[FLOW_READY] + s->flow.stage[FLOW_START];
    s->flow.most_witnesses = 7;
    s->flow.permits_taken = s->flow.stage[FLOW_SYNTHESIS] + s->flow.stage[FLOW_READY];
}

static void fill_durations(struct engine_snapshot *s) {
    for (unsigned k = ENGINE_KIND_POREP; k < ENGINE_KINDS; k++) {
        struct engine_histogram *h = &s->duration[k];
        h->count = s->completed[k];
        h->bucket[6] = h->count / 2;
        h->bucket[ENGINE_BUCKETS] = h->count - h->count / 2;
        h->sum = 38.75 * (double)h->count;
    }
}

static void fill_workers(struct engine_snapshot *s) {
    s->workers = zeroed(WORKERS, sizeof *s->workers);
    s->n_workers = WORKERS;
    for (unsigned i = 0; i < WORKERS; i++)
        s->workers[i] = (struct engine_worker_view){.device = i / 2, .worker = i % 2};
    for (unsigned i = 0; i < s->n_jobs; i++) {
        for (unsigned p = 0; p < s->jobs[i].n_partitions; p++) {
            const struct engine_partition_view *v = &s->jobs[i].partitions[p];
            if (v->stage != FLOW_START) continue;
            for (unsigned w = 0; w < WORKERS; w++) {
                struct engine_worker_view *worker = &s->workers[w];
                if (worker->busy || worker->device != (unsigned)v->device) continue;
                worker->busy = true;
                worker->partition = p;
                worker->busy_seconds = v->device_seconds;
                strcpy(worker->job_id, s->jobs[i].job_id);
                break;
            }
        }
    }
}

static void fill_devices(struct engine_snapshot *s, bool alarm) {
    s->devices = zeroed(DEVICES, sizeof *s->devices);
    s->n_devices = DEVICES;
    for (unsigned i = 0; i < DEVICES; i++) {
        struct engine_device_view *d = &s->devices[i];
        d->state.up = true;
        strcpy(d->state.name, "cpu (AVX-512 IFMA, 16 threads)");
        strcpy(d->state.backend, "cpu");
        d->state.rss_bytes = 61000 * mib;
        d->state.peak_rss_bytes = 64000 * mib;
        d->state.age_ns = 120000000;
        d->state.tasks = s->flow.stage[FLOW_START] / DEVICES;
        d->busy_seconds = 0.7 * s->uptime_seconds;
    }
    if (!alarm) return;
    struct engine_device_view *d = &s->devices[1];
    d->failed = true;
    d->state.up = false;
    d->state.lost = true;
    d->restarts = 3;
    d->losses = 4;
    d->invalid_proofs = 2;
    strcpy(d->last_error, "CUZK-E-DEVICE-HANG: no progress for 600 s in msm h; it was killed");
    s->invalid_proofs = 2;
    s->retries = 6;
    s->rejected = 11;
}

static void fill_plan(struct engine_snapshot *s) {
    static const struct plan_term terms[PLAN_TERMS] = {
        [PLAN_BASE_DAEMON] = {120, 1, 0, MEM_OTHER, false},
        [PLAN_BASE_DEVICE] = {90, 2, 0, MEM_OTHER, true},
        [PLAN_SRS] = {45158, 2, 0, MEM_SRS, true},
        [PLAN_KEY_TABLES] = {4096, 2, 0, MEM_SRS, true},
        [PLAN_MATRICES] = {6300, 3, 0, MEM_MATRICES, false},
        [PLAN_INPUT] = {310, 6, 0, MEM_INPUT, false},
        [PLAN_MESSAGES] = {256, 2, 0, MEM_INPUT, false},
        [PLAN_WITNESS] = {1310, 9, 0, MEM_WITNESS, false},
        [PLAN_CRITICAL] = {1310, 1, 0, MEM_WITNESS, false},
        [PLAN_ABC] = {12288, 4, 0, MEM_ABC, true},
        [PLAN_SCRATCH] = {2100, 4, 0, MEM_OTHER, true},
        [PLAN_PENDING] = {1900, 4, 0, MEM_PENDING, true},
    };
    s->has_plan = true;
    for (unsigned t = 0; t < PLAN_TERMS; t++) {
        struct plan_term *to = &s->plan.term[t];
        *to = terms[t];
        to->each *= mib;
        to->bytes = to->each * to->count;
        s->plan.peak_bytes += to->bytes;
        s->ledger.reserved[to->kind] += to->bytes;
        s->ledger.reserved_total += to->bytes;
    }
    s->plan.n_devices = 2;
    s->plan.partition_workers = 5;
    s->plan.device_workers = 2;
    s->plan.pendings = 2;
    s->plan.fits = true;
    strcpy(s->plan.bottleneck, "the devices: a third one would raise throughput by a half");
}

static void fill_memory(struct engine_snapshot *s) {
    const struct flow_counts *c = &s->flow;
    const uint64_t now[MEM_CLASSES] = {
        [MEM_SRS] = 98500 * mib,
        [MEM_MATRICES] = 18900 * mib,
        [MEM_WITNESS] = 1310 * mib * c->witnesses,
        [MEM_ABC] = 12288 * mib * c->stage[FLOW_START],
        [MEM_PENDING] = 1900 * mib * c->stage[FLOW_FINISH],
        [MEM_INPUT] = 310 * mib * (s->running[ENGINE_KIND_POREP] + s->queued[ENGINE_KIND_POREP]),
        [MEM_OTHER] = 500 * mib + 2100 * mib * c->stage[FLOW_START],
    };
    s->total_rss_bytes = 700 * mib;
    for (unsigned i = 0; i < MEM_CLASSES; i++) {
        s->class_bytes[i] = now[i];
        s->class_high_water[i] = now[i] + now[i] / 8;
        s->ledger.high_water[i] = s->ledger.reserved[i];
        s->total_rss_bytes += now[i];
    }
    s->ledger.high_water_total = s->ledger.reserved_total;
    s->ledger.granted = 400;
    s->rss_bytes = 40000 * mib;
    s->peak_rss_bytes = 41000 * mib;
    s->slabs = (struct slab_counters){.in_use_bytes = 1310 * mib * c->witnesses,
                                      .kept_bytes = 2620 * mib,
                                      .taken = 200,
                                      .recycled = 180,
                                      .closed = 11,
                                      .in_use = c->witnesses,
                                      .kept = 2};
}

static void fill_budget(struct engine_snapshot *s, uint64_t limit) {
    struct budget *b = &s->budget;
    b->term[BUDGET_CGROUP2_MAX] = (struct budget_term){
        .present = true, .bytes = limit + 5120 * mib, .limit_bytes = limit + 5120 * mib};
    strcpy(b->term[BUDGET_CGROUP2_MAX].label, "/cuzk.service memory.max");
    b->term[BUDGET_AVAILABLE] =
        (struct budget_term){.present = true, .bytes = 470000 * mib, .limit_bytes = 470000 * mib};
    strcpy(b->term[BUDGET_AVAILABLE].label, "MemAvailable");
    b->term[BUDGET_HOST] =
        (struct budget_term){.present = true, .bytes = 515000 * mib, .limit_bytes = 515000 * mib};
    strcpy(b->term[BUDGET_HOST].label, "MemTotal");
    b->winner = BUDGET_CGROUP2_MAX;
    b->margin_bytes = 5120 * mib;
    b->budget_bytes = limit;
    s->ledger.limit = limit;
}

static void fill_circuits(struct engine_snapshot *s) {
    s->circuits = zeroed(2, sizeof *s->circuits);
    s->n_circuits = 2;
    s->circuits[0] = (struct engine_circuit_view){.resident = true,
                                                  .srs_bytes = 98500 * mib,
                                                  .matrices_bytes = 18900 * mib,
                                                  .references = s->running[ENGINE_KIND_POREP],
                                                  .load_seconds = 71.5};
    strcpy(s->circuits[0].circuit_id, "porep-32g");
    s->circuits[1] = (struct engine_circuit_view){.missing = true};
    strcpy(s->circuits[1].circuit_id, "porep-64g");
}

struct engine_snapshot *snapshot_fixture(enum fixture_scene scene, double seconds) {
    struct engine_snapshot *s = zeroed(1, sizeof *s);
    s->uptime_seconds = seconds;
    s->accepting = true;
    s->budget.winner = BUDGET_TERMS;
    if (scene == FIXTURE_EMPTY) return s;
    s->persistent = true;
    fill_jobs(s, seconds);
    count_jobs(s);
    fill_durations(s);
    fill_workers(s);
    fill_devices(s, scene == FIXTURE_ALARM);
    fill_plan(s);
    fill_memory(s);
    fill_budget(s, scene == FIXTURE_ALARM ? s->ledger.reserved_total + 900 * mib : 262144 * mib);
    if (scene == FIXTURE_ALARM) s->total_rss_bytes = s->ledger.limit / 100 * 97;
    fill_circuits(s);
    return s;
}

void engine_snapshot_free(struct engine_snapshot *s) {
    if (s == NULL) return;
    free(s->jobs);
    free(s->workers);
    free(s->devices);
    free(s->circuits);
    free(s);
}

cuzk_status engine_snapshot_take(struct engine *e, struct engine_snapshot **out,
                                 struct cuzk_error *err) {
    e->taken++;
    if (e->no_memory) return error_set(err, CUZK_NO_MEMORY, "engine", NULL, "none is left");
    static uint64_t start_ns;
    if (start_ns == 0) start_ns = clock_ns();
    struct engine_snapshot *s = snapshot_fixture(
        e->scene, e->seconds < 0 ? clock_seconds_since(start_ns) + 40 : e->seconds);
    if (e->hostile[0] != '\0' && s->n_jobs > 0 && s->n_devices > 0) {
        snprintf(s->jobs[0].request_id, sizeof s->jobs[0].request_id, "%s", e->hostile);
        snprintf(s->devices[0].state.name, sizeof s->devices[0].state.name, "%.63s", e->hostile);
    }
    *out = s;
    return CUZK_OK;
}

bool engine_ready(struct engine *e, char *why, size_t why_bytes) {
    if (e->scene != FIXTURE_EMPTY) return true;
    snprintf(why, why_bytes, "porep-32g is loading, and no device is up");
    return false;
}
