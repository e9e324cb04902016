/* The engine with fake devices (device_fake.h): jobs in, answers out, and everything that goes
 * wrong between. */
#include "test_main.h"

#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "engine_fixture.h"
#include "log.h"

#define LONG (60 * SECONDS)

static struct engine_folder folder;

static int set_up(void **state) {
    (void)state;
    engine_folder_make(&folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    engine_folder_remove(&folder);
    return 0;
}

static struct engine *create(const struct engine_config *c) {
    struct engine *e = NULL;
    struct cuzk_error err = {0};
    if (engine_create(&e, c, &err) != CUZK_OK) fail_msg("%s: %s", err.where, err.what);
    return e;
}

static struct engine *begin(const char *options) {
    const struct engine_config c = engine_test_config(&folder, options);
    return create(&c);
}

struct submission {
    cuzk_status status;
    struct engine_ticket ticket;
    struct cuzk_error err;
};

static struct submission submit_request(struct engine *e, struct engine_request r, unsigned k) {
    struct submission s = {0};
    struct engine_text text = engine_text_make(k);
    r.payload = text.bytes;
    r.payload_bytes = text.n;
    if (r.kind == ENGINE_KIND_NONE) r.kind = ENGINE_KIND_POREP;
    s.status = engine_submit(e, &r, &s.ticket, &s.err);
    free(text.bytes);
    return s;
}

static struct submission submit(struct engine *e, const char *request_id, unsigned k) {
    return submit_request(e, (struct engine_request){.request_id = request_id}, k);
}

static void submit_ok(struct engine *e, const char *request_id, unsigned k,
                      struct engine_ticket *out) {
    const struct submission s = submit(e, request_id, k);
    if (s.status != CUZK_OK) fail_msg("%s: %s", s.err.where, s.err.what);
    *out = s.ticket;
}

static void pause_ms(unsigned ms) {
    const struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

static struct engine_snapshot *look(struct engine *e) {
    struct engine_snapshot *s = NULL;
    struct cuzk_error err;
    assert_int_equal(engine_snapshot_take(e, &s, &err), CUZK_OK);
    return s;
}

/* Waits until a partition of the job is in the stage (10 s at most). */
static void wait_for_stage(struct engine *e, const char *job_id, enum flow_stage stage) {
    for (unsigned i = 0; i < 5000; i++) {
        struct engine_snapshot *s = look(e);
        bool there = false;
        for (unsigned j = 0; j < s->n_jobs; j++) {
            if (strcmp(s->jobs[j].job_id, job_id) == 0)
                there = s->jobs[j].partitions[0].stage == stage;
        }
        engine_snapshot_free(s);
        if (there) return;
        pause_ms(2);
    }
    fail_msg("job %s never came to stage %d", job_id, (int)stage);
}

/* Everything that jobs hold is back (10 s at most). */
static void wait_until_empty(struct engine *e) {
    for (unsigned i = 0; i < 5000; i++) {
        struct engine_snapshot *s = look(e);
        const bool empty =
            s->ledger.reserved[MEM_INPUT] == 0 && s->slabs.in_use == 0 && s->flow.jobs == 0;
        engine_snapshot_free(s);
        if (empty) return;
        pause_ms(2);
    }
    fail_msg("inputs or slabs were not given back");
}

static void assert_completed(struct engine *e, const char *job_id, unsigned k, uint64_t tasks) {
    const struct engine_end end = engine_await(e, job_id, LONG);
    if (end.outcome != ENGINE_COMPLETED) fail_msg("outcome %d: %s", (int)end.outcome, end.what);
    assert_true(engine_proof_is_of(end.proof, end.proof_bytes, k, tasks));
}

static void assert_failed(struct engine *e, const char *job_id, cuzk_status code) {
    const struct engine_end end = engine_await(e, job_id, LONG);
    assert_int_equal(end.outcome, ENGINE_FAILED);
    if (end.code != code) fail_msg("%s: %s", status_name(end.code), end.what);
}

/* ---- the ordinary way ---- */

static void test_one_job(void **state) {
    (void)state;
    struct engine *e = begin("");
    struct engine_ticket t;
    submit_ok(e, "one", 1, &t);
    assert_false(t.existing);
    assert_int_equal(strlen(t.job_id), 26);
    assert_memory_equal(t.job_id, "j-", 2);
    assert_completed(e, t.job_id, 1, 1);
    /* It is kept: asking again answers at once. */
    assert_completed(e, t.job_id, 1, 1);
    wait_until_empty(e);
    struct engine_snapshot *s = look(e);
    assert_int_equal(s->completed[ENGINE_KIND_POREP], 1);
    assert_int_equal(s->duration[ENGINE_KIND_POREP].count, 1);
    assert_int_equal(s->n_jobs, 1);
    assert_true(s->jobs[0].over);
    assert_int_equal(s->jobs[0].n_done, 1);
    assert_true(s->has_plan);
    assert_true(s->plan.peak_bytes <= s->budget.budget_bytes);
    engine_snapshot_free(s);
    struct cuzk_error err;
    uint64_t watch;
    assert_int_equal(engine_watch(e, "j-000000000000000000000000", 0, NULL, NULL, &watch, &err),
                     CUZK_JOB_UNKNOWN);
    engine_destroy(e);
}

enum { CROWD = 50, CROWD_THREADS = 5 };
struct crowd {
    struct engine *e;
    unsigned first;
    const char *fault; /* NULL: none */
};

/* One thread's jobs; NULL or what went wrong. */
static const char *crowd_jobs(const struct crowd *c) {
    struct engine_ticket t[CROWD / CROWD_THREADS];
    for (unsigned i = 0; i < CROWD / CROWD_THREADS; i++) {
        const unsigned k = c->first + i;
        const struct engine_request r = {.request_id = k % 3 == 0 ? "same" : "",
                                         .priority = (int)(k % 5)};
        const struct submission s = submit_request(c->e, r, k);
        if (s.status != CUZK_OK) return "a submit failed";
        t[i] = s.ticket;
    }
    for (unsigned i = 0; i < CROWD / CROWD_THREADS; i++) {
        const struct engine_end end = engine_await(c->e, t[i].job_id, LONG);
        if (end.outcome != ENGINE_COMPLETED) return "a job failed";
        static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER; /* the fixture is for one thread */
        pthread_mutex_lock(&one);
        const bool right = engine_proof_is_of(end.proof, end.proof_bytes, c->first + i, CROWD);
        pthread_mutex_unlock(&one);
        if (!right) return "a proof is another job's";
    }
    return NULL;
}

static void *crowd_thread(void *ctx) {
    struct crowd *c = ctx;
    c->fault = crowd_jobs(c);
    return NULL;
}

static void test_crowd(void **state) {
    (void)state;
    struct engine_config c = engine_test_config(&folder, "delay_ms=2,start_ms=1");
    c.n_devices = 2;
    c.devices[1] = c.devices[0];
    struct engine *e = create(&c);
    pthread_t thread[CROWD_THREADS];
    struct crowd crowd[CROWD_THREADS];
    for (unsigned i = 0; i < CROWD_THREADS; i++) {
        crowd[i] = (struct crowd){e, 1000 + i * (CROWD / CROWD_THREADS), NULL};
        assert_int_equal(pthread_create(&thread[i], NULL, crowd_thread, &crowd[i]), 0);
    }
    for (unsigned i = 0; i < CROWD_THREADS; i++) {
        pthread_join(thread[i], NULL);
        if (crowd[i].fault != NULL) fail_msg("%s", crowd[i].fault);
    }
    wait_until_empty(e);
    struct engine_snapshot *s = look(e);
    assert_int_equal(s->completed[ENGINE_KIND_POREP], CROWD);
    assert_true(s->flow.most_witnesses <= 3 + 1 + 2);
    assert_true(s->ledger.high_water_total <= s->budget.budget_bytes);
    engine_snapshot_free(s);
    engine_destroy(e);
}

/* ---- identity ---- */

static void test_identity(void **state) {
    (void)state;
    struct engine *e = begin("delay_ms=50");
    struct engine_ticket a, b, c, d;
    submit_ok(e, "porep-1000-1", 1, &a);
    submit_ok(e, "porep-1000-1", 1, &b);
    assert_true(b.existing);
    assert_string_equal(a.job_id, b.job_id);
    submit_ok(e, "porep-1000-1", 2, &c); /* the same id, another payload */
    assert_false(c.existing);
    assert_string_not_equal(a.job_id, c.job_id);
    submit_ok(e, "other", 1, &d);
    assert_false(d.existing);
    assert_completed(e, a.job_id, 1, 3);
    assert_completed(e, c.job_id, 2, 3);
    assert_completed(e, d.job_id, 1, 3);
    submit_ok(e, "porep-1000-1", 1, &b); /* ended: the result is still there */
    assert_true(b.existing);
    assert_string_equal(a.job_id, b.job_id);
    /* A cancelled one is made anew. */
    bool was_running;
    struct cuzk_error err;
    submit_ok(e, "again", 3, &a);
    assert_int_equal(engine_cancel(e, a.job_id, &was_running, &err), CUZK_OK);
    submit_ok(e, "again", 3, &b);
    assert_false(b.existing);
    assert_completed(e, b.job_id, 3, 8);
    engine_destroy(e);
}

static void *same_submit(void *ctx) {
    struct submission *s = malloc(sizeof *s);
    *s = submit(ctx, "twin", 7);
    return s;
}

static void test_twins(void **state) {
    (void)state;
    struct engine *e = begin("");
    pthread_t thread[6];
    char id[ENGINE_JOB_ID_BYTES] = "";
    unsigned fresh = 0;
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, same_submit, e), 0);
    for (unsigned i = 0; i < 6; i++) {
        void *result = NULL;
        pthread_join(thread[i], &result);
        struct submission *s = result;
        assert_int_equal(s->status, CUZK_OK);
        if (id[0] == '\0') memcpy(id, s->ticket.job_id, sizeof id);
        assert_string_equal(id, s->ticket.job_id);
        if (!s->ticket.existing) fresh++;
        free(s);
    }
    assert_int_equal(fresh, 1);
    assert_completed(e, id, 7, 1);
    struct engine_snapshot *s = look(e);
    assert_int_equal(s->completed[ENGINE_KIND_POREP], 1);
    engine_snapshot_free(s);
    engine_destroy(e);
}

