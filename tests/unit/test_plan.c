#include "unit/test_main.h"

#include <pthread.h>
#include <sys/stat.h>

#include "c1.h"
#include "plan.h"
#include "pool.h"
#include "prover.h"

static const uint64_t mib = (uint64_t)1 << 20, gib = (uint64_t)1 << 30;

/* On a machine of sixteen processors. */
static struct plan_options options_for(const char *circuit) {
    return (struct plan_options){
        .circuit_ids = {circuit}, .n_circuits = 1, .cpus = 16, .limited_by = "the test"};
}

static struct plan plan_for(const struct plan_options *o) {
    struct plan p;
    struct cuzk_error err = {0};
    const cuzk_status s = plan_make(&p, o, &err);
    if (s != CUZK_OK) print_message("%s\n", err.what);
    assert_int_equal(s, CUZK_OK);
    return p;
}

static const struct plan_circuit *circuit(const char *id, unsigned threads) {
    const struct plan_circuit *c;
    assert_int_equal(plan_circuit_find(&c, id, threads, NULL), CUZK_OK);
    return c;
}

static uint64_t sum(const struct plan *p) {
    uint64_t n = 0;
    for (int i = 0; i < PLAN_TERMS; i++) {
        assert_int_equal(p->term[i].bytes, p->term[i].each * p->term[i].count);
        n += p->term[i].bytes;
    }
    return n;
}

/* ---- one circuit ---- */

static void in_mib(uint64_t bytes, double low, double high) {
    const double n = (double)bytes / (double)mib;
    if (n < low || n > high) print_message("%.1f MiB is not in %.1f to %.1f\n", n, low, high);
    assert_true(n >= low && n <= high);
}

/* From the counts that are published: 130,278,869 rows, 44.1 GiB of parameters in the file. */
static void the_32gib_circuit_has_the_figures_of_its_counts(void **state) {
    (void)state;
    const struct plan_circuit *c = circuit("porep-32g", 16);
    assert_int_equal(c->stats.n_rows, 130278869);
    assert_int_equal(c->log_n, 27);
    assert_int_equal(c->abc_bytes, UINT64_C(2) << (27 + 5)); /* two vectors of 32 bytes */
    assert_int_equal(c->max_partitions, 126);
    /* A bit for each variable, 32 bytes for those that are no bits. */
    const uint64_t bits = c->stats.n_aux / 8, elements = (uint64_t)c->stats.n_elements * 32;
    in_mib(bits, 15, 16.5);
    in_mib(elements, 50, 56);
    assert_in_range(c->witness_bytes, bits + elements, bits + elements + 4 * mib);
    /* h has 2^27 - 1 points, l one for each variable; a and b as many as the densities say. */
    const uint64_t n_g1 = (UINT64_C(1) << 27) + c->stats.n_aux + c->stats.a_aux_density +
                          c->stats.b_aux_density + c->stats.b_input_density;
    const uint64_t points = n_g1 * 96 + (uint64_t)c->stats.b_aux_density * 192;
    assert_in_range(c->srs_bytes, points, points + points / 50);
    /* The decoded input is the file's 18 challenges of 126 partitions. */
    in_mib(c->input_bytes, 100, 130);
    in_mib(c->message_bytes, 51.6 * 0.954, 62); /* a simulated one has 51.6 MB */
    /* What is kept for finish: scalars and bits of b. */
    assert_in_range(c->pending_bytes, c->stats.b_aux_density / 8, bits + elements + 4 * mib);
    in_mib(c->matrices_bytes, 1473768 / 1048576.0 + 45, 64);
}

/* Whatever a real key asks for, the bound from the counts is not below it, nor far above. */
static void a_small_circuit_holds_what_is_planned(void **state) {
    (void)state;
    const size_t before = mem_in_use(MEM_MATRICES);
    assert_int_equal(before, 0);
    struct r1cs *r;
    struct r1cs_stats stats;
    const struct plan_circuit *c = circuit("porep-2k", 4);
    const size_t peak = mem_high_water(MEM_MATRICES);
    assert_int_equal(mem_in_use(MEM_MATRICES), 0); /* the recorded system is not kept */
    assert_in_range(peak, 1, c->matrices_bytes + c->record_bytes);
    assert_int_equal(porep_record(c->shape, &r, NULL), CUZK_OK);
    assert_int_equal(r1cs_get_stats(r, &stats, NULL, NULL), CUZK_OK);
    const size_t held = mem_in_use(MEM_MATRICES);
    assert_in_range(held, c->matrices_bytes / 2, c->matrices_bytes);
    struct witness w;
    assert_int_equal(witness_create(&w, stats.n_inputs, stats.n_aux, stats.n_elements, NULL),
                     CUZK_OK);
    assert_int_equal(mem_in_use(MEM_WITNESS), c->witness_bytes);
    witness_destroy(&w);
    r1cs_destroy(r);
}

