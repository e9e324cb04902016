#include "doctor_checks.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "command.h"
#include "daemon_run.h"
#include "msm.h"
#include "ntt.h"
#include "pool.h"

/* ---- saying ---- */

static const char *const level_names[DOCTOR_LEVELS] = {"ok", "warn", "FAIL"};

static void print_line(struct doctor *d, enum doctor_level level, const char *check,
                       const char *code, const char *hint, const char *text) {
    d->count[level]++;
    if (hint != NULL && hint[0] == '\0') hint = NULL;
    if (d->json == NULL) {
        printf("%-4s  %s: %s%s%s\n", level_names[level], check, text, hint != NULL ? " -> " : "",
               hint != NULL ? hint : "");
        fflush(stdout);
        return;
    }
    json_object_begin(d->json, NULL);
    json_string(d->json, "level", level_names[level]);
    json_string(d->json, "check", check);
    json_string(d->json, "text", text);
    if (code != NULL) json_string(d->json, "code", code);
    if (hint != NULL) json_string(d->json, "hint", hint);
    json_object_end(d->json);
}

void doctor_say(struct doctor *d, enum doctor_level level, const char *check, const char *hint,
                const char *fmt, ...) {
    char text[2048];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (level == DOCTOR_FAIL && d->count[DOCTOR_FAIL] == 0)
        error_set(&d->first, CUZK_STATE, check, hint, "%s", text);
    print_line(d, level, check, NULL, hint, text);
}

void doctor_say_error(struct doctor *d, enum doctor_level level, const char *check,
                      const struct cuzk_error *err) {
    char text[800];
    snprintf(text, sizeof text, "%s%s%s", err->where, err->where[0] != '\0' ? ": " : "", err->what);
    if (level == DOCTOR_FAIL && d->count[DOCTOR_FAIL] == 0) d->first = *err;
    print_line(d, level, check, status_name(err->code), err->hint, text);
}

/* ---- processor ---- */

void doctor_check_cpu(struct doctor *d) {
    const bool portable =
        strcmp(ntt_kernel_name(), "portable") == 0 || strcmp(msm_kernel_name(), "portable") == 0;
    char missing[120] = "";
    const struct {
        const char *name;
        bool has;
    } features[] = {
        {"avx512f", __builtin_cpu_supports("avx512f") != 0},
        {"avx512vl", __builtin_cpu_supports("avx512vl") != 0},
        {"avx512dq", __builtin_cpu_supports("avx512dq") != 0},
        {"avx512ifma", __builtin_cpu_supports("avx512ifma") != 0},
    };
    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++) {
        const size_t n = strlen(missing);
        if (!features[i].has) snprintf(missing + n, sizeof missing - n, " %s", features[i].name);
    }
    doctor_say(d, portable ? DOCTOR_WARN : DOCTOR_OK, "processor",
               portable ? "it is slower; a processor with AVX-512 IFMA uses the vector kernels"
                        : NULL,
               "%u to run on; transforms: %s, sums: %s%s%s", pool_cpus(), ntt_kernel_name(),
               msm_kernel_name(), missing[0] != '\0' ? "; it lacks" : "", missing);
}

/* ---- memory and plan ---- */

void doctor_check_memory(struct doctor *d) {
    const struct engine_config *e = &d->config->engine;
    const struct budget_options options = {.configured_bytes = e->memory_total,
                                           .margin_bytes = e->memory_margin,
                                           .subtract_current = true};
    char line[2048];
    budget_read(&d->budget, &options, &e->budget_roots);
    budget_print(&d->budget, line, sizeof line);
    if (d->budget.winner == BUDGET_TERMS)
        doctor_say(d, DOCTOR_WARN, "memory",
                   "mount /proc and /sys/fs/cgroup, or set "
                   "memory.total_budget",
                   "no limit was found: %s", line);
    else if (d->budget.budget_bytes == 0)
        doctor_say(d, DOCTOR_FAIL, "memory", "raise the limit, or end what uses the memory",
                   "nothing is left: %s", line);
    else
        doctor_say(d, DOCTOR_OK, "memory", NULL, "%s", line);
}

