/* What flow.h promises, case by case; test_flow_model.c walks through every order. */
#include "unit/test_main.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flow.h"
#include "flow_internal.h"

static struct flow_config usual(unsigned permits, unsigned n_devices) {
    struct flow_config c = {.permits = permits, .critical_permits = 1, .n_devices = n_devices};
    for (unsigned d = 0; d < n_devices; d++) {
        c.workers[d] = 1;
        c.pendings[d] = 1;
    }
    return c;
}

/* All devices up, circuit 0 ready. */
static struct flow *make(const struct flow_config *c) {
    struct flow *f = NULL;
    assert_int_equal(flow_create(&f, c, NULL), CUZK_OK);
    for (unsigned d = 0; d < c->n_devices; d++)
        flow_device_up(f, d, true);
    flow_circuit_ready(f, 0, true);
    return f;
}

static void add(struct flow *f, uint64_t job, enum flow_priority priority, unsigned n) {
    assert_int_equal(flow_job_add(f, job, priority, n, 0, NULL, NULL), CUZK_OK);
}

static struct flow_task expect_synthesis(struct flow *f, uint64_t job, unsigned partition) {
    struct flow_task t = {0};
    assert_true(flow_next_synthesis(f, &t));
    assert_int_equal(t.job, job);
    assert_int_equal(t.partition, partition);
    assert_int_equal(flow_stage_of(f, &t), FLOW_SYNTHESIS);
    return t;
}

static void expect_no_synthesis(struct flow *f) {
    struct flow_task t;
    assert_false(flow_next_synthesis(f, &t));
}

static struct flow_task expect_start(struct flow *f, unsigned device, uint64_t job,
                                     unsigned partition) {
    struct flow_task t = {0};
    assert_true(flow_next_start(f, device, &t));
    assert_int_equal(t.job, job);
    assert_int_equal(t.partition, partition);
    assert_int_equal(flow_stage_of(f, &t), FLOW_START);
    return t;
}

static void expect_no_start(struct flow *f, unsigned device) {
    struct flow_task t;
    assert_false(flow_next_start(f, device, &t));
}

static struct flow_task make_ready(struct flow *f, uint64_t job, unsigned partition) {
    const struct flow_task t = expect_synthesis(f, job, partition);
    assert_int_equal(flow_synthesized(f, &t, true), FLOW_GOES_ON);
    return t;
}

static struct flow_task bring_to_start(struct flow *f, uint64_t job, unsigned device) {
    make_ready(f, job, 0);
    return expect_start(f, device, job, 0);
}

static struct flow_task bring_to_verify(struct flow *f, uint64_t job, unsigned device) {
    const struct flow_task t = bring_to_start(f, job, device);
    assert_int_equal(flow_started(f, &t), FLOW_GOES_ON);
    assert_int_equal(flow_finished(f, &t), FLOW_GOES_ON);
    assert_int_equal(flow_stage_of(f, &t), FLOW_VERIFY);
    return t;
}

/* ---- the way of a partition ---- */

static void a_partition_goes_through_all_stages(void **state) {
    (void)state;
    const struct flow_config c = usual(1, 1);
    struct flow *f = make(&c);
    add(f, 7, FLOW_NORMAL, 1);
    const struct flow_task t = expect_synthesis(f, 7, 0);
    assert_int_equal(t.attempt, 0);
    assert_int_equal(flow_count(f).permits_taken, 1);
    assert_int_equal(flow_count(f).witnesses, 1);
    assert_int_equal(flow_synthesized(f, &t, true), FLOW_GOES_ON);
    assert_int_equal(flow_count(f).permits_taken, 1);
    expect_start(f, 0, 7, 0);
    assert_int_equal(flow_count(f).permits_taken, 0);
    assert_int_equal(flow_count(f).witnesses, 1);
    assert_int_equal(flow_started(f, &t), FLOW_GOES_ON);
    assert_int_equal(flow_count(f).witnesses, 0);
    assert_int_equal(flow_count(f).on_device[0], 1);
    assert_int_equal(flow_finished(f, &t), FLOW_GOES_ON);
    assert_int_equal(flow_count(f).on_device[0], 0);
    assert_int_equal(flow_job_state(f, 7), FLOW_JOB_RUNNING);
    assert_int_equal(flow_verified(f, &t, true), FLOW_JOB_DONE);
    assert_int_equal(flow_job_state(f, 7), FLOW_JOB_OVER);
    assert_int_equal(flow_count(f).stage[FLOW_DONE], 1);
    assert_int_equal(flow_count(f).most_witnesses, 1);
    flow_check(f);
    flow_job_remove(f, 7);
    assert_int_equal(flow_count(f).stage[FLOW_DONE], 0);
    assert_int_equal(flow_count(f).jobs, 0);
    flow_check(f);
    flow_destroy(f);
}