/* A real sector's text and what it decodes to are what is planned for them. */
static void a_real_sector_is_what_is_planned(void **state) {
    (void)state;
    static const char path[] = CUZK_FIXTURES "/porep/2KiB/c1.json";
    const struct plan_circuit *c = circuit("porep-2k", 4);
    struct c1 *c1;
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(c1_decode_file(&c1, path, NULL, NULL), CUZK_OK);
    assert_int_equal(c1_decoded_bytes(c1_registered(c1)), c1_bytes(c1));
    assert_in_range(c->input_bytes, c->max_partitions * c1_bytes(c1),
                    c->max_partitions * (c1_bytes(c1) + 4096));
    assert_in_range(st.st_size, c->message_bytes * 3 / 4, c->message_bytes);
    c1_destroy(c1);
}

struct finder {
    pthread_t thread;
    const struct plan_circuit *found;
    unsigned threads;
};

static void *find_it(void *arg) {
    struct finder *f = arg;
    if (plan_circuit_find(&f->found, "porep-4k", f->threads, NULL) != CUZK_OK) f->found = NULL;
    return NULL;
}

static void a_circuit_is_counted_once_whoever_asks(void **state) {
    (void)state;
    struct finder f[6] = {0};
    for (unsigned i = 0; i < 6; i++) {
        f[i].threads = 1 + i % 2;
        assert_int_equal(pthread_create(&f[i].thread, NULL, find_it, &f[i]), 0);
    }
    for (unsigned i = 0; i < 6; i++) {
        pthread_join(f[i].thread, NULL);
        assert_non_null(f[i].found);
    }
    for (unsigned i = 2; i < 6; i++)
        assert_ptr_equal(f[i].found, f[i % 2].found);
    assert_ptr_not_equal(f[0].found, f[1].found);
    assert_int_equal(f[0].found->srs_bytes, f[1].found->srs_bytes);
    assert_true(f[0].found->start_scratch_bytes < f[1].found->start_scratch_bytes);
}

/* ---- sums ---- */

static void the_peak_is_the_sum_of_its_terms(void **state) {
    (void)state;
    struct plan_options o = options_for("porep-2k");
    o.partition_workers = 5;
    o.device_workers = 2;
    o.pendings = 3;
    o.n_devices = 2;
    o.queued_jobs = 7;
    o.concurrent_messages = 4;
    o.max_message_bytes = 10 * mib;
    const struct plan p = plan_for(&o);
    const struct plan_circuit *c = circuit("porep-2k", 8);
    assert_int_equal(p.peak_bytes, sum(&p));
    assert_int_equal(p.device_worker_threads, 8);
    assert_int_equal(p.synthesis_threads, 3);
    assert_int_equal(p.term[PLAN_SRS].bytes, 2 * c->srs_bytes);
    assert_int_equal(p.term[PLAN_KEY_TABLES].bytes, 2 * c->key_other_bytes);
    assert_int_equal(p.term[PLAN_MATRICES].bytes, 3 * c->matrices_bytes);
    assert_int_equal(p.term[PLAN_INPUT].bytes, 7 * c->input_bytes);
    assert_int_equal(p.term[PLAN_MESSAGES].bytes, 40 * mib);
    assert_int_equal(p.term[PLAN_WITNESS].bytes, (5 + 4) * c->witness_bytes);
    assert_int_equal(p.term[PLAN_CRITICAL].bytes, c->witness_bytes);
    assert_int_equal(p.term[PLAN_ABC].bytes, 4 * c->abc_bytes);
    assert_int_equal(p.term[PLAN_PENDING].bytes, 6 * c->pending_bytes);
    assert_int_equal(p.term[PLAN_BASE_DEVICE].count, 2);
    assert_true(p.fits && !p.reduced && !p.sequential);
}

static void more_workers_take_more_memory(void **state) {
    (void)state;
    struct plan_options o = options_for("porep-2k");
    uint64_t before = 0;
    for (unsigned pw = 1; pw <= 40; pw++) {
        o.partition_workers = pw;
        const struct plan p = plan_for(&o);
        assert_int_equal(p.partition_workers, pw);
        assert_true(p.peak_bytes > before);
        before = p.peak_bytes;
    }
    o.partition_workers = 4;
    before = 0;
    for (unsigned gw = 1; gw <= 20; gw++) {
        o.device_workers = gw;
        const struct plan p = plan_for(&o);
        assert_true(p.peak_bytes >= before + circuit("porep-2k", 1)->abc_bytes / 2);
        before = p.peak_bytes;
    }
}

