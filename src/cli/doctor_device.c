/* `cuzk doctor`: a device's process is started, tests itself, and is ended again. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "doctor_checks.h"
#include "lock.h"

#define SELF_TEST_NS ((uint64_t)120 * 1000000000)

struct wait {
    struct lock lock;
    struct lock_cond changed;
    bool up, lost;
    struct cuzk_error error;
};

static void on_event(void *ctx, const struct device_event *event) {
    struct wait *w = ctx;
    lock_take(&w->lock);
    if (event->kind == EVENT_UP) w->up = true;
    if (event->kind == EVENT_LOST && !w->up) {
        w->lost = true;
        w->error = event->error;
    }
    lock_cond_wake_all(&w->changed);
    lock_give(&w->lock);
}

static void wait_for_self_test(struct doctor *d, const char *check, const struct device_spec *spec,
                               struct wait *w) {
    struct device_link *link = NULL;
    struct cuzk_error err = {0};
    const uint64_t begin = clock_ns();
    if (device_link_create(&link, spec, on_event, w, &err) != CUZK_OK) {
        doctor_say_error(d, DOCTOR_FAIL, check, &err);
        return;
    }
    lock_take(&w->lock);
    while (!w->up && !w->lost && lock_cond_wait_until(&w->changed, &w->lock, begin + SELF_TEST_NS))
        ;
    const bool up = w->up, lost = w->lost;
    lock_give(&w->lock);
    struct device_state state;
    device_link_state(link, &state);
    device_link_destroy(link);
    if (up)
        doctor_say(d, DOCTOR_OK, check, NULL, "%s: self-test passed in %.2f s", state.name,
                   clock_seconds_since(begin));
    else if (lost)
        doctor_say_error(d, DOCTOR_FAIL, check, &w->error);
    else
        doctor_say(d, DOCTOR_FAIL, check, "look for the device program's messages",
                   "no answer from %s", spec->program);
}

void doctor_check_device(struct doctor *d) {
    const struct engine_config *e = &d->config->engine;
    for (unsigned i = 0; i < e->n_devices; i++) {
        const struct engine_device_config *c = &e->devices[i];
        char check[40];
        snprintf(check, sizeof check, "device %s:%u", c->backend, i);
        if (access(c->program, X_OK) != 0) {
            doctor_say(d, DOCTOR_FAIL, check, "install it, or set gpus.device_program", "%s: %s",
                       c->program, strerror(errno));
            continue;
        }
        const struct device_spec spec = {.program = c->program,
                                         .backend = c->backend,
                                         .options = c->options,
                                         .workers = c->workers > 0 ? c->workers : 1,
                                         .threads = e->device_threads};
        struct wait w = {.up = false};
        lock_init(&w.lock, LOCK_SERVER);
        lock_cond_init(&w.changed);
        wait_for_self_test(d, check, &spec, &w);
        lock_cond_destroy(&w.changed);
        lock_destroy(&w.lock);
    }
}