static void permits_and_devices_bound_what_is_held(void **state) {
    (void)state;
    const struct flow_config c = usual(2, 1);
    struct flow *f = make(&c);
    add(f, 1, FLOW_NORMAL, 8);
    make_ready(f, 1, 0);
    make_ready(f, 1, 1);
    expect_no_synthesis(f); /* two permits, both in READY */
    struct flow_task t = expect_start(f, 0, 1, 0);
    expect_no_start(f, 0); /* one worker */
    make_ready(f, 1, 2);
    expect_no_synthesis(f);
    assert_int_equal(flow_count(f).witnesses, 3);
    assert_int_equal(flow_started(f, &t), FLOW_GOES_ON);
    expect_start(f, 0, 1, 1);
    t.partition = 1;
    assert_int_equal(flow_started(f, &t), FLOW_GOES_ON);
    expect_no_start(f, 0); /* two proofs pend: worker + pending */
    assert_int_equal(flow_finished(f, &t), FLOW_GOES_ON);
    expect_start(f, 0, 1, 2);
    assert_true(flow_count(f).most_witnesses <= flow_max_witnesses(&c));
    assert_int_equal(flow_max_witnesses(&c), 2 + 1 + 1);
    flow_destroy(f);
}

static void proved_partitions_are_not_proved_again(void **state) {
    (void)state;
    const struct flow_config c = usual(4, 1);
    struct flow *f = make(&c);
    const bool done[3] = {true, false, true}, all[2] = {true, true};
    assert_int_equal(flow_job_add(f, 1, FLOW_NORMAL, 3, 0, done, NULL), CUZK_OK);
    assert_int_equal(flow_job_add(f, 2, FLOW_NORMAL, 2, 0, all, NULL), CUZK_OK);
    assert_int_equal(flow_job_state(f, 2), FLOW_JOB_OVER);
    const struct flow_task t = make_ready(f, 1, 1);
    expect_no_synthesis(f);
    expect_start(f, 0, 1, 1);
    assert_int_equal(flow_started(f, &t), FLOW_GOES_ON);
    assert_int_equal(flow_finished(f, &t), FLOW_GOES_ON);
    assert_int_equal(flow_verified(f, &t, true), FLOW_JOB_DONE);
    flow_destroy(f);
}

static void a_job_waits_for_its_circuit_and_for_a_device(void **state) {
    (void)state;
    const struct flow_config c = usual(4, 1);
    struct flow *f = make(&c);
    flow_device_up(f, 0, false);
    assert_int_equal(flow_job_add(f, 1, FLOW_CRITICAL, 2, 5, NULL, NULL), CUZK_OK);
    add(f, 2, FLOW_LOW, 1);
    make_ready(f, 2, 0); /* the CRITICAL job's circuit is not there */
    expect_no_synthesis(f);
    flow_circuit_ready(f, 5, true);
    make_ready(f, 1, 0);
    flow_circuit_ready(f, 5, false);
    expect_no_synthesis(f);
    expect_no_start(f, 0);
    flow_device_up(f, 0, true);
    expect_start(f, 0, 1, 0); /* what is READY goes on without the circuit */
    flow_destroy(f);
}

/* ---- order ---- */