/* ---- cancel, deadline, timeout ---- */

static void cancel_in(const char *options, enum flow_stage stage, unsigned before) {
    struct engine *e = begin(options);
    struct engine_ticket first[4], t;
    for (unsigned i = 0; i < before; i++)
        submit_ok(e, "", 100 + i, &first[i]);
    if (before > 0) wait_for_stage(e, first[0].job_id, FLOW_START);
    submit_ok(e, "to be cancelled", 1, &t);
    wait_for_stage(e, t.job_id, stage);
    bool was_running = false;
    struct cuzk_error err;
    assert_int_equal(engine_cancel(e, t.job_id, &was_running, &err), CUZK_OK);
    assert_true(was_running);
    const struct engine_end end = engine_await(e, t.job_id, LONG);
    assert_int_equal(end.outcome, ENGINE_CANCELLED);
    assert_int_equal(end.code, CUZK_CANCELLED);
    assert_int_equal(engine_cancel(e, t.job_id, &was_running, &err), CUZK_OK);
    assert_false(was_running);
    for (unsigned i = 0; i < before; i++)
        assert_int_equal(engine_cancel(e, first[i].job_id, &was_running, &err), CUZK_OK);
    wait_until_empty(e);
    struct engine_snapshot *s = look(e);
    assert_int_equal(s->cancelled[ENGINE_KIND_POREP], 1 + before);
    assert_int_equal(s->devices[0].losses, 0);
    engine_snapshot_free(s);
    engine_destroy(e);
}

