/*
 * `cuzk plan`: what a daemon of this configuration would take, before anything is started. It asks
 * the function that the daemon runs by.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "budget_source.h"
#include "command.h"
#include "config_value.h"
#include "options.h"
#include "plan.h"

struct plan_arguments {
    const char *circuit, *memory, *max_message, *vram;
    struct option_u64 workers, device_workers, devices, cpus, messages, jobs;
    bool sequential, json, help;
};

static cuzk_status parse_size(uint64_t *out, const char *where, const char *text,
                              struct cuzk_error *err) {
    if (text == NULL) return CUZK_OK;
    if (size_parse(out, text) && *out > 0) return CUZK_OK;
    return error_set(err, CUZK_USAGE, where, "write it as 256GiB or 500MB", "'%s' is no size",
                     text);
}

static cuzk_status take_count(unsigned *out, const char *where, const struct option_u64 *given,
                              struct cuzk_error *err) {
    if (!given->given) return CUZK_OK;
    if (given->value < 1 || given->value > 4096)
        return error_set(err, CUZK_USAGE, where, "give 1 to 4096", "%" PRIu64 " makes no sense",
                         given->value);
    *out = (unsigned)given->value;
    return CUZK_OK;
}

/* Cuts "porep-32g,porep-2k" into its names, in `names`. */
static cuzk_status split_circuits(struct plan_options *o, char *names, size_t names_bytes,
                                  const char *list, struct cuzk_error *err) {
    if ((size_t)snprintf(names, names_bytes, "%s", list) >= names_bytes)
        return error_set(err, CUZK_USAGE, "--circuit", NULL, "the list is too long");
    char *rest = NULL;
    for (char *id = strtok_r(names, ",", &rest); id != NULL; id = strtok_r(NULL, ",", &rest)) {
        if (o->n_circuits == PLAN_MAX_CIRCUITS)
            return error_set(err, CUZK_USAGE, "--circuit", "name sixteen at most",
                             "too many circuits");
        o->circuit_ids[o->n_circuits++] = id;
    }
    return CUZK_OK;
}

/* The budget of a machine with this much memory for us; 0: of this one. */
static void take_budget(struct plan_options *o, uint64_t memory_bytes, bool quiet) {
    const struct budget_options options = {.configured_bytes = memory_bytes,
                                           .margin_bytes = BUDGET_USUAL_MARGIN,
                                           .subtract_current = true};
    /* With a size given, this machine must not matter: there is nothing to read in these folders.
     */
    static const struct budget_roots nowhere = {"/dev/null", "/dev/null"};
    struct budget b;
    char line[2000];
    budget_read(&b, &options, memory_bytes > 0 ? &nowhere : NULL);
    o->budget_bytes = b.budget_bytes;
    if (memory_bytes > 0)
        snprintf(o->limited_by, sizeof o->limited_by, "--memory %s GiB less a margin of %s",
                 gib_text(memory_bytes).s, gib_text(b.margin_bytes).s);
    else
        budget_limited_by(&b, o->limited_by, sizeof o->limited_by);
    if (quiet || memory_bytes > 0) return;
    budget_print(&b, line, sizeof line);
    printf("memory             %s\n", line);
}

/* The limit whose budget, less the margin (budget_source.h), is what the smallest plan takes. */
static void print_enough(const struct plan *p) {
    const uint64_t tenth = (p->smallest_bytes + 8) / 9;
    const uint64_t margin = tenth < BUDGET_USUAL_MARGIN ? tenth : BUDGET_USUAL_MARGIN;
    const uint64_t limit = p->smallest_bytes + margin;
    printf("enough             %s GiB (%" PRIu64 " bytes): a limit of memory, with the margin\n",
           gib_text(limit).s, limit);
}