static void higher_priority_then_older_then_lower_partition(void **state) {
    (void)state;
    const struct flow_config c = usual(8, 1);
    struct flow *f = make(&c);
    add(f, 50, FLOW_LOW, 1);
    add(f, 40, FLOW_NORMAL, 2);
    add(f, 30, FLOW_NORMAL, 1);
    add(f, 20, FLOW_HIGH, 1);
    add(f, 10, FLOW_CRITICAL, 1);
    const uint64_t order[][2] = {{10, 0}, {20, 0}, {40, 0}, {40, 1}, {30, 0}, {50, 0}};
    struct flow_task t[6];
    for (unsigned i = 0; i < 6; i++)
        t[i] = expect_synthesis(f, order[i][0], (unsigned)order[i][1]);
    for (unsigned i = 6; i-- > 0;)
        assert_int_equal(flow_synthesized(f, &t[i], true), FLOW_GOES_ON);
    for (unsigned i = 0; i < 6; i++) { /* the same order at the device, whichever was ready first */
        expect_start(f, 0, order[i][0], (unsigned)order[i][1]);
        assert_int_equal(flow_started(f, &t[i]), FLOW_GOES_ON);
        assert_int_equal(flow_finished(f, &t[i]), FLOW_GOES_ON);
    }
    flow_destroy(f);
}

static void a_critical_job_finds_a_permit_in_a_crowd(void **state) {
    (void)state;
    const struct flow_config c = usual(2, 1);
    struct flow *f = make(&c);
    add(f, 1, FLOW_HIGH, 9);
    make_ready(f, 1, 0);
    make_ready(f, 1, 1);
    expect_no_synthesis(f);
    add(f, 2, FLOW_CRITICAL, 2);
    make_ready(f, 2, 0);
    expect_no_synthesis(f); /* the kept permit is out */
    expect_start(f, 0, 2, 0);
    make_ready(f, 2, 1); /* and back, for the same job only */
    add(f, 3, FLOW_CRITICAL, 1);
    expect_no_synthesis(f);
    flow_check(f);
    flow_destroy(f);
}

/* The LOW job must go on although there is always a HIGH one that waits. Returns the number of HIGH
 * partitions begun before the LOW job was over; gives up at `limit`. */
static unsigned stream_of_high_jobs(unsigned age_after, unsigned permits, unsigned limit) {
    struct flow_config c = usual(permits, 1);
    c.age_after = age_after;
    struct flow *f = make(&c);
    add(f, 1, FLOW_LOW, 2);
    uint64_t next = 2;
    unsigned begun = 0;
    while (begun < limit && flow_job_state(f, 1) == FLOW_JOB_RUNNING) {
        while (flow_count(f).stage[FLOW_PENDING] < 5)
            add(f, next++, FLOW_HIGH, 2);
        struct flow_task t;
        while (flow_next_synthesis(f, &t)) {
            begun += t.job != 1;
            assert_int_equal(flow_synthesized(f, &t, true), FLOW_GOES_ON);
        }
        assert_true(flow_next_start(f, 0, &t));
        assert_int_equal(flow_started(f, &t), FLOW_GOES_ON);
        assert_int_equal(flow_finished(f, &t), FLOW_GOES_ON);
        const enum flow_outcome o = flow_verified(f, &t, true);
        if (o == FLOW_JOB_DONE && t.job != 1) flow_job_remove(f, t.job);
        flow_check(f);
    }
    flow_destroy(f);
    return begun;
}

static void ageing_lets_low_jobs_through(void **state) {
    (void)state;
    for (unsigned permits = 1; permits <= 4; permits++) {
        /* Without ageing the LOW job never ends, so the test can fail. */
        assert_int_equal(stream_of_high_jobs(0, permits, 500), 500);
        /* Two partitions, each two steps of 3 in line and at most two more in READY. */
        const unsigned begun = stream_of_high_jobs(3, permits, 500);
        assert_in_range(begun, 2 * 6, 2 * (6 + 6) + 4 * permits);
    }
}

static void a_queue_of_low_jobs_does_not_rise_as_a_whole(void **state) {
    (void)state;
    struct flow_config c = usual(1, 1);
    c.age_after = 2;
    struct flow *f = make(&c);
    for (uint64_t j = 100; j < 150; j++)
        add(f, j, FLOW_LOW, 1);
    add(f, 1, FLOW_HIGH, 40);
    unsigned low = 0, high = 0;
    while (high < 40) {
        struct flow_task t, s;
        assert_true(flow_next_synthesis(f, &t));
        *(t.job == 1 ? &high : &low) += 1;
        assert_int_equal(flow_synthesized(f, &t, true), FLOW_GOES_ON);
        assert_true(flow_next_start(f, 0, &s));
        assert_int_equal(flow_started(f, &s), FLOW_GOES_ON);
        assert_int_equal(flow_finished(f, &s), FLOW_GOES_ON);
    }
    assert_int_equal(low, 9); /* one after each four HIGH ones */
    flow_destroy(f);
}