static void test_cancel(void **state) {
    (void)state;
    cancel_in("load_ms=5000", FLOW_PENDING, 0);
    cancel_in("start_ms=5000", FLOW_READY, 1);
    cancel_in("start_ms=5000", FLOW_START, 0);
    cancel_in("delay_ms=5000", FLOW_FINISH, 0);
}

static void test_deadline_and_timeout(void **state) {
    (void)state;
    struct engine *e = begin("delay_ms=5000");
    const struct submission s = submit_request(
        e, (struct engine_request){.request_id = "late", .deadline_ns = clock_ns() + SECONDS}, 1);
    assert_int_equal(s.status, CUZK_OK);
    const uint64_t start = clock_ns();
    const struct engine_end early = engine_await(e, s.ticket.job_id, SECONDS / 10);
    assert_int_equal(early.outcome, ENGINE_TIMEOUT);
    assert_failed(e, s.ticket.job_id, CUZK_DEADLINE);
    assert_true(clock_seconds_since(start) < 4);
    wait_until_empty(e);
    engine_destroy(e);
}

static void count_call(void *ctx, const struct engine_result *r) {
    (void)r;
    __atomic_add_fetch((unsigned *)ctx, 1, __ATOMIC_SEQ_CST);
}

static void test_unwatch(void **state) {
    (void)state;
    struct engine *e = begin("delay_ms=100");
    struct engine_ticket t;
    submit_ok(e, "", 1, &t);
    unsigned calls = 0, calls_2 = 0;
    uint64_t watch, watch_2;
    struct cuzk_error err;
    assert_int_equal(engine_watch(e, t.job_id, 0, count_call, &calls, &watch, &err), CUZK_OK);
    assert_int_equal(engine_watch(e, t.job_id, 0, count_call, &calls_2, &watch_2, &err), CUZK_OK);
    engine_unwatch(e, watch);
    assert_completed(e, t.job_id, 1, 1);
    engine_unwatch(e, watch_2);
    engine_destroy(e);
    assert_int_equal(calls, 0);
    assert_true(calls_2 <= 1);
}