static void circuits_share_slots_and_add_up_their_keys(void **state) {
    (void)state;
    struct plan_options one = options_for("porep-2k"), other = options_for("porep-16k"),
                        both = options_for("porep-2k");
    both.circuit_ids[1] = "porep-16k";
    both.circuit_ids[2] = "porep-2k"; /* once more is the same */
    both.n_circuits = 3;
    const struct plan a = plan_for(&one), b = plan_for(&other), ab = plan_for(&both);
    assert_int_equal(ab.term[PLAN_SRS].bytes, a.term[PLAN_SRS].bytes + b.term[PLAN_SRS].bytes);
    assert_int_equal(ab.term[PLAN_MATRICES].bytes,
                     a.term[PLAN_MATRICES].bytes + b.term[PLAN_MATRICES].bytes);
    const enum plan_term_kind slots[] = {PLAN_INPUT, PLAN_WITNESS, PLAN_ABC, PLAN_PENDING};
    for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++) {
        const uint64_t x = a.term[slots[i]].bytes, y = b.term[slots[i]].bytes;
        assert_int_equal(ab.term[slots[i]].bytes, x > y ? x : y);
    }
}

static void one_at_a_time_holds_one_of_each(void **state) {
    (void)state;
    struct plan_options o = options_for("porep-2k");
    o.sequential = true;
    o.partition_workers = 10;
    const struct plan p = plan_for(&o);
    assert_true(p.sequential && p.fits && !p.reduced);
    assert_int_equal(p.term[PLAN_WITNESS].count, 1);
    assert_int_equal(p.term[PLAN_CRITICAL].count, 0);
    assert_int_equal(p.term[PLAN_ABC].count, 1);
    assert_int_equal(p.term[PLAN_PENDING].count, 0);
    assert_int_equal(p.term[PLAN_INPUT].count, 1);
    assert_int_equal(p.peak_bytes, p.smallest_bytes);
}

/* ---- budgets ---- */

/* Where it stands on the way down; grows with every reduction. */
static unsigned rung(const struct plan *p, const struct plan *asked) {
    if (p->sequential) return 5;
    if (p->device_workers < asked->device_workers) return 4;
    if (p->pendings < asked->pendings) return 3;
    if (p->partition_workers < asked->partition_workers) return 2;
    return p->queued_jobs < asked->queued_jobs ? 1 : 0;
}

static void reductions_come_in_their_order(void **state) {
    (void)state;
    struct plan_options o = options_for("porep-2k");
    o.partition_workers = 6;
    o.device_workers = 3;
    o.pendings = 2;
    o.queued_jobs = 40;
    const struct plan asked = plan_for(&o);
    unsigned last = 0, seen = 1;
    const uint64_t step = 16 << 10;
    for (uint64_t budget = asked.peak_bytes; budget >= asked.smallest_bytes; budget -= step) {
        o.budget_bytes = budget;
        const struct plan p = plan_for(&o);
        assert_true(p.fits && p.peak_bytes <= budget && p.peak_bytes == sum(&p));
        const unsigned now = rung(&p, &asked);
        assert_true(now >= last);
        seen |= 1u << now;
        last = now;
        if (now >= 2 && !p.sequential) assert_int_equal(p.queued_jobs, 1);
        if (now >= 3 && !p.sequential) assert_int_equal(p.partition_workers, 1);
        if (now >= 4 && !p.sequential) assert_int_equal(p.pendings, 0);
        assert_int_equal(p.reduced, now >= 2 && now != 3 ? true : p.partition_workers < 6);
        assert_int_equal(p.asked_partition_workers, 6);
    }
    assert_int_equal(seen, 0x3f); /* every rung was met */
}