static void ageing_never_reaches_critical(void **state) {
    (void)state;
    struct flow_config c = usual(1, 1);
    c.age_after = 1;
    c.critical_permits = 0;
    struct flow *f = make(&c);
    add(f, 1, FLOW_LOW, 1);
    add(f, 2, FLOW_CRITICAL, 30);
    for (unsigned i = 0; i < 30; i++) {
        const struct flow_task t = make_ready(f, 2, i);
        expect_start(f, 0, 2, i);
        assert_int_equal(flow_started(f, &t), FLOW_GOES_ON);
        assert_int_equal(flow_finished(f, &t), FLOW_GOES_ON);
    }
    make_ready(f, 1, 0);
    flow_destroy(f);
}

static void take_and_finish(struct flow *f, uint64_t job) {
    const struct flow_task t = expect_start(f, 0, job, 0);
    assert_int_equal(flow_started(f, &t), FLOW_GOES_ON);
    assert_int_equal(flow_finished(f, &t), FLOW_GOES_ON);
}

static void ready_partitions_age_and_begin_anew_when_ready_again(void **state) {
    (void)state;
    struct flow_config c = usual(9, 1);
    c.age_after = 2;
    struct flow *f = make(&c);
    add(f, 1, FLOW_LOW, 1);
    make_ready(f, 1, 0);
    for (uint64_t j = 2; j < 6; j++) { /* four go first: two steps, and it is the oldest HIGH one */
        add(f, j, FLOW_HIGH, 1);
        make_ready(f, j, 0);
        take_and_finish(f, j);
    }
    add(f, 6, FLOW_HIGH, 1);
    make_ready(f, 6, 0);
    const struct flow_task low = expect_start(f, 0, 1, 0);
    assert_int_equal(flow_device_refused(f, &low), FLOW_AGAIN);
    make_ready(f, 1, 0); /* LOW again */
    take_and_finish(f, 6);
    add(f, 7, FLOW_NORMAL, 1);
    make_ready(f, 7, 0);
    take_and_finish(f, 7);
    take_and_finish(f, 1);
    flow_destroy(f);
}

/* ---- cancel and failure ---- */

/* Takes partition 0 of job 1 to the stage. */
static struct flow_task bring_to(struct flow *f, enum flow_stage stage) {
    struct flow_task t = {.job = 1};
    if (stage >= FLOW_SYNTHESIS) t = expect_synthesis(f, 1, 0);
    if (stage >= FLOW_READY) assert_int_equal(flow_synthesized(f, &t, true), FLOW_GOES_ON);
    if (stage >= FLOW_START) expect_start(f, 0, 1, 0);
    if (stage >= FLOW_FINISH) assert_int_equal(flow_started(f, &t), FLOW_GOES_ON);
    if (stage >= FLOW_VERIFY) assert_int_equal(flow_finished(f, &t), FLOW_GOES_ON);
    assert_int_equal(flow_stage_of(f, &t), stage);
    return t;
}

static enum flow_outcome next_event(struct flow *f, const struct flow_task *t) {
    switch (flow_stage_of(f, t)) {
    case FLOW_SYNTHESIS:
        return flow_synthesized(f, t, true);
    case FLOW_START:
        return flow_started(f, t);
    case FLOW_FINISH:
        return flow_finished(f, t);
    case FLOW_VERIFY:
        return flow_verified(f, t, true);
    default:
        fail_msg("no event in stage %d", (int)flow_stage_of(f, t));
        return FLOW_DROP;
    }
}