/* ---- what is refused ---- */

static void refused(struct engine *e, struct engine_request r, cuzk_status code, const char *a,
                    const char *b) {
    const struct submission s = submit_request(e, r, 1);
    if (s.status != code) fail_msg("%s: %s", status_name(s.status), s.err.what);
    if (a != NULL && strstr(s.err.what, a) == NULL) fail_msg("no %s in: %s", a, s.err.what);
    if (b != NULL && strstr(s.err.what, b) == NULL) fail_msg("no %s in: %s", b, s.err.what);
}

static void test_refusals(void **state) {
    (void)state;
    struct engine *e = begin("");
    refused(e, (struct engine_request){.kind = ENGINE_KIND_SNAP}, CUZK_NOT_SERVED, "snap", NULL);
    refused(e, (struct engine_request){.kind = ENGINE_KIND_WINDOW_POST}, CUZK_NOT_SERVED, "wpost",
            NULL);
    refused(e, (struct engine_request){.kind = ENGINE_KIND_WINNING_POST}, CUZK_NOT_SERVED,
            "winning", NULL);
    refused(e, (struct engine_request){.registered_proof = 15}, CUZK_NOT_SERVED, NULL, NULL);
    refused(e, (struct engine_request){.sector_size = 16384}, CUZK_REQUEST, "16384", "2048");
    refused(e, (struct engine_request){.registered_proof = 6}, CUZK_REQUEST, "6",
            "StackedDrg2KiBV1_1");
    refused(e, (struct engine_request){.priority = 9}, CUZK_REQUEST, "9", NULL);
    /* What the present cuzk-bench sends with every file. */
    refused(e, (struct engine_request){.sector_size = (uint64_t)32 << 30}, CUZK_REQUEST,
            "34359738368", "2048");
    char path[256];
    snprintf(path, sizeof path, "%s/porep-2k.dev.params", folder.params);
    assert_int_equal(unlink(path), 0);
    refused(e, (struct engine_request){.sector_size = 2048}, CUZK_PARAM_MISSING, NULL, NULL);
    struct engine_ticket t;
    struct cuzk_error err;
    struct engine_request r = {.kind = ENGINE_KIND_POREP, .payload = "{]", .payload_bytes = 2};
    assert_int_equal(engine_submit(e, &r, &t, &err), CUZK_JSON_SYNTAX);
    r.payload_bytes = 0;
    assert_int_equal(engine_submit(e, &r, &t, &err), CUZK_REQUEST);
    r.kind = ENGINE_KIND_NONE;
    assert_int_equal(engine_submit(e, &r, &t, &err), CUZK_REQUEST);
    struct engine_snapshot *s = look(e);
    assert_int_equal(s->rejected, 12);
    assert_int_equal(s->ledger.reserved[MEM_INPUT], 0);
    engine_snapshot_free(s);
    engine_destroy(e);
}

