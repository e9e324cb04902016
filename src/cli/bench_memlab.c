#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "command.h"
#include "memlab.h"
#include "options.h"
#include "svg_plot.h"

/* ---- what is compared ---- */

struct scenario {
    const char *name;
    bool early_permit, late_abc, use_malloc, trim;
    unsigned arenas;
};

static const struct scenario scenarios[] = {
    {.name = "none (ours)"},
    {.name = "early permit", .early_permit = true},
    {.name = "late a, b, c", .late_abc = true},
    {.name = "malloc, many arenas", .use_malloc = true},
    {.name = "malloc, 1 arena", .use_malloc = true, .arenas = 1},
    {.name = "malloc, trimmed", .use_malloc = true, .trim = true},
    {.name = "all", .early_permit = true, .late_abc = true, .use_malloc = true},
};
enum { N_SCENARIOS = sizeof scenarios / sizeof scenarios[0], MAX_SWEEP = 4 };

struct memlab_options {
    struct option_u64 scale, time_scale, pw, gw, jobs, proofs, slow;
    const char *svg;
    bool no_sweep;
};

struct run {
    struct memlab_setup setup;
    struct memlab_result result;
};

static void apply(struct memlab_setup *setup, const struct scenario *s) {
    setup->early_permit = s->early_permit;
    setup->late_abc = s->late_abc;
    setup->use_malloc = s->use_malloc;
    setup->trim = s->trim;
    setup->arenas = s->arenas;
}

static double gib(uint64_t bytes, uint64_t scale) {
    return (double)bytes * (double)scale / (double)((uint64_t)1 << 30);
}

static void print_head(const char *first) {
    printf("%-22s %10s %10s %10s %9s %10s %10s\n", first, "peak RSS", "peak live", "end RSS",
           "waiting", "in memory", "s/proof");
}

static void print_run(const char *name, const struct run *r, const struct memlab_options *o) {
    const struct memlab_result *m = &r->result;
    const uint64_t n = o->scale.value;
    printf("%-22s %10.1f %10.1f %10.1f %9u %10u %10.1f\n", name, gib(m->peak_rss_bytes, n),
           gib(m->peak_live_bytes, n), gib(m->end_rss_bytes, n), m->most_waiting, m->most_witnesses,
           m->seconds * (double)o->time_scale.value / m->n_proofs);
    fflush(stdout);
}

static cuzk_status run_one(struct run *r, const struct memlab_setup *base, const struct scenario *s,
                           unsigned pw, struct cuzk_error *err) {
    r->setup = *base;
    r->setup.partition_workers = pw;
    apply(&r->setup, s);
    return memlab_run(&r->result, &r->setup, err);
}

/* ---- the picture ---- */

struct line {
    double x[MEMLAB_SAMPLES], rss[MEMLAB_SAMPLES], waiting[MEMLAB_SAMPLES];
};

static void line_of(struct line *l, const struct run *r, const struct memlab_options *o) {
    for (size_t i = 0; i < r->result.n_samples; i++) {
        const struct memlab_sample *s = &r->result.samples[i];
        l->x[i] = s->seconds * (double)o->time_scale.value;
        l->rss[i] = gib(s->rss_bytes, o->scale.value);
        l->waiting[i] = s->waiting;
    }
}

static cuzk_status draw(const struct run *runs, const struct memlab_options *o,
                        struct cuzk_error *err) {
    struct line *lines = calloc(N_SCENARIOS, sizeof *lines);
    if (lines == NULL) return error_set(err, CUZK_NO_MEMORY, "memlab", NULL, "no memory");
    struct svg_chart charts[2] = {
        {.title = "Resident memory, each fault alone, all, none",
         .x_label = "seconds (as at full size)",
         .y_label = "GiB (as at full size)"},
        {.title = "Partitions that are synthesized and wait for the device",
         .x_label = "seconds (as at full size)",
         .y_label = "partitions"},
    };
    for (size_t i = 0; i < N_SCENARIOS; i++) {
        line_of(&lines[i], &runs[i], o);
        const size_t n = runs[i].result.n_samples;
        charts[0].series[i] = (struct svg_series){scenarios[i].name, lines[i].x, lines[i].rss, n};
        charts[1].series[i] =
            (struct svg_series){scenarios[i].name, lines[i].x, lines[i].waiting, n};
    }
    charts[0].n_series = charts[1].n_series = N_SCENARIOS;
    const cuzk_status s = svg_write(o->svg, charts, 2, err);
    free(lines);
    if (s == CUZK_OK) printf("\n%s\n", o->svg);
    return s;
}

/* ---- the runs ---- */

static cuzk_status compare(struct run *runs, const struct memlab_setup *base,
                           const struct memlab_options *o, struct cuzk_error *err) {
    print_head("fault");
    for (size_t i = 0; i < N_SCENARIOS; i++) {
        CUZK_TRY(run_one(&runs[i], base, &scenarios[i], base->partition_workers, err));
        print_run(scenarios[i].name, &runs[i], o);
    }
    printf("planned for ours: %.1f GiB beside the program\n\n",
           gib(runs[0].result.planned_bytes, o->scale.value));
    return CUZK_OK;
}