static void cancel_gives_all_back_in_each_stage(void **state) {
    (void)state;
    for (int s = FLOW_PENDING; s <= FLOW_VERIFY; s++) {
        const struct flow_config c = usual(2, 1);
        struct flow *f = make(&c);
        add(f, 1, FLOW_NORMAL, 3);
        const struct flow_task t = bring_to(f, (enum flow_stage)s);
        assert_false(flow_job_cancelled(f, 1));
        flow_job_cancel(f, 1);
        flow_job_cancel(f, 1);
        assert_true(flow_job_cancelled(f, 1));
        expect_no_synthesis(f);
        expect_no_start(f, 0);
        if (s == FLOW_PENDING || s == FLOW_READY) {
            assert_int_equal(flow_stage_of(f, &t), FLOW_DROPPED);
        } else {
            assert_int_equal(flow_job_state(f, 1), FLOW_JOB_RUNNING);
            assert_int_equal(next_event(f, &t), FLOW_DROP);
        }
        assert_int_equal(flow_job_state(f, 1), FLOW_JOB_OVER);
        assert_int_equal(flow_count(f).stage[FLOW_DROPPED], 3);
        assert_int_equal(flow_count(f).permits_taken, 0);
        assert_int_equal(flow_count(f).witnesses, 0);
        assert_int_equal(flow_count(f).on_device[0], 0);
        flow_check(f);
        flow_job_remove(f, 1);
        flow_destroy(f);
    }
}

static void bad_events_of_a_cancelled_job_do_not_fail_it(void **state) {
    (void)state;
    const struct flow_config c = usual(2, 1);
    struct flow *f = make(&c);
    for (int s = FLOW_SYNTHESIS; s <= FLOW_VERIFY; s++) {
        if (s == FLOW_READY) continue;
        add(f, 1, FLOW_NORMAL, 1);
        const struct flow_task t = bring_to(f, (enum flow_stage)s);
        flow_job_cancel(f, 1);
        enum flow_outcome o = FLOW_GOES_ON;
        if (s == FLOW_SYNTHESIS) o = flow_synthesized(f, &t, false);
        if (s == FLOW_START || s == FLOW_FINISH) o = flow_device_refused(f, &t);
        if (s == FLOW_VERIFY) o = flow_verified(f, &t, false);
        assert_int_equal(o, FLOW_DROP);
        flow_job_remove(f, 1);
    }
    flow_destroy(f);
}

static void a_failed_synthesis_fails_the_job_once(void **state) {
    (void)state;
    const struct flow_config c = usual(4, 1);
    struct flow *f = make(&c);
    add(f, 1, FLOW_NORMAL, 4);
    const struct flow_task ready = make_ready(f, 1, 0);
    const struct flow_task a = expect_synthesis(f, 1, 1), b = expect_synthesis(f, 1, 2);
    assert_int_equal(flow_synthesized(f, &a, false), FLOW_JOB_FAILED);
    assert_true(flow_job_cancelled(f, 1));
    assert_int_equal(flow_stage_of(f, &ready), FLOW_DROPPED);
    assert_int_equal(flow_job_state(f, 1), FLOW_JOB_RUNNING);
    assert_int_equal(flow_synthesized(f, &b, false), FLOW_DROP); /* not failed twice */
    assert_int_equal(flow_job_state(f, 1), FLOW_JOB_OVER);
    assert_int_equal(flow_count(f).witnesses, 0);
    flow_destroy(f);
}

static void an_ended_job_is_not_cancelled(void **state) {
    (void)state;
    const struct flow_config c = usual(1, 1);
    struct flow *f = make(&c);
    add(f, 1, FLOW_NORMAL, 1);
    const struct flow_task t = bring_to_verify(f, 1, 0);
    assert_int_equal(flow_verified(f, &t, true), FLOW_JOB_DONE);
    flow_job_cancel(f, 1);
    assert_false(flow_job_cancelled(f, 1));
    assert_int_equal(flow_stage_of(f, &t), FLOW_DONE);
    flow_job_cancel(f, 99);
    assert_true(flow_job_cancelled(f, 99));
    assert_int_equal(flow_job_state(f, 99), FLOW_JOB_OVER);
    flow_job_remove(f, 99);
    flow_destroy(f);
}

/* ---- devices ---- */

struct heard {
    unsigned n;
    struct flow_task task[4];
    enum flow_outcome outcome[4];
};

static void hear(void *ctx, const struct flow_task *task, enum flow_outcome o) {
    struct heard *h = ctx;
    assert_true(h->n < 4);
    h->task[h->n] = *task;
    h->outcome[h->n++] = o;
}