/* With checks on, a wrong replica id is found, and the real one with its miner passes. */
static void test_input_check(void **state) {
    (void)state;
    struct engine_config c = engine_test_config(&folder, "");
    c.no_input_check = false;
    struct engine *e = create(&c);
    const struct submission s = submit(e, "", 1);
    assert_int_not_equal(s.status, CUZK_OK);
    engine_destroy(e);
}

static void test_queue_full(void **state) {
    (void)state;
    struct engine_config c = engine_test_config(&folder, "start_ms=20000");
    c.max_queued_jobs = 2;
    c.partition_workers = 1;
    struct engine *e = create(&c);
    struct engine_ticket t;
    submit_ok(e, "", 1, &t);
    wait_for_stage(e, t.job_id, FLOW_START);
    submit_ok(e, "", 2, &t);
    wait_for_stage(e, t.job_id, FLOW_READY);
    submit_ok(e, "", 3, &t);
    submit_ok(e, "", 4, &t);
    assert_int_equal(t.queue_position, 1);
    assert_int_equal(submit(e, "", 5).status, CUZK_QUEUE_FULL);
    engine_destroy(e);
}

static void test_budget(void **state) {
    (void)state;
    struct engine_config c = engine_test_config(&folder, "");
    c.memory_total = (uint64_t)60 << 20;
    struct engine *e = create(&c);
    const uint64_t start = clock_ns();
    const struct submission s = submit(e, "", 1);
    assert_int_equal(s.status, CUZK_BUDGET);
    assert_non_null(strstr(s.err.what, "needs"));
    assert_non_null(strstr(s.err.what, "budget is"));
    assert_true(clock_seconds_since(start) < 5);
    engine_destroy(e);
    /* Named for preload it is refused at the start. */
    struct cuzk_error err;
    c.preload[0] = "porep-2k";
    c.n_preload = 1;
    assert_int_equal(engine_create(&e, &c, &err), CUZK_BUDGET);
    assert_null(e);
}

static void test_config(void **state) {
    (void)state;
    struct engine *e;
    struct cuzk_error err;
    struct engine_config c = engine_test_config(&folder, "");
    c.preload[0] = "porep-3k";
    c.n_preload = 1;
    assert_int_equal(engine_create(&e, &c, &err), CUZK_CONFIG);
    c.n_preload = 0;
    c.n_devices = 0;
    assert_int_equal(engine_create(&e, &c, &err), CUZK_CONFIG);
}

/* ---- devices that fail ---- */

