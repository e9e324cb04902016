/* The plan as people and programs read it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "budget_source.h"
#include "json_out.h"
#include "plan_internal.h"

const char *plan_term_name(enum plan_term_kind kind) {
    static const char *const names[PLAN_TERMS] = {
        [PLAN_BASE_DAEMON] = "base daemon",
        [PLAN_BASE_DEVICE] = "base device",
        [PLAN_SRS] = "srs",
        [PLAN_KEY_TABLES] = "domain tables",
        [PLAN_MATRICES] = "matrices",
        [PLAN_INPUT] = "inputs",
        [PLAN_MESSAGES] = "messages",
        [PLAN_WITNESS] = "witnesses",
        [PLAN_CRITICAL] = "critical slot",
        [PLAN_ABC] = "a, b, c",
        [PLAN_SCRATCH] = "scratch",
        [PLAN_PENDING] = "pending proofs",
    };
    return names[kind];
}

/* A text that grows in a caller's buffer; counts what does not fit, as snprintf does. */
struct text {
    char *out;
    size_t capacity, n;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    const bool room = t->n < t->capacity;
    const int n = vsnprintf(room ? t->out + t->n : NULL, room ? t->capacity - t->n : 0, fmt, args);
    va_end(args);
    if (n > 0) t->n += (size_t)n;
}

int plan_print_sum(const struct plan *p, char *out, size_t out_bytes) {
    struct text t = {out, out_bytes, 0};
    uint64_t other = 0;
    if (out_bytes > 0) out[0] = '\0';
    for (int i = 0; i < PLAN_TERMS; i++) {
        const struct plan_term *term = &p->term[i];
        if (term->bytes < p->peak_bytes / 50) {
            other += term->bytes;
            continue;
        }
        put(&t, "%s%s ", t.n > 0 ? " + " : "", plan_term_name((enum plan_term_kind)i));
        if (term->count > 1) put(&t, "%u x ", term->count);
        put(&t, "%s", gib_text(term->each).s);
    }
    if (other > 0) put(&t, "%sother %s", t.n > 0 ? " + " : "", gib_text(other).s);
    return (int)t.n;
}

/* ---- the table ---- */

static void put_slots(struct text *t, const struct plan *p, const struct plan_options *o) {
    put(t, "circuits           ");
    for (unsigned i = 0; i < o->n_circuits; i++)
        put(t, "%s%s", i > 0 ? ", " : "", o->circuit_ids[i]);
    put(t, "\nmode               %s\n",
        p->sequential ? "sequential: one partition's working set at a time" : "pipelined");
    put(t, "devices            %u, %u threads each\n", p->n_devices, p->device_threads);
    put(t, "partition workers  %u", p->partition_workers);
    if (p->partition_workers != p->asked_partition_workers)
        put(t, " (%u were asked for)", p->asked_partition_workers);
    put(t, ", %u threads each\ndevice workers     %u", p->synthesis_threads, p->device_workers);
    if (p->device_workers != p->asked_device_workers)
        put(t, " (%u were asked for)", p->asked_device_workers);
    put(t, " a device, %u threads each; %u pending proofs\n", p->device_worker_threads,
        p->pendings);
    put(t, "decoded inputs     %u\n\n", p->queued_jobs);
}

static void put_terms(struct text *t, const struct plan *p) {
    put(t, "%-15s %-9s %-7s %10s   %5s %10s\n", "term", "class", "in", "GiB each", "count", "GiB");
    for (int i = 0; i < PLAN_TERMS; i++) {
        const struct plan_term *term = &p->term[i];
        const char *in = i == PLAN_MATRICES ? "both" : term->in_device ? "device" : "daemon";
        put(t, "%-15s %-9s %-7s %10s x %5u %10s\n", plan_term_name((enum plan_term_kind)i),
            mem_class_name(term->kind), in, gib_text(term->each).s, term->count,
            gib_text(term->bytes).s);
    }
    put(t, "%-15s %36s %10s\n\n", "peak", "", gib_text(p->peak_bytes).s);
}

