#include "metrics_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "utf8.h"
#include "view_names.h"

/* ---- the format: a family's head, its labels, its values ---- */

static void family(FILE *f, const char *name, const char *type, const char *help) {
    fprintf(f, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* A label's value: backslash, quote and line feed are escaped, and it must be UTF-8. */
static void label_value(FILE *f, const char *s) {
    while (*s != '\0') {
        const size_t n = utf8_character_bytes(s);
        if (n == 0) {
            fputc('?', f);
            s++;
            continue;
        }
        if (*s == '\\' || *s == '"') {
            fprintf(f, "\\%c", *s);
        } else if (*s == '\n') {
            fputs("\\n", f);
        } else {
            fwrite(s, 1, n, f);
        }
        s += n;
    }
}

/* Names and values by turns, up to a NULL. */
static void labels(FILE *f, const char *name, ...) {
    va_list list;
    va_start(list, name);
    const char *before = "{";
    for (const char *n = name; n != NULL; n = va_arg(list, const char *)) {
        fprintf(f, "%s%s=\"", before, n);
        label_value(f, va_arg(list, const char *));
        fputc('"', f);
        before = ",";
    }
    va_end(list);
    fputc('}', f);
}

static void value_u64(FILE *f, uint64_t v) {
    fprintf(f, " %" PRIu64 "\n", v);
}

static void value_double(FILE *f, double v) {
    if (isnan(v)) {
        fputs(" NaN\n", f);
    } else if (isinf(v)) {
        fputs(v > 0 ? " +Inf\n" : " -Inf\n", f);
    } else {
        fprintf(f, " %.15g\n", v);
    }
}

static void labelled_u64(FILE *f, const char *name, const char *label, const char *of, uint64_t v) {
    fputs(name, f);
    labels(f, label, of, NULL);
    value_u64(f, v);
}

static void labelled_double(FILE *f, const char *name, const char *label, const char *of,
                            double v) {
    fputs(name, f);
    labels(f, label, of, NULL);
    value_double(f, v);
}

static void one_u64(FILE *f, const char *name, const char *type, const char *help, uint64_t v) {
    family(f, name, type, help);
    fputs(name, f);
    value_u64(f, v);
}

static void one_double(FILE *f, const char *name, const char *type, const char *help, double v) {
    family(f, name, type, help);
    fputs(name, f);
    value_double(f, v);
}

/* ---- the families ---- */

static void by_kind_u64(FILE *f, const char *name, const char *help, const uint64_t *v) {
    family(f, name, "counter", help);
    for (unsigned k = ENGINE_KIND_POREP; k < ENGINE_KINDS; k++)
        labelled_u64(f, name, "proof_kind", engine_kind_name((enum engine_kind)k), v[k]);
}

static void by_kind_unsigned(FILE *f, const char *name, const char *help, const unsigned *v) {
    family(f, name, "gauge", help);
    for (unsigned k = ENGINE_KIND_POREP; k < ENGINE_KINDS; k++)
        labelled_u64(f, name, "proof_kind", engine_kind_name((enum engine_kind)k), v[k]);
}

static void one_duration(FILE *f, const char *kind, const struct engine_histogram *h) {
    uint64_t below = 0;
    for (unsigned i = 0; i <= ENGINE_BUCKETS; i++) {
        char bound[32] = "+Inf";
        if (i < ENGINE_BUCKETS) snprintf(bound, sizeof bound, "%.9g", engine_bucket_bounds[i]);
        below += h->bucket[i];
        fputs("cuzk_proof_duration_seconds_bucket", f);
        labels(f, "proof_kind", kind, "le", bound, NULL);
        value_u64(f, below);
    }
    labelled_double(f, "cuzk_proof_duration_seconds_sum", "proof_kind", kind, h->sum);
    /* The buckets' sum, so that +Inf and the count agree whatever the record says. */
    labelled_u64(f, "cuzk_proof_duration_seconds_count", "proof_kind", kind, below);
}

static void put_proofs(FILE *f, const struct engine_snapshot *s) {
    by_kind_u64(f, "cuzk_proofs_completed_total", "Proofs that were made, verified and answered.",
                s->completed);
    by_kind_u64(f, "cuzk_proofs_failed_total", "Jobs that ended without a proof.", s->failed);
    by_kind_u64(f, "cuzk_proofs_cancelled_total", "Jobs that were cancelled.", s->cancelled);
    family(f, "cuzk_proof_duration_seconds", "histogram",
           "Time from acceptance to answer of proofs that were made.");
    for (unsigned k = ENGINE_KIND_POREP; k < ENGINE_KINDS; k++)
        one_duration(f, engine_kind_name((enum engine_kind)k), &s->duration[k]);
    one_u64(f, "cuzk_jobs_rejected_total", "counter", "Submitted jobs that were refused.",
            s->rejected);
    one_u64(f, "cuzk_invalid_proofs_total", "counter",
            "Partition proofs from devices that did not verify and were not answered.",
            s->invalid_proofs);
    one_u64(f, "cuzk_partition_retries_total", "counter", "Partitions that were begun again.",
            s->retries);
}

static void put_queue(FILE *f, const struct engine_snapshot *s) {
    by_kind_unsigned(f, "cuzk_queue_depth", "Jobs accepted of which no partition has begun.",
                     s->queued);
    by_kind_unsigned(f, "cuzk_running_jobs", "Jobs begun and not yet answered.", s->running);
    family(f, "cuzk_queue_depth_by_priority", "gauge",
           "Jobs accepted of which no partition has begun, by priority.");
    for (unsigned p = FLOW_LOW; p <= FLOW_CRITICAL; p++)
        labelled_u64(f, "cuzk_queue_depth_by_priority", "priority", view_priority_name((int)p),
                     s->queued_by_priority[p]);
    one_double(f, "cuzk_queue_oldest_age_seconds", "gauge",
               "Time that the oldest queued job has waited; 0 without one.",
               s->oldest_queued_seconds);
    one_u64(f, "cuzk_accepting", "gauge", "1 while jobs are accepted, 0 once it is stopping.",
            s->accepting);
}

static void put_pipeline(FILE *f, const struct engine_snapshot *s) {
    family(f, "cuzk_partitions", "gauge", "Partitions of open jobs by stage of the pipeline.");
    for (unsigned i = 0; i < FLOW_STAGES; i++)
        labelled_u64(f, "cuzk_partitions", "stage", view_stage_name((enum flow_stage)i),
                     s->flow.stage[i]);
    one_u64(f, "cuzk_witnesses", "gauge", "Partitions that hold a witness in memory.",
            s->flow.witnesses);
    one_u64(f, "cuzk_witnesses_high_water", "gauge", "The most partitions that ever held one.",
            s->flow.most_witnesses);
    one_u64(f, "cuzk_permits_taken", "gauge",
            "Synthesis permits held by partitions in synthesis or ready for a device.",
            s->flow.permits_taken);
    unsigned busy = 0;
    for (unsigned i = 0; i < s->n_workers; i++)
        busy += s->workers[i].busy;
    one_u64(f, "cuzk_gpu_workers", "gauge", "Proving workers of all devices.", s->n_workers);
    one_u64(f, "cuzk_gpu_workers_busy", "gauge", "Proving workers that prove now.", busy);
}

static void by_class(FILE *f, const char *name, const char *help, const uint64_t *v) {
    family(f, name, "gauge", help);
    for (unsigned c = 0; c < MEM_CLASSES; c++)
        labelled_u64(f, name, "class", mem_class_name((enum mem_class)c), v[c]);
}

static void put_memory(FILE *f, const struct engine_snapshot *s) {
    by_class(f, "cuzk_memory_bytes", "Memory in use by class, of all processes.", s->class_bytes);
    by_class(f, "cuzk_memory_high_water_bytes", "The most memory ever in use by class.",
             s->class_high_water);
    by_class(f, "cuzk_memory_reserved_bytes", "Memory reserved in the ledger by class.",
             s->ledger.reserved);
    by_class(f, "cuzk_memory_reserved_high_water_bytes", "The most ever reserved by class.",
             s->ledger.high_water);
    one_u64(f, "cuzk_memory_limit_bytes", "gauge", "The ledger's limit.", s->ledger.limit);
    one_u64(f, "cuzk_memory_waiters", "gauge", "Requests that wait for memory.", s->ledger.waiters);
    one_u64(f, "cuzk_memory_grants_total", "counter", "Reservations granted.", s->ledger.granted);
    one_u64(f, "cuzk_memory_refusals_total", "counter",
            "Reservations refused because they could never fit.", s->ledger.refused);

    double tracked = 0;
    for (unsigned c = 0; c < MEM_CLASSES; c++)
        tracked += (double)s->class_bytes[c];
    one_u64(f, "cuzk_rss_bytes", "gauge",
            "Resident memory of the daemon and its devices, shared pages once.",
            s->total_rss_bytes);
    one_u64(f, "cuzk_daemon_rss_bytes", "gauge", "Resident memory of the daemon's process.",
            s->rss_bytes);
    one_u64(f, "cuzk_daemon_rss_high_water_bytes", "gauge",
            "The most resident memory that the daemon's process ever had.", s->peak_rss_bytes);
    one_double(f, "cuzk_rss_untracked_bytes", "gauge",
               "Resident memory less what is tracked by class; negative while pages taken are "
               "not touched.",
               (double)s->total_rss_bytes - tracked);
}

static void put_slabs(FILE *f, const struct slab_counters *c) {
    family(f, "cuzk_slabs", "gauge", "Slabs in use, and kept for the next that needs one.");
    labelled_u64(f, "cuzk_slabs", "state", "in_use", c->in_use);
    labelled_u64(f, "cuzk_slabs", "state", "kept", c->kept);
    family(f, "cuzk_slab_bytes", "gauge", "Mapped bytes of slabs.");
    labelled_u64(f, "cuzk_slab_bytes", "state", "in_use", c->in_use_bytes);
    labelled_u64(f, "cuzk_slab_bytes", "state", "kept", c->kept_bytes);
    one_u64(f, "cuzk_slabs_taken_total", "counter", "Slabs handed out.", c->taken);
    one_u64(f, "cuzk_slabs_recycled_total", "counter", "Slabs handed out that were kept before.",
            c->recycled);
    one_u64(f, "cuzk_slabs_closed_total", "counter", "Slabs given back to the system.", c->closed);
}

static void put_budget(FILE *f, const struct engine_snapshot *s) {
    const struct budget *b = &s->budget;
    one_u64(f, "cuzk_budget_bytes", "gauge", "The least limit less the margin.", b->budget_bytes);
    one_u64(f, "cuzk_budget_margin_bytes", "gauge", "Kept back for what is not counted.",
            b->margin_bytes);
    family(f, "cuzk_budget_term_bytes", "gauge", "What each limit of the host leaves.");
    for (unsigned t = 0; t < BUDGET_TERMS; t++)
        if (b->term[t].present)
            labelled_u64(f, "cuzk_budget_term_bytes", "term", view_budget_name((enum budget_kind)t),
                         b->term[t].bytes);
    family(f, "cuzk_budget_term_wins", "gauge", "1 for the limit that decides.");
    for (unsigned t = 0; t < BUDGET_TERMS; t++)
        if (b->term[t].present)
            labelled_u64(f, "cuzk_budget_term_wins", "term", view_budget_name((enum budget_kind)t),
                         t == b->winner);
    if (!s->has_plan) return;
    one_u64(f, "cuzk_plan_peak_bytes", "gauge", "The planned peak of memory.", s->plan.peak_bytes);
    family(f, "cuzk_plan_term_bytes", "gauge", "The terms of the planned peak.");
    for (unsigned t = 0; t < PLAN_TERMS; t++)
        labelled_u64(f, "cuzk_plan_term_bytes", "term", plan_term_name((enum plan_term_kind)t),
                     s->plan.term[t].bytes);
}

/* One family with a sample for each device. */
static void each_device(FILE *f, const struct engine_snapshot *s, const char *name,
                        const char *type, const char *help,
                        double (*of)(const struct engine_device_view *)) {
    family(f, name, type, help);
    for (unsigned i = 0; i < s->n_devices; i++) {
        char number[16];
        snprintf(number, sizeof number, "%u", i);
        labelled_double(f, name, "device", number, of(&s->devices[i]));
    }
}

static double device_up(const struct engine_device_view *d) {
    return d->state.up && !d->state.lost && !d->failed;
}
static double device_failed(const struct engine_device_view *d) {
    return d->failed;
}
static double device_restarts(const struct engine_device_view *d) {
    return d->restarts;
}
static double device_losses(const struct engine_device_view *d) {
    return d->losses;
}
static double device_invalid(const struct engine_device_view *d) {
    return d->invalid_proofs;
}
static double device_busy(const struct engine_device_view *d) {
    return d->busy_seconds;
}
static double device_tasks(const struct engine_device_view *d) {
    return d->state.tasks;
}
static double device_age(const struct engine_device_view *d) {
    return (double)d->state.age_ns * 1e-9;
}

static double device_rss(const struct engine_device_view *d) {
    return (double)d->state.rss_bytes;
}

static void put_devices(FILE *f, const struct engine_snapshot *s) {
    family(f, "cuzk_device_info", "gauge", "The devices' names; always 1.");
    for (unsigned i = 0; i < s->n_devices; i++) {
        char number[16];
        snprintf(number, sizeof number, "%u", i);
        fputs("cuzk_device_info", f);
        labels(f, "device", number, "backend", s->devices[i].state.backend, "name",
               s->devices[i].state.name, NULL);
        value_u64(f, 1);
    }
    each_device(f, s, "cuzk_device_rss_bytes", "gauge",
                "Resident memory of the device's process, shared slabs included.", device_rss);
    each_device(f, s, "cuzk_device_up", "gauge", "1 while the device takes work.", device_up);
    each_device(f, s, "cuzk_device_failed", "gauge",
                "1 once the device was taken out after repeated faults.", device_failed);
    each_device(f, s, "cuzk_device_restarts_total", "counter", "Times the process was restarted.",
                device_restarts);
    each_device(f, s, "cuzk_device_losses_total", "counter", "Times the process was lost.",
                device_losses);
    each_device(f, s, "cuzk_device_invalid_proofs_total", "counter",
                "Proofs of the device that did not verify.", device_invalid);
    each_device(f, s, "cuzk_device_busy_seconds_total", "counter",
                "Time that the device's workers proved, summed over the workers.", device_busy);
    each_device(f, s, "cuzk_device_tasks", "gauge", "Partitions under way on the device.",
                device_tasks);
    each_device(f, s, "cuzk_device_answer_age_seconds", "gauge",
                "Time since the device's process last answered.", device_age);
}

static void put_circuits(FILE *f, const struct engine_snapshot *s) {
    family(f, "cuzk_circuit_resident", "gauge", "1 while the circuit's parameters are loaded.");
    for (unsigned i = 0; i < s->n_circuits; i++)
        labelled_u64(f, "cuzk_circuit_resident", "circuit_id", s->circuits[i].circuit_id,
                     s->circuits[i].resident);
    family(f, "cuzk_circuit_srs_bytes", "gauge", "Bytes of the circuit's loaded parameters.");
    for (unsigned i = 0; i < s->n_circuits; i++)
        labelled_u64(f, "cuzk_circuit_srs_bytes", "circuit_id", s->circuits[i].circuit_id,
                     s->circuits[i].srs_bytes);
    family(f, "cuzk_circuit_references", "gauge", "Jobs that need the circuit.");
    for (unsigned i = 0; i < s->n_circuits; i++)
        labelled_u64(f, "cuzk_circuit_references", "circuit_id", s->circuits[i].circuit_id,
                     s->circuits[i].references);
}

char *engine_metrics_text(const struct engine_snapshot *s, size_t *n) {
    char *text = NULL;
    FILE *f = open_memstream(&text, n);
    if (f == NULL) return NULL;
    one_double(f, "cuzk_uptime_seconds", "gauge", "Time since the daemon started.",
               s->uptime_seconds);
    put_proofs(f, s);
    put_queue(f, s);
    put_pipeline(f, s);
    put_memory(f, s);
    put_slabs(f, &s->slabs);
    put_budget(f, s);
    put_devices(f, s);
    put_circuits(f, s);
    const int failed = ferror(f);
    if (fclose(f) != 0 || failed) {
        free(text);
        return NULL;
    }
    return text;
}