static void test_crash(void **state) {
    (void)state;
    struct engine *e = begin("crash_at=2");
    struct engine_ticket a, b;
    submit_ok(e, "", 1, &a);
    assert_completed(e, a.job_id, 1, 4);
    submit_ok(e, "", 2, &b);
    assert_completed(e, b.job_id, 2, 4);
    struct engine_snapshot *s = look(e);
    assert_int_equal(s->devices[0].losses, 1);
    assert_int_equal(s->devices[0].restarts, 1);
    assert_int_equal(s->retries, 1);
    engine_snapshot_free(s);
    wait_until_empty(e);
    engine_destroy(e);
}

static void test_hang(void **state) {
    (void)state;
    struct engine_config c = engine_test_config(&folder, "hang_finish_at=2");
    c.device_progress_timeout_ns = SECONDS;
    struct engine *e = create(&c);
    struct engine_ticket a, b;
    submit_ok(e, "", 1, &a);
    assert_completed(e, a.job_id, 1, 4);
    submit_ok(e, "", 2, &b);
    wait_for_stage(e, b.job_id, FLOW_FINISH);
    const uint64_t start = clock_ns(); /* it is seen at once while the device hangs */
    engine_snapshot_free(look(e));
    assert_true(clock_seconds_since(start) < 0.1);
    assert_completed(e, b.job_id, 2, 4);
    struct engine_snapshot *s = look(e);
    assert_int_equal(s->devices[0].losses, 1);
    assert_non_null(strstr(s->devices[0].last_error, "DEVICE-HANG"));
    engine_snapshot_free(s);
    engine_destroy(e);
}

/* It dies with every task: the job fails after its second loss, the device after four. */
static void test_always_crashes(void **state) {
    (void)state;
    struct engine *e = begin("crash_at=1");
    struct engine_ticket a, b;
    submit_ok(e, "", 1, &a);
    const struct engine_end end = engine_await(e, a.job_id, LONG);
    assert_int_equal(end.outcome, ENGINE_FAILED);
    submit_ok(e, "", 2, &b);
    assert_int_equal(engine_await(e, b.job_id, LONG).outcome, ENGINE_FAILED);
    for (unsigned i = 0; i < 500; i++) {
        if (submit(e, "", 3).status == CUZK_NO_DEVICE) break;
        pause_ms(10);
    }
    assert_int_equal(submit(e, "", 3).status, CUZK_NO_DEVICE);
    struct engine_snapshot *s = look(e);
    assert_true(s->devices[0].failed);
    engine_snapshot_free(s);
    char why[200];
    assert_false(engine_ready(e, why, sizeof why));
    engine_destroy(e);
}

static void test_invalid_once(void **state) {
    (void)state;
    struct engine *e = begin("invalid_at=1");
    struct engine_ticket t;
    submit_ok(e, "", 1, &t);
    assert_completed(e, t.job_id, 1, 2);
    struct engine_snapshot *s = look(e);
    assert_int_equal(s->invalid_proofs, 1);
    assert_int_equal(s->devices[0].invalid_proofs, 1);
    assert_int_equal(s->retries, 1);
    engine_snapshot_free(s);
    engine_destroy(e);
}

static void test_invalid_twice(void **state) {
    (void)state;
    struct engine_config c = engine_test_config(&folder, "invalid_at=1");
    c.n_devices = 2;
    c.devices[1] = c.devices[0];
    struct engine *e = create(&c);
    for (unsigned i = 0; i < 1000; i++) { /* both must be up for the second to be another one */
        struct engine_snapshot *s = look(e);
        const bool up = s->devices[0].state.up && s->devices[1].state.up;
        engine_snapshot_free(s);
        if (up) break;
        pause_ms(5);
    }
    struct engine_ticket t;
    submit_ok(e, "", 1, &t);
    const struct engine_end end = engine_await(e, t.job_id, LONG);
    assert_int_equal(end.outcome, ENGINE_FAILED);
    assert_int_equal(end.code, CUZK_SUSPECT);
    /* The replica id is made up, so that the witness cannot satisfy the circuit. */
    assert_non_null(strstr(end.what, "suspect are the inputs"));
    wait_until_empty(e);
    engine_destroy(e);
}