/* Waiting partitions against the number of synthesis workers, in the old order and in ours. */
static cuzk_status sweep(struct run *scratch, const struct memlab_setup *base,
                         const struct memlab_options *o, struct cuzk_error *err) {
    static const unsigned workers[MAX_SWEEP] = {4, 8, 12, 16};
    print_head("pw, order");
    for (size_t i = 0; i < MAX_SWEEP; i++)
        for (size_t k = 0; k < 2; k++) {
            char name[32];
            snprintf(name, sizeof name, "%u, %s", workers[i], k == 0 ? "ours" : "early permit");
            CUZK_TRY(run_one(scratch, base, &scenarios[k], workers[i], err));
            print_run(name, scratch, o);
        }
    return CUZK_OK;
}

static cuzk_status check(const struct memlab_options *o, struct cuzk_error *err) {
    const struct {
        const char *name;
        uint64_t value, most;
    } ranges[] = {
        {"--scale", o->scale.value, 1 << 16},      {"--time-scale", o->time_scale.value, 10000},
        {"--pw", o->pw.value, MEMLAB_MAX_WORKERS}, {"--gw", o->gw.value, MEMLAB_MAX_WORKERS},
        {"--jobs", o->jobs.value, 1000},           {"--proofs", o->proofs.value, 1000},
        {"--slow-gpu", o->slow.value, 1000},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (ranges[i].value < 1 || ranges[i].value > ranges[i].most)
            return error_set(err, CUZK_USAGE, ranges[i].name, NULL,
                             "give a number from 1 to %" PRIu64, ranges[i].most);
    return CUZK_OK;
}

static cuzk_status run_lab(const struct memlab_options *o, struct cuzk_error *err) {
    struct memlab_setup base;
    CUZK_TRY(memlab_replay_32g(&base, (unsigned)o->scale.value, (double)o->time_scale.value, err));
    base.partition_workers = (unsigned)o->pw.value;
    base.device_workers = (unsigned)o->gw.value;
    base.jobs = (unsigned)o->jobs.value;
    base.proofs = (unsigned)o->proofs.value;
    base.start_seconds *= (double)o->slow.value;
    printf("replay of 32 GiB PoRep: sizes divided by %" PRIu64 ", times by %" PRIu64
           "; figures are scaled back (GiB, partitions, seconds)\n"
           "pw %u, gw %u, %u jobs at once, %u proofs of %u partitions, witness %.1f + a, b, c "
           "%.1f GiB a partition\n\n",
           o->scale.value, o->time_scale.value, base.partition_workers, base.device_workers,
           base.jobs, base.proofs, base.partitions, gib(base.aux_bytes, o->scale.value),
           gib(base.abc_bytes, o->scale.value));
    struct run *runs = calloc(N_SCENARIOS + 1, sizeof *runs);
    if (runs == NULL) return error_set(err, CUZK_NO_MEMORY, "memlab", NULL, "no memory");
    cuzk_status s = compare(runs, &base, o, err);
    if (s == CUZK_OK && !o->no_sweep) s = sweep(&runs[N_SCENARIOS], &base, o, err);
    if (s == CUZK_OK && o->svg != NULL) s = draw(runs, o, err);
    free(runs);
    return s;
}

cuzk_status bench_memlab(const struct bench *bench, int argc, char **argv, struct cuzk_error *err) {
    (void)bench; /* needs no daemon */
    struct memlab_options o = {
        .scale = {.value = 256},
        .time_scale = {.value = 40},
        .pw = {.value = 12},
        .gw = {.value = 2},
        .jobs = {.value = 5},
        .proofs = {.value = 10},
        .slow = {.value = 1},
    };
    const char *replay = "32GiB";
    const struct option_spec options[] = {
        {"replay", OPTION_STRING, &replay, "SIZE", "the sector that is replayed: 32GiB",
         .required = false},
        {"scale", OPTION_U64, &o.scale, "N", "divide sizes by N (default 256)", .required = false},
        {"time-scale", OPTION_U64, &o.time_scale, "N", "divide times by N (default 40)",
         .required = false},
        {"pw", OPTION_U64, &o.pw, "N", "synthesis workers (default 12)", .required = false},
        {"gw", OPTION_U64, &o.gw, "N", "proving workers (default 2)", .required = false},
        {"j|jobs", OPTION_U64, &o.jobs, "N", "jobs at once (default 5)", false},
        {"c|proofs", OPTION_U64, &o.proofs, "N", "proofs in each run (default 10)", false},
        {"slow-gpu", OPTION_U64, &o.slow, "N", "make the device N times slower (default 1)",
         .required = false},
        {"no-sweep", OPTION_FLAG, &o.no_sweep, NULL, "leave out the runs over pw",
         .required = false},
        {"svg", OPTION_STRING, &o.svg, "FILE", "draw memory and waiting partitions",
         .required = false},
        {.kind = OPTION_END},
    };
    const struct command_spec spec = {
        "cuzk-bench memlab [options]",
        "Runs the pipeline with each fault of the older daemon alone, with all and with none, on\n"
        "buffers of real sizes divided by --scale, and prints the peaks (doc/memory.md).",
        options};
    bool help = false;
    CUZK_TRY(options_parse(&spec, argc, argv, &help, err));
    if (help) return CUZK_OK;
    const struct porep_shape *shape = porep_shape_by_name(replay);
    if (shape == NULL || shape != porep_shape_by_name("32GiB"))
        return error_set(err, CUZK_USAGE, "--replay", "give 32GiB", "the times of %s are not known",
                         replay);
    CUZK_TRY(check(&o, err));
    return run_lab(&o, err);
}