static void a_lost_device_gives_its_partitions_back(void **state) {
    (void)state;
    const struct flow_config c = usual(3, 2);
    struct flow *f = make(&c);
    add(f, 1, FLOW_NORMAL, 3);
    const struct flow_task a = make_ready(f, 1, 0), b = make_ready(f, 1, 1);
    const struct flow_task other = make_ready(f, 1, 2);
    expect_start(f, 0, 1, 0);
    assert_int_equal(flow_started(f, &a), FLOW_GOES_ON);
    expect_start(f, 0, 1, 1);
    expect_start(f, 1, 1, 2);
    struct heard h = {0};
    flow_device_lost(f, 0, hear, &h);
    assert_int_equal(h.n, 2);
    assert_int_equal(h.outcome[0], FLOW_AGAIN);
    assert_int_equal(h.outcome[1], FLOW_AGAIN);
    assert_int_equal(h.task[1].partition, 1);
    assert_int_equal(flow_stage_of(f, &a), FLOW_PENDING);
    assert_int_equal(flow_stage_of(f, &b), FLOW_PENDING);
    assert_int_equal(flow_stage_of(f, &other), FLOW_START);
    assert_int_equal(flow_count(f).on_device[0], 0);
    /* A worker of the lost device that reports late changes nothing, even when the partition has
     * come to the same stage again. */
    assert_int_equal(flow_started(f, &b), FLOW_DROP);
    assert_int_equal(make_ready(f, 1, 0).attempt, 1);
    const struct flow_task b2 = make_ready(f, 1, 1);
    expect_no_start(f, 0);
    flow_device_up(f, 0, true);
    expect_start(f, 0, 1, 0);
    assert_int_equal(flow_started(f, &a), FLOW_DROP);
    assert_int_equal(flow_device_refused(f, &a), FLOW_DROP);
    assert_int_equal(flow_stage_of(f, &a), FLOW_START);
    assert_int_equal(b2.attempt, 1);
    flow_check(f);
    flow_destroy(f);
}

static void a_partition_lost_twice_fails_its_job(void **state) {
    (void)state;
    const struct flow_config c = usual(2, 1);
    struct flow *f = make(&c);
    add(f, 1, FLOW_NORMAL, 2);
    for (unsigned i = 0; i < 2; i++) {
        bring_to_start(f, 1, 0);
        struct heard h = {0};
        flow_device_lost(f, 0, hear, &h);
        assert_int_equal(h.n, 1);
        assert_int_equal(h.task[0].attempt, i);
        assert_int_equal(h.outcome[0], i == 0 ? FLOW_AGAIN : FLOW_JOB_FAILED);
        flow_device_up(f, 0, true);
    }
    assert_int_equal(flow_job_state(f, 1), FLOW_JOB_OVER);
    expect_no_synthesis(f);
    flow_check(f);
    flow_destroy(f);
}

static void one_loss_can_fail_a_job_of_which_more_was_there(void **state) {
    (void)state;
    struct flow_config c = usual(3, 1);
    c.workers[0] = 2;
    struct flow *f = make(&c);
    add(f, 1, FLOW_NORMAL, 2);
    for (unsigned i = 0; i < 2; i++) {
        make_ready(f, 1, 0);
        make_ready(f, 1, 1);
        expect_start(f, 0, 1, 0);
        expect_start(f, 0, 1, 1);
        struct heard h = {0};
        flow_device_lost(f, 0, hear, &h);
        assert_int_equal(h.n, 2);
        assert_int_equal(h.outcome[0], i == 0 ? FLOW_AGAIN : FLOW_JOB_FAILED);
        assert_int_equal(h.outcome[1], i == 0 ? FLOW_AGAIN : FLOW_DROP);
        flow_device_up(f, 0, true);
    }
    assert_int_equal(flow_job_state(f, 1), FLOW_JOB_OVER);
    flow_destroy(f);
}