static void test_load_refused(void **state) {
    (void)state;
    struct engine *e = begin("refuse_load=1");
    struct engine_ticket t;
    submit_ok(e, "", 1, &t);
    assert_failed(e, t.job_id, CUZK_PARAM_MISSING);
    wait_until_empty(e);
    engine_destroy(e);
}

/* ---- circuits ---- */

static void test_preload_and_evict(void **state) {
    (void)state;
    struct engine_config c = engine_test_config(&folder, "load_ms=20");
    c.preload[0] = "porep-2k";
    c.n_preload = 1;
    struct engine *e = create(&c);
    char why[200];
    for (unsigned i = 0; i < 6000 && !engine_ready(e, why, sizeof why); i++)
        pause_ms(5);
    assert_true(engine_ready(e, why, sizeof why));
    struct cuzk_error err;
    bool already, was_loaded;
    uint64_t ms, freed;
    assert_int_equal(engine_preload(e, "porep-2k", 0, &already, &ms, &err), CUZK_OK);
    assert_true(already);
    assert_int_equal(engine_preload(e, "porep-4k", 0, &already, &ms, &err), CUZK_OK);
    assert_false(already);
    struct engine_snapshot *s = look(e);
    const uint64_t both = s->ledger.reserved[MEM_SRS];
    assert_int_equal(s->n_circuits, 2);
    engine_snapshot_free(s);
    assert_int_equal(engine_evict(e, "porep-4k", &was_loaded, &freed, &err), CUZK_OK);
    assert_true(was_loaded);
    assert_int_equal(engine_evict(e, "porep-4k", &was_loaded, &freed, &err), CUZK_OK);
    assert_false(was_loaded);
    for (unsigned i = 0; i < 1000; i++) {
        s = look(e);
        const bool less = s->ledger.reserved[MEM_SRS] < both;
        engine_snapshot_free(s);
        if (less) break;
        pause_ms(5);
    }
    s = look(e);
    assert_true(s->ledger.reserved[MEM_SRS] < both);
    engine_snapshot_free(s);
    assert_int_equal(engine_preload(e, "porep-32g", 0, &already, &ms, &err), CUZK_PARAM_MISSING);
    assert_int_equal(engine_preload(e, "nonsense", 0, &already, &ms, &err), CUZK_USAGE);
    assert_int_equal(engine_preload(e, "snap-32g", 0, &already, &ms, &err), CUZK_NOT_SERVED);
    struct engine_ticket t;
    submit_ok(e, "", 1, &t);
    assert_completed(e, t.job_id, 1, 1);
    engine_destroy(e);
}

/* ---- the state folder ---- */

static void test_taken_up_again(void **state) {
    (void)state;
    struct engine_config c = engine_test_config(&folder, "start_ms=20000");
    c.state_dir = folder.state;
    struct engine *e = create(&c);
    struct engine_ticket t[3], again;
    for (unsigned i = 0; i < 3; i++) {
        char id[16];
        snprintf(id, sizeof id, "job %u", i);
        submit_ok(e, id, 40 + i, &t[i]);
        if (i == 0) wait_for_stage(e, t[0].job_id, FLOW_START);
    }
    engine_destroy(e);

    c = engine_test_config(&folder, "");
    c.state_dir = folder.state;
    e = create(&c);
    submit_ok(e, "job 1", 41, &again);
    assert_true(again.existing);
    assert_string_equal(again.job_id, t[1].job_id);
    for (unsigned i = 0; i < 3; i++)
        assert_completed(e, t[i].job_id, 40 + i, 3);
    engine_destroy(e);

    /* The results are kept, too; no device is asked. */
    c = engine_test_config(&folder, "crash_at=1");
    c.state_dir = folder.state;
    e = create(&c);
    for (unsigned i = 0; i < 3; i++)
        assert_completed(e, t[i].job_id, 40 + i, 3);
    engine_destroy(e);
}