void doctor_check_plan(struct doctor *d) {
    const struct engine_config *e = &d->config->engine;
    if (e->n_preload == 0) {
        doctor_say(d, DOCTOR_OK, "plan", NULL,
                   "no circuit is preloaded; `cuzk plan --circuit ID` shows what one needs");
        return;
    }
    struct plan_options options = {.n_circuits = e->n_preload,
                                   .n_devices = e->n_devices,
                                   .partition_workers = e->partition_workers,
                                   .device_workers = e->devices[0].workers,
                                   .synthesis_threads = e->synthesis_threads,
                                   .device_threads = e->device_threads,
                                   .queued_jobs = 1,
                                   .concurrent_messages = 1,
                                   .max_message_bytes = e->max_message_bytes,
                                   .budget_bytes = d->budget.budget_bytes};
    for (unsigned i = 0; i < e->n_preload; i++)
        options.circuit_ids[i] = e->preload[i];
    budget_limited_by(&d->budget, options.limited_by, sizeof options.limited_by);
    struct plan plan;
    struct cuzk_error err = {0};
    if (plan_make(&plan, &options, &err) != CUZK_OK) {
        doctor_say_error(d, DOCTOR_FAIL, "plan", &err);
        return;
    }
    doctor_say(d, plan.reduced || plan.sequential ? DOCTOR_WARN : DOCTOR_OK, "plan",
               plan.bottleneck,
               "%u partition workers, %u workers of a device%s; peak %s GiB of %s; the least is %s",
               plan.partition_workers, plan.device_workers,
               plan.sequential ? ", one partition at a time"
               : plan.reduced  ? " (fewer than asked for)"
                               : "",
               gib_text(plan.peak_bytes).s, gib_text(d->budget.budget_bytes).s,
               gib_text(plan.smallest_bytes).s);
}

/* ---- folders ---- */

/* The nearest folder above `path` that is there; false: none can be looked at. */
static bool existing_folder(char out[1024], const char *path) {
    struct stat st;
    snprintf(out, 1024, "%s", path);
    while (stat(out, &st) != 0) {
        char *slash = strrchr(out, '/');
        if (errno != ENOENT || slash == NULL || strcmp(out, "/") == 0) return false;
        slash[slash == out ? 1 : 0] = '\0';
    }
    return S_ISDIR(st.st_mode);
}

void doctor_check_folder(struct doctor *d, const char *check, const char *path, bool written) {
    enum { LITTLE_MIB = 1024, NOTHING_MIB = 32 };
    char folder[1024], bytes[32];
    struct statfs fs;
    if (!existing_folder(folder, path) || statfs(folder, &fs) != 0) {
        doctor_say(d, DOCTOR_FAIL, check, "make the folder, or give another", "%s: %s", path,
                   strerror(errno == 0 ? ENOTDIR : errno));
        return;
    }
    if (written && access(folder, W_OK | X_OK) != 0) {
        doctor_say(d, DOCTOR_FAIL, check, "give this user the right to write there", "%s: %s", path,
                   strerror(errno));
        return;
    }
    const uint64_t free_bytes = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
    const uint64_t mib = free_bytes >> 20;
    const bool in_memory = fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC;
    format_bytes(bytes, free_bytes);
    if (written && mib < NOTHING_MIB)
        doctor_say(d, DOCTOR_FAIL, check, "make room", "%s: only %s free", path, bytes);
    else if (in_memory)
        doctor_say(d, DOCTOR_WARN, check, "use a folder on a disk",
                   "%s is on a file system in memory, which counts against the budget and is lost "
                   "at a restart of the machine; %s free",
                   path, bytes);
    else if (written && mib < LITTLE_MIB)
        doctor_say(d, DOCTOR_WARN, check, "make room", "%s: only %s free", path, bytes);
    else
        doctor_say(d, DOCTOR_OK, check, NULL, "%s: %s free%s", path, bytes,
                   strcmp(folder, path) == 0 ? "" : ", will be made");
}

void doctor_check_disk(struct doctor *d) {
    const char *state = d->config->engine.state_dir;
    if (state != NULL)
        doctor_check_folder(d, "state folder", state, true);
    else
        doctor_say(d, DOCTOR_WARN, "state folder", "set daemon.state_dir",
                   "none: acknowledged jobs do not survive a restart");
}

/* ---- addresses ---- */

static void check_readable(struct doctor *d, const char *check, const char *path) {
    if (path == NULL) return;
    if (access(path, R_OK) == 0)
        doctor_say(d, DOCTOR_OK, check, NULL, "%s can be read", path);
    else
        doctor_say(d, DOCTOR_FAIL, check, "correct the path or its permissions", "%s: %s", path,
                   strerror(errno));
}

static void say_address(struct doctor *d, const char *check, const char *address, cuzk_status s,
                        const struct cuzk_error *err) {
    if (s == CUZK_OK)
        doctor_say(d, DOCTOR_OK, check, NULL, "%s is free", address);
    else
        doctor_say_error(d, DOCTOR_FAIL, check, err);
}

void doctor_check_addresses(struct doctor *d) {
    const struct config *c = d->config;
    struct cuzk_error err = {0};
    for (unsigned i = 0; i < c->rpc.n_listen; i++)
        say_address(d, "gRPC address", c->rpc.listen[i],
                    daemon_check_address(c->rpc.listen[i], &err), &err);
    if (c->status_listen != NULL)
        say_address(d, "HTTP address", c->status_listen,
                    daemon_check_status_address(c->status_listen, &err), &err);
    check_readable(d, "TLS certificate", c->rpc.tls_cert);
    check_readable(d, "TLS key", c->rpc.tls_key);
    check_readable(d, "TLS clients' authority", c->rpc.tls_client_ca);
}
