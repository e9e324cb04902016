#include "config_keys.h"

#include <stdlib.h>
#include <string.h>

#include "config.h"

#define AT(member) offsetof(struct config, member)
#define KIB        ((uint64_t)1 << 10)
#define MIB        ((uint64_t)1 << 20)
#define GIB        ((uint64_t)1 << 30)
#define PIB        ((uint64_t)1 << 50)
enum { DAY = 24 * 3600 };

const struct config_key config_keys[] = {
    {"daemon.listen", CONFIG_LISTEN, .offset = AT(rpc.listen)},
    {"daemon.status_listen", CONFIG_TEXT, .offset = AT(status_listen)},
    {"daemon.socket_mode", CONFIG_MODE, .offset = AT(rpc.socket_mode), .max = 0777},
    {"daemon.state_dir", CONFIG_TEXT, .offset = AT(engine.state_dir)},
    {"daemon.drain_timeout", CONFIG_TIME, .offset = AT(drain_ns), .max = 7 * DAY},
    {"daemon.tls_cert", CONFIG_TEXT, .offset = AT(rpc.tls_cert)},
    {"daemon.tls_key", CONFIG_TEXT, .offset = AT(rpc.tls_key)},
    {"daemon.tls_client_ca", CONFIG_TEXT, .offset = AT(rpc.tls_client_ca)},
    {"daemon.max_message", CONFIG_SIZE, .offset = AT(rpc.max_message_bytes), .min = 64 * KIB,
     .max = 1 * GIB},
    {"daemon.max_queued_jobs", CONFIG_COUNT, .offset = AT(engine.max_queued_jobs), .min = 1,
     .max = 100000},
    {"daemon.keep_results", CONFIG_COUNT, .offset = AT(engine.keep_results), .min = 1,
     .max = 1000000},
    {"daemon.keep_results_for", CONFIG_TIME, .offset = AT(engine.keep_result_ns), .min = 1,
     .max = 365 * DAY},

    {"srs.param_cache", CONFIG_TEXT, .offset = AT(engine.param_dir)},
    {"srs.preload", CONFIG_PRELOAD, .offset = AT(engine.preload)},
    {"srs.require_params", CONFIG_FLAG, .offset = AT(require_params)},

    {"memory.total_budget", CONFIG_BUDGET, .offset = AT(engine.memory_total), .min = 64 * MIB,
     .max = PIB},
    {"memory.safety_margin", CONFIG_SIZE, .offset = AT(engine.memory_margin), .max = PIB},
    {"memory.eviction_min_idle", CONFIG_TIME, .offset = AT(engine.evict_min_idle_ns),
     .max = 365 * DAY},
    {"memory.pinned_budget", CONFIG_OBSOLETE, .note = "memory.total_budget is the one budget"},
    {"memory.working_memory_budget", CONFIG_OBSOLETE,
     .note = "memory.total_budget is the one budget"},

    {"gpus.backend", CONFIG_BACKEND, .offset = 0},
    {"gpus.devices", CONFIG_DEVICES, .offset = 0},
    {"gpus.device_program", CONFIG_TEXT, .offset = AT(engine.devices[0].program)},
    {"gpus.gpu_threads", CONFIG_COUNT, .offset = AT(engine.device_threads), .max = 1024},
    {"gpus.gpu_workers_per_device", CONFIG_COUNT, .offset = AT(engine.devices[0].workers),
     .max = 64},

    {"scheduler.age_after", CONFIG_COUNT, .offset = AT(engine.age_after), .min = 1, .max = 1000000},
    {"scheduler.max_batch_size", CONFIG_UNUSED, .usual = 1,
     .note = "partitions of all jobs share the workers; nothing waits for a batch"},
    {"scheduler.max_batch_wait_ms", CONFIG_UNUSED, .usual = 10000,
     .note = "partitions of all jobs share the workers; nothing waits for a batch"},
    {"scheduler.sort_by_type", CONFIG_UNUSED, .usual = 1,
     .note = "jobs go by priority and age; srs.preload keeps circuits resident"},

    {"synthesis.threads", CONFIG_COUNT, .offset = AT(engine.synthesis_threads), .max = 1024},
    {"synthesis.partition_workers", CONFIG_COUNT, .offset = AT(engine.partition_workers),
     .max = 1024},

    {"pipeline.enabled", CONFIG_UNUSED, .usual = 1,
     .note = "for one partition at a time set synthesis.partition_workers and "
             "gpus.gpu_workers_per_device to 1"},
    {"pipeline.synthesis_lookahead", CONFIG_UNUSED, .usual = 1,
     .note = "synthesis.partition_workers bounds the partitions in memory, waiting ones included"},
    {"pipeline.synthesis_concurrency", CONFIG_UNUSED, .usual = 1,
     .note = "synthesis.partition_workers says how many partitions are made at once"},
    {"pipeline.slot_size", CONFIG_OBSOLETE,
     .note = "synthesis.partition_workers says how many partitions are in memory"},
    {"pipeline.max_parallel_synthesis", CONFIG_OBSOLETE,
     .note = "synthesis.partition_workers says how many partitions are made at once"},
    {"pipeline.max_gpu_queue_depth", CONFIG_OBSOLETE,
     .note = "synthesis.partition_workers bounds the partitions in memory, waiting ones included"},

    {"logging.level", CONFIG_LEVEL, .offset = AT(log_level)},
    {"logging.format", CONFIG_FORMAT, .offset = AT(log_json)},
};
const size_t n_config_keys = sizeof config_keys / sizeof config_keys[0];

const struct config_key *config_key_find(const char *name) {
    for (size_t i = 0; i < n_config_keys; i++) {
        if (strcmp(config_keys[i].name, name) == 0) return &config_keys[i];
    }
    return NULL;
}

bool config_section_known(const char *name) {
    const size_t n = strlen(name);
    for (size_t i = 0; i < n_config_keys; i++) {
        if (strncmp(config_keys[i].name, name, n) == 0 && config_keys[i].name[n] == '.')
            return true;
    }
    return false;
}

/* Names longer than any key are cut: they are far from all of them anyway. */
enum { DISTANCE_BYTES = 80 };

unsigned edit_distance(const char *a, const char *b) {
    const size_t n = strnlen(a, DISTANCE_BYTES), m = strnlen(b, DISTANCE_BYTES);
    unsigned row[DISTANCE_BYTES + 1];
    for (size_t j = 0; j <= m; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[m];
}

static const char *last_part(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot == NULL ? name : dot + 1;
}

const struct config_key *config_key_nearest(const char *name) {
    const struct config_key *best = &config_keys[0];
    unsigned least = UINT32_MAX;
    for (size_t i = 0; i < n_config_keys; i++) {
        const struct config_key *k = &config_keys[i];
        if (k->form == CONFIG_OBSOLETE) continue;
        /* The right name in the wrong section is what was meant. */
        if (strcmp(last_part(k->name), last_part(name)) == 0) return k;
        const unsigned whole = edit_distance(name, k->name);
        const unsigned tail = edit_distance(last_part(name), last_part(k->name)) + 1;
        const unsigned distance = whole < tail ? whole : tail;
        if (distance < least) {
            least = distance;
            best = k;
        }
    }
    return best;
}