static void a_refusal_counts_as_a_loss_and_goes_elsewhere(void **state) {
    (void)state;
    const struct flow_config c = usual(2, 2);
    struct flow *f = make(&c);
    add(f, 1, FLOW_NORMAL, 1);
    struct flow_task t = bring_to_start(f, 1, 0);
    assert_int_equal(flow_device_refused(f, &t), FLOW_AGAIN);
    make_ready(f, 1, 0);
    expect_no_start(f, 0);
    t = expect_start(f, 1, 1, 0);
    assert_int_equal(flow_started(f, &t), FLOW_GOES_ON);
    assert_int_equal(flow_device_refused(f, &t), FLOW_JOB_FAILED);
    assert_int_equal(flow_job_state(f, 1), FLOW_JOB_OVER);
    flow_destroy(f);
}

static void an_invalid_proof_is_made_again_on_another_device(void **state) {
    (void)state;
    const struct flow_config c = usual(2, 2);
    struct flow *f = make(&c);
    add(f, 1, FLOW_NORMAL, 2);
    const struct flow_task first = bring_to_verify(f, 1, 0);
    assert_int_equal(flow_verified(f, &first, false), FLOW_AGAIN);
    assert_int_equal(flow_verified(f, &first, true), FLOW_DROP);
    make_ready(f, 1, 0);
    make_ready(f, 1, 1);
    expect_start(f, 0, 1, 1); /* partition 0 is older but was invalid here */
    struct flow_task t = expect_start(f, 1, 1, 0);
    assert_int_equal(t.attempt, 1);
    assert_int_equal(flow_started(f, &t), FLOW_GOES_ON);
    assert_int_equal(flow_finished(f, &t), FLOW_GOES_ON);
    assert_int_equal(flow_verified(f, &t, false), FLOW_JOB_FAILED);
    assert_int_equal(flow_job_state(f, 1), FLOW_JOB_RUNNING); /* partition 1 is on device 0 */
    flow_device_lost(f, 0, NULL, NULL);
    assert_int_equal(flow_job_state(f, 1), FLOW_JOB_OVER);
    flow_check(f);
    flow_destroy(f);
}

static void an_invalid_proof_is_made_again_on_the_only_device(void **state) {
    (void)state;
    const struct flow_config c = usual(2, 2);
    struct flow *f = make(&c);
    add(f, 1, FLOW_NORMAL, 1);
    struct flow_task t = bring_to_verify(f, 1, 0);
    assert_int_equal(flow_verified(f, &t, false), FLOW_AGAIN);
    make_ready(f, 1, 0);
    expect_no_start(f, 0);
    flow_device_up(f, 1, false); /* the other one goes: it need not be waited for */
    t = expect_start(f, 0, 1, 0);
    assert_int_equal(flow_started(f, &t), FLOW_GOES_ON);
    assert_int_equal(flow_finished(f, &t), FLOW_GOES_ON);
    assert_int_equal(flow_verified(f, &t, true), FLOW_JOB_DONE);
    flow_destroy(f);
}

/* ---- permits that change, and the fault ---- */

static void lowered_permits_come_back_one_by_one(void **state) {
    (void)state;
    const struct flow_config c = usual(3, 1);
    struct flow *f = make(&c);
    add(f, 1, FLOW_NORMAL, 9);
    for (unsigned i = 0; i < 3; i++)
        make_ready(f, 1, i);
    flow_set_permits(f, 0); /* that is 1 */
    flow_check(f);
    for (unsigned i = 0; i < 3; i++) {
        const struct flow_task t = expect_start(f, 0, 1, i);
        if (i < 2) expect_no_synthesis(f);
        assert_int_equal(flow_started(f, &t), FLOW_GOES_ON);
        assert_int_equal(flow_finished(f, &t), FLOW_GOES_ON);
        flow_check(f);
    }
    make_ready(f, 1, 3);
    expect_no_synthesis(f);
    assert_int_equal(f->allowance, 1 + 1); /* what the invariant compares with has come down */
    flow_set_permits(f, 99);               /* the configuration's 3 */
    make_ready(f, 1, 4);
    make_ready(f, 1, 5);
    expect_no_synthesis(f);
    flow_check(f);
    flow_destroy(f);
}