static void test_drain(void **state) {
    (void)state;
    struct engine_config c = engine_test_config(&folder, "start_ms=300");
    c.partition_workers = 1;
    struct engine *e = create(&c);
    struct engine_ticket t[4];
    for (unsigned i = 0; i < 4; i++) {
        submit_ok(e, "", 60 + i, &t[i]);
        if (i == 0) wait_for_stage(e, t[0].job_id, FLOW_START);
    }
    engine_stop_accepting(e);
    assert_int_equal(submit(e, "", 70).status, CUZK_STOPPING);
    assert_true(engine_drain(e, clock_ns() + LONG));
    assert_completed(e, t[0].job_id, 60, 4);
    assert_failed(e, t[3].job_id, CUZK_STOPPING);
    engine_destroy(e);
}

static void test_results_are_bounded(void **state) {
    (void)state;
    struct engine_config c = engine_test_config(&folder, "");
    c.keep_results = 2;
    struct engine *e = create(&c);
    struct engine_ticket t[4];
    for (unsigned i = 0; i < 4; i++) {
        submit_ok(e, "", i, &t[i]);
        assert_completed(e, t[i].job_id, i, 4);
    }
    cuzk_status s = CUZK_OK;
    for (unsigned i = 0; i < 1000 && s != CUZK_JOB_UNKNOWN; i++) {
        s = engine_await(e, t[0].job_id, SECONDS).code;
        pause_ms(2);
    }
    assert_int_equal(s, CUZK_JOB_UNKNOWN);
    assert_completed(e, t[3].job_id, 3, 4);
    engine_destroy(e);
}

/* ---- messages ---- */

static void test_messages(void **state) {
    (void)state;
    struct engine *e = begin("");
    struct engine_input in, more;
    struct cuzk_error err;
    const uint64_t much = (uint64_t)24 << 30;
    assert_int_equal(engine_input_try(e, much, &in, &err), CUZK_BUDGET);
    assert_int_equal(engine_input_try(e, much / 2, &in, &err), CUZK_OK);
    assert_int_equal(engine_input_try(e, much / 2, &more, &err), CUZK_BUDGET_BUSY);
    engine_input_shrink(e, &in, 1000);
    assert_int_equal(engine_input_reserve(e, much / 2, 0, NULL, &more, &err), CUZK_OK);
    engine_input_release(e, &in);
    engine_input_release(e, &more);
    engine_stop_accepting(e);
    assert_int_equal(engine_input_try(e, 1, &in, &err), CUZK_STOPPING);
    engine_destroy(e);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

/* An argument: only the tests that match it. */
int main(int argc, char **argv) {
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    log_set(getenv("CUZK_TEST_LOG") != NULL ? LOG_LEVEL_DEBUG : LOG_LEVEL_ERROR, false);
    const struct CMUnitTest tests[] = {
        TEST(test_one_job),
        TEST(test_crowd),
        TEST(test_identity),
        TEST(test_twins),
        TEST(test_cancel),
        TEST(test_deadline_and_timeout),
        TEST(test_unwatch),
        TEST(test_refusals),
        TEST(test_input_check),
        TEST(test_queue_full),
        TEST(test_budget),
        TEST(test_config),
        TEST(test_crash),
        TEST(test_hang),
        TEST(test_always_crashes),
        TEST(test_invalid_once),
        TEST(test_invalid_twice),
        TEST(test_load_refused),
        TEST(test_preload_and_evict),
        TEST(test_taken_up_again),
        TEST(test_drain),
        TEST(test_results_are_bounded),
        TEST(test_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