static cuzk_status parse(struct plan_arguments *a, int argc, char **argv, struct cuzk_error *err) {
    const struct option_spec options[] = {
        {.name = "circuit",
         .kind = OPTION_STRING,
         .target = &a->circuit,
         .value_name = "LIST",
         .help = "porep-32g, or several that are resident together: porep-32g,porep-2k",
         .required = true},
        {.name = "memory",
         .kind = OPTION_STRING,
         .target = &a->memory,
         .value_name = "SIZE",
         .help = "memory that the daemon may use (what this machine gives)"},
        {.name = "workers",
         .kind = OPTION_U64,
         .target = &a->workers,
         .value_name = "N",
         .help = "partition workers (as many as are of use)"},
        {.name = "gpu-workers",
         .kind = OPTION_U64,
         .target = &a->device_workers,
         .value_name = "N",
         .help = "proving workers of each device (1)"},
        {.name = "devices",
         .kind = OPTION_U64,
         .target = &a->devices,
         .value_name = "N",
         .help = "devices (1)"},
        {.name = "cpus",
         .kind = OPTION_U64,
         .target = &a->cpus,
         .value_name = "N",
         .help = "processors (this machine's)"},
        {.name = "max-message",
         .kind = OPTION_STRING,
         .target = &a->max_message,
         .value_name = "SIZE",
         .help = "largest request that is accepted (256MiB)"},
        {.name = "messages",
         .kind = OPTION_U64,
         .target = &a->messages,
         .value_name = "N",
         .help = "such requests received at once (1)"},
        {.name = "jobs",
         .kind = OPTION_U64,
         .target = &a->jobs,
         .value_name = "N",
         .help = "jobs whose decoded inputs are held (16)"},
        {.name = "sequential",
         .kind = OPTION_FLAG,
         .target = &a->sequential,
         .help = "one partition's working set at a time"},
        {.name = "vram",
         .kind = OPTION_STRING,
         .target = &a->vram,
         .value_name = "SIZE",
         .help = "not yet: there is no CUDA backend"},
        {.name = "json", .kind = OPTION_FLAG, .target = &a->json, .help = "print JSON"},
        {.kind = OPTION_END},
    };
    const struct command_spec spec = {
        "cuzk plan --circuit LIST [options]",
        "Prints every term of the memory that a daemon of this configuration takes at its most, "
        "and\n"
        "what would raise throughput. The daemon runs by the same function (doc/memory.md).",
        options};
    return options_parse(&spec, argc, argv, &a->help, err);
}

static cuzk_status take_arguments(struct plan_options *o, struct plan_arguments *a, char *names,
                                  size_t names_bytes, struct cuzk_error *err) {
    if (a->vram != NULL)
        return error_set(err, CUZK_UNSUPPORTED, "--vram",
                         "leave it out: devices are processors here",
                         "there is no CUDA backend yet");
    CUZK_TRY(take_count(&o->partition_workers, "--workers", &a->workers, err));
    CUZK_TRY(take_count(&o->device_workers, "--gpu-workers", &a->device_workers, err));
    CUZK_TRY(take_count(&o->n_devices, "--devices", &a->devices, err));
    CUZK_TRY(take_count(&o->cpus, "--cpus", &a->cpus, err));
    CUZK_TRY(take_count(&o->concurrent_messages, "--messages", &a->messages, err));
    CUZK_TRY(take_count(&o->queued_jobs, "--jobs", &a->jobs, err));
    uint64_t memory = 0;
    CUZK_TRY(parse_size(&memory, "--memory", a->memory, err));
    CUZK_TRY(parse_size(&o->max_message_bytes, "--max-message", a->max_message, err));
    CUZK_TRY(split_circuits(o, names, names_bytes, a->circuit, err));
    o->sequential = a->sequential;
    take_budget(o, memory, a->json);
    return CUZK_OK;
}

cuzk_status command_plan(int argc, char **argv, struct cuzk_error *err) {
    struct plan_arguments a = {0};
    struct plan_options o = {0};
    struct plan p;
    char names[PLAN_MAX_CIRCUITS * CIRCUIT_ID_BYTES], text[16384];
    CUZK_TRY(parse(&a, argc, argv, err));
    if (a.help) return CUZK_OK;
    CUZK_TRY(take_arguments(&o, &a, names, sizeof names, err));
    const cuzk_status s = plan_make(&p, &o, err);
    if (s != CUZK_OK && s != CUZK_BUDGET) return s;
    /* What does not fit is printed as well, and then refused. */
    if (a.json)
        plan_print_json(&p, &o, text, sizeof text);
    else
        plan_print(&p, &o, text, sizeof text);
    fputs(text, stdout);
    if (!a.json) print_enough(&p);
    return s;
}
