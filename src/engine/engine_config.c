/* The engine's own copy of its configuration, with the usual values filled in. */
#include <stdlib.h>
#include <string.h>

#include "engine_config.h"

static bool copy(const char **text) {
    if (*text == NULL) return true;
    *text = strdup(*text);
    return *text != NULL;
}

/* All copies are tried, so that those that failed are NULL and the rest can be freed. */
static bool copy_texts(struct engine_config *c) {
    bool ok = copy(&c->param_dir);
    ok = copy(&c->state_dir) && ok;
    ok = copy(&c->budget_roots.proc) && ok;
    ok = copy(&c->budget_roots.cgroup) && ok;
    for (unsigned i = 0; i < c->n_preload; i++)
        ok = copy(&c->preload[i]) && ok;
    for (unsigned i = 0; i < c->n_devices; i++) {
        ok = copy(&c->devices[i].program) && ok;
        ok = copy(&c->devices[i].backend) && ok;
        ok = copy(&c->devices[i].options) && ok;
    }
    return ok;
}

static cuzk_status check(const struct engine_config *c, struct cuzk_error *err) {
    if (c->n_devices == 0 || c->n_devices > FLOW_MAX_DEVICES)
        return error_set(err, CUZK_CONFIG, "devices", "configure 1 to 16",
                         "%u devices are configured", c->n_devices);
    if (c->n_preload > PLAN_MAX_CIRCUITS)
        return error_set(err, CUZK_CONFIG, "preload", NULL, "%u circuits; at most %d are possible",
                         c->n_preload, PLAN_MAX_CIRCUITS);
    if (c->partition_workers >= ENGINE_MAX_SYNTHESIS)
        return error_set(err, CUZK_CONFIG, "partition_workers", "0 takes the plan's",
                         "%u; at most %d are possible", c->partition_workers,
                         ENGINE_MAX_SYNTHESIS - 1);
    for (unsigned d = 0; d < c->n_devices; d++) {
        if (c->devices[d].program == NULL || c->devices[d].backend == NULL)
            return error_set(err, CUZK_CONFIG, "devices", NULL,
                             "device %u has no program or no backend", d);
        if (c->devices[d].workers > ENGINE_DEVICE_TASKS / 2)
            return error_set(err, CUZK_CONFIG, "devices", NULL,
                             "device %u has %u workers; at most %d are possible", d,
                             c->devices[d].workers, ENGINE_DEVICE_TASKS / 2);
    }
    return CUZK_OK;
}

cuzk_status engine_config_copy(struct engine_config *out, const struct engine_config *in,
                               struct cuzk_error *err) {
    CUZK_TRY(check(in, err));
    *out = *in;
    if (!copy_texts(out)) {
        engine_config_free(out);
        return error_set(err, CUZK_NO_MEMORY, "configuration", NULL, "no memory");
    }
    if (out->age_after == 0) out->age_after = ENGINE_USUAL_AGE_AFTER;
    if (out->max_queued_jobs == 0) out->max_queued_jobs = ENGINE_USUAL_JOBS;
    if (out->keep_results == 0) out->keep_results = ENGINE_USUAL_RESULTS;
    if (out->keep_result_ns == 0) out->keep_result_ns = ENGINE_USUAL_KEEP_NS;
    if (out->max_message_bytes == 0) out->max_message_bytes = ENGINE_USUAL_MESSAGE;
    return CUZK_OK;
}

static void drop(const char **text) {
    free((char *)(uintptr_t)*text);
    *text = NULL;
}

void engine_config_free(struct engine_config *c) {
    drop(&c->param_dir);
    drop(&c->state_dir);
    drop(&c->budget_roots.proc);
    drop(&c->budget_roots.cgroup);
    for (unsigned i = 0; i < c->n_preload; i++)
        drop(&c->preload[i]);
    for (unsigned i = 0; i < c->n_devices; i++) {
        drop(&c->devices[i].program);
        drop(&c->devices[i].backend);
        drop(&c->devices[i].options);
    }
}