/* Whether flow_check aborts. */
static bool check_aborts(const struct flow *f) {
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGABRT, SIG_DFL);
        flow_check(f);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void early_permits_pile_up_and_the_check_sees_it(void **state) {
    (void)state;
    struct flow_config c = usual(2, 1);
    c.early_permit = true;
    struct flow *f = make(&c);
    add(f, 1, FLOW_NORMAL, 20);
    for (unsigned i = 0; i < 3; i++)
        make_ready(f, 1, i);
    assert_false(check_aborts(f)); /* permits + critical_permits */
    for (unsigned i = 3; i < 20; i++)
        make_ready(f, 1, i);
    assert_int_equal(flow_count(f).stage[FLOW_READY], 20);
    assert_true(flow_count(f).most_witnesses > flow_max_witnesses(&c));
    assert_non_null(flow_broken(f));
    assert_true(check_aborts(f));
    flow_destroy(f);
}

static void wrong_configurations_and_jobs_are_refused(void **state) {
    (void)state;
    struct flow *f = NULL;
    struct flow_config c = usual(0, 1);
    assert_int_equal(flow_create(&f, &c, NULL), CUZK_CONFIG);
    c = usual(1, 0);
    assert_int_equal(flow_create(&f, &c, NULL), CUZK_CONFIG);
    c.n_devices = FLOW_MAX_DEVICES + 1;
    assert_int_equal(flow_create(&f, &c, NULL), CUZK_CONFIG);
    c = usual(1, 2);
    c.workers[1] = 0;
    struct cuzk_error err = {0};
    assert_int_equal(flow_create(&f, &c, &err), CUZK_CONFIG);
    assert_non_null(strstr(err.what, "device 1"));
    assert_null(f);
    c.workers[1] = 1;
    f = make(&c);
    const enum flow_priority n = FLOW_NORMAL;
    assert_int_equal(flow_job_add(f, 1, n, 0, 0, NULL, NULL), CUZK_INTERNAL);
    assert_int_equal(flow_job_add(f, 1, n, FLOW_MAX_PARTITIONS + 1, 0, NULL, NULL), CUZK_INTERNAL);
    assert_int_equal(flow_job_add(f, 1, n, 1, FLOW_MAX_CIRCUITS, NULL, NULL), CUZK_INTERNAL);
    assert_int_equal(flow_count(f).jobs, 0);
    for (uint64_t j = 0; j < 100; j++)
        add(f, j, n, FLOW_MAX_PARTITIONS);
    assert_int_equal(flow_count(f).stage[FLOW_PENDING], 100 * FLOW_MAX_PARTITIONS);
    flow_destroy(f);
    flow_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_partition_goes_through_all_stages),
        cmocka_unit_test(permits_and_devices_bound_what_is_held),
        cmocka_unit_test(proved_partitions_are_not_proved_again),
        cmocka_unit_test(a_job_waits_for_its_circuit_and_for_a_device),
        cmocka_unit_test(higher_priority_then_older_then_lower_partition),
        cmocka_unit_test(a_critical_job_finds_a_permit_in_a_crowd),
        cmocka_unit_test(ageing_lets_low_jobs_through),
        cmocka_unit_test(a_queue_of_low_jobs_does_not_rise_as_a_whole),
        cmocka_unit_test(ageing_never_reaches_critical),
        cmocka_unit_test(ready_partitions_age_and_begin_anew_when_ready_again),
        cmocka_unit_test(cancel_gives_all_back_in_each_stage),
        cmocka_unit_test(bad_events_of_a_cancelled_job_do_not_fail_it),
        cmocka_unit_test(a_failed_synthesis_fails_the_job_once),
        cmocka_unit_test(an_ended_job_is_not_cancelled),
        cmocka_unit_test(a_lost_device_gives_its_partitions_back),
        cmocka_unit_test(a_partition_lost_twice_fails_its_job),
        cmocka_unit_test(one_loss_can_fail_a_job_of_which_more_was_there),
        cmocka_unit_test(a_refusal_counts_as_a_loss_and_goes_elsewhere),
        cmocka_unit_test(an_invalid_proof_is_made_again_on_another_device),
        cmocka_unit_test(an_invalid_proof_is_made_again_on_the_only_device),
        cmocka_unit_test(lowered_permits_come_back_one_by_one),
        cmocka_unit_test(early_permits_pile_up_and_the_check_sees_it),
        cmocka_unit_test(wrong_configurations_and_jobs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