int plan_print(const struct plan *p, const struct plan_options *o, char *out, size_t out_bytes) {
    struct text t = {out, out_bytes, 0};
    if (out_bytes > 0) out[0] = '\0';
    put_slots(&t, p, o);
    put_terms(&t, p);
    if (o->budget_bytes > 0)
        put(&t, "budget             %s GiB%s%s: %s\n", gib_text(o->budget_bytes).s,
            o->limited_by[0] != '\0' ? ", limited by " : "", o->limited_by,
            !p->fits     ? "does not fit"
            : p->reduced ? "fits, with fewer partitions in flight than asked for"
                         : "fits");
    put(&t, "smallest           %s GiB: less cannot prove these circuits\n",
        gib_text(p->smallest_bytes).s);
    put(&t, "next               %s GiB: the least for one more partition worker\n",
        gib_text(p->next_bytes).s);
    put(&t, "throughput         %s\n", p->bottleneck);
    return (int)t.n;
}

/* ---- JSON ---- */

static void json_terms(struct json_out *j, const struct plan *p) {
    json_array_begin(j, "terms");
    for (int i = 0; i < PLAN_TERMS; i++) {
        const struct plan_term *term = &p->term[i];
        json_object_begin(j, NULL);
        json_string(j, "name", plan_term_name((enum plan_term_kind)i));
        json_string(j, "class", mem_class_name(term->kind));
        json_bool(j, "in_device", term->in_device);
        json_u64(j, "each_bytes", term->each);
        json_u64(j, "count", term->count);
        json_u64(j, "bytes", term->bytes);
        json_object_end(j);
    }
    json_array_end(j);
}

static void json_plan(struct json_out *j, const struct plan *p, const struct plan_options *o) {
    json_object_begin(j, NULL);
    json_array_begin(j, "circuits");
    for (unsigned i = 0; i < o->n_circuits; i++)
        json_string(j, NULL, o->circuit_ids[i]);
    json_array_end(j);
    json_bool(j, "fits", p->fits);
    json_bool(j, "reduced", p->reduced);
    json_bool(j, "sequential", p->sequential);
    json_u64(j, "devices", p->n_devices);
    json_u64(j, "partition_workers", p->partition_workers);
    json_u64(j, "asked_partition_workers", p->asked_partition_workers);
    json_u64(j, "device_workers", p->device_workers);
    json_u64(j, "asked_device_workers", p->asked_device_workers);
    json_u64(j, "pending_proofs", p->pendings);
    json_u64(j, "decoded_inputs", p->queued_jobs);
    json_u64(j, "synthesis_threads", p->synthesis_threads);
    json_u64(j, "device_threads", p->device_threads);
    json_u64(j, "device_worker_threads", p->device_worker_threads);
    json_terms(j, p);
    json_u64(j, "peak_bytes", p->peak_bytes);
    json_u64(j, "budget_bytes", o->budget_bytes);
    json_string(j, "limited_by", o->limited_by);
    json_u64(j, "smallest_bytes", p->smallest_bytes);
    json_u64(j, "next_bytes", p->next_bytes);
    json_string(j, "bottleneck", p->bottleneck);
    json_object_end(j);
}

int plan_print_json(const struct plan *p, const struct plan_options *o, char *out,
                    size_t out_bytes) {
    char *text = NULL;
    size_t n = 0;
    if (out_bytes > 0) out[0] = '\0';
    FILE *stream = open_memstream(&text, &n);
    if (stream == NULL) return 0;
    struct json_out j;
    json_begin(&j, stream);
    json_plan(&j, p, o);
    json_end(&j);
    fclose(stream);
    if (text == NULL) return 0;
    snprintf(out, out_bytes, "%s", text);
    free(text);
    return (int)n;
}