static void smallest_and_next_are_exact(void **state) {
    (void)state;
    const char *const ids[] = {"porep-2k", "porep-32g"};
    for (size_t i = 0; i < 2; i++) {
        struct plan_options o = options_for(ids[i]);
        struct plan p;
        struct cuzk_error err;
        o.partition_workers = 3;
        const uint64_t smallest = plan_for(&o).smallest_bytes;
        o.budget_bytes = smallest;
        p = plan_for(&o);
        assert_true(p.sequential && p.reduced);
        o.budget_bytes = smallest - 1;
        assert_int_equal(plan_make(&p, &o, &err), CUZK_BUDGET);
        assert_false(p.fits);
        assert_int_equal(p.peak_bytes, smallest);
        assert_int_equal(p.smallest_bytes, smallest);
        /* One worker after the other, each at exactly the budget that was named for it. */
        o.budget_bytes = smallest;
        for (unsigned workers = 1; workers <= 3; workers++) {
            const uint64_t next = plan_for(&o).next_bytes;
            o.budget_bytes = next - 1;
            p = plan_for(&o);
            assert_int_equal(p.sequential ? 0 : p.partition_workers, workers - 1);
            o.budget_bytes = next;
            p = plan_for(&o);
            assert_false(p.sequential);
            assert_int_equal(p.partition_workers, workers);
            assert_non_null(strstr(p.bottleneck, workers < 3 ? "memory" : "proving"));
        }
    }
}

static void what_never_fits_is_refused_with_the_sum(void **state) {
    (void)state;
    struct plan_options o = options_for("porep-32g");
    struct plan p;
    struct cuzk_error err = {0};
    o.budget_bytes = 40 * gib;
    snprintf(o.limited_by, sizeof o.limited_by, "cgroup /x/y memory.max");
    assert_int_equal(plan_make(&p, &o, &err), CUZK_BUDGET);
    print_message("%s: %s\n", err.what, err.hint);
    assert_true(strncmp(err.what, "needs ", 6) == 0);
    assert_non_null(strstr(err.what, " GiB (srs "));
    assert_non_null(strstr(err.what, "a, b, c 8.000"));
    assert_non_null(strstr(err.what, "budget is 40.0 GiB, limited by cgroup /x/y memory.max"));
    assert_non_null(strstr(err.hint, "allow "));
    assert_false(p.fits);
    assert_true(p.peak_bytes > o.budget_bytes);
}

static void options_that_make_no_sense_are_refused(void **state) {
    (void)state;
    struct plan p;
    struct plan_options o = options_for("porep-3k");
    assert_int_equal(plan_make(&p, &o, NULL), CUZK_USAGE);
    o = options_for("winning-2k");
    assert_int_equal(plan_make(&p, &o, NULL), CUZK_UNSUPPORTED);
    o = options_for("porep-2k");
    o.n_circuits = 0;
    assert_int_equal(plan_make(&p, &o, NULL), CUZK_USAGE);
    o = options_for("porep-2k");
    o.partition_workers = 5000;
    assert_int_equal(plan_make(&p, &o, NULL), CUZK_USAGE);
}

static void the_texts_hold_every_term(void **state) {
    (void)state;
    struct plan_options o = options_for("porep-2k");
    o.budget_bytes = 100 * gib;
    const struct plan p = plan_for(&o);
    char table[4096], json[8192], cut[100];
    const int n = plan_print(&p, &o, table, sizeof table);
    assert_int_equal(n, strlen(table));
    assert_int_equal(plan_print(&p, &o, cut, sizeof cut), n);
    assert_memory_equal(cut, table, sizeof cut - 1);
    const int n_json = plan_print_json(&p, &o, json, sizeof json);
    assert_int_equal(n_json, strlen(json));
    for (int i = 0; i < PLAN_TERMS; i++) {
        assert_non_null(strstr(table, plan_term_name((enum plan_term_kind)i)));
        assert_non_null(strstr(json, plan_term_name((enum plan_term_kind)i)));
    }
    assert_non_null(strstr(table, "limited by the test: fits"));
    char peak[64];
    snprintf(peak, sizeof peak, "\"peak_bytes\": %llu", (unsigned long long)p.peak_bytes);
    assert_non_null(strstr(json, peak));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_circuit_holds_what_is_planned), /* first: it looks at peaks */
        cmocka_unit_test(a_real_sector_is_what_is_planned),
        cmocka_unit_test(a_circuit_is_counted_once_whoever_asks),
        cmocka_unit_test(the_32gib_circuit_has_the_figures_of_its_counts),
        cmocka_unit_test(the_peak_is_the_sum_of_its_terms),
        cmocka_unit_test(more_workers_take_more_memory),
        cmocka_unit_test(circuits_share_slots_and_add_up_their_keys),
        cmocka_unit_test(one_at_a_time_holds_one_of_each),
        cmocka_unit_test(reductions_come_in_their_order),
        cmocka_unit_test(smallest_and_next_are_exact),
        cmocka_unit_test(what_never_fits_is_refused_with_the_sum),
        cmocka_unit_test(options_that_make_no_sense_are_refused),
        cmocka_unit_test(the_texts_hold_every_term),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
