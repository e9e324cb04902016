#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "test_main.h"

#include "device_testing.h"

const char *device_testing_program;

enum { PATIENCE_SECONDS = 300 };

/* Of all events; they are looked at after a link is destroyed, too. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t came = PTHREAD_COND_INITIALIZER;

static void on_event(void *ctx, const struct device_event *event) {
    struct device_testing *d = ctx;
    pthread_mutex_lock(&mutex);
    if (d->n_events > 0 && d->events[d->n_events - 1].kind == EVENT_LOST) d->after_lost++;
    if (event->kind == EVENT_PROGRESS)
        d->n_progress++;
    else if (d->n_events < TESTING_MAX_EVENTS)
        d->events[d->n_events++] = *event;
    pthread_cond_broadcast(&came);
    pthread_mutex_unlock(&mutex);
}

void device_testing_init(struct device_testing *d, struct device_spec spec, bool wait) {
    struct cuzk_error err = {.code = CUZK_OK};
    memset(d, 0, sizeof *d);
    if (spec.program == NULL) spec.program = device_testing_program;
    if (spec.backend == NULL) spec.backend = "fake";
    if (spec.workers == 0) spec.workers = 1;
    if (device_link_create(&d->link, &spec, on_event, d, &err) != CUZK_OK)
        fail_msg("%s: %s", err.where, err.what);
    if (wait) device_testing_wait(d, EVENT_UP, 1);
}

void device_testing_deinit(struct device_testing *d) {
    device_link_destroy(d->link);
    assert_int_equal(d->after_lost, 0);
    assert_true(d->n_events > 0);
    assert_int_equal(d->events[d->n_events - 1].kind, EVENT_LOST);
    assert_int_equal(device_testing_count(d, EVENT_LOST), 1);
}

/* The mutex is held. */
static unsigned count(const struct device_testing *d, enum device_event_kind kind,
                      struct device_event *last) {
    unsigned n = 0;
    for (unsigned i = 0; i < d->n_events; i++) {
        if (d->events[i].kind != kind) continue;
        *last = d->events[i];
        n++;
    }
    return n;
}

struct device_event device_testing_wait(struct device_testing *d, enum device_event_kind kind,
                                        unsigned wanted) {
    struct timespec until;
    struct device_event last = {0}, lost = {0};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_SECONDS;
    bool late = false;
    pthread_mutex_lock(&mutex);
    while (count(d, kind, &last) < wanted && count(d, EVENT_LOST, &lost) == 0 && !late)
        late = pthread_cond_timedwait(&came, &mutex, &until) == ETIMEDOUT;
    const bool good = count(d, kind, &last) >= wanted;
    pthread_mutex_unlock(&mutex);
    if (!good)
        fail_msg("%u events of kind %d did not come: %s %s", wanted, kind,
                 late ? "too late" : lost.error.where, lost.error.what);
    return last;
}

unsigned device_testing_count(struct device_testing *d, enum device_event_kind kind) {
    struct device_event last;
    pthread_mutex_lock(&mutex);
    const unsigned n = count(d, kind, &last);
    pthread_mutex_unlock(&mutex);
    return n;
}

bool device_testing_find(struct device_testing *d, enum device_event_kind kind, uint64_t task,
                         struct device_event *out) {
    bool found = false;
    pthread_mutex_lock(&mutex);
    for (unsigned i = 0; i < d->n_events && !found; i++) {
        found = d->events[i].kind == kind && d->events[i].task == task;
        if (found) *out = d->events[i];
    }
    pthread_mutex_unlock(&mutex);
    return found;
}

void device_testing_slab(struct slab *out, uint64_t id, size_t bytes) {
    *out = (struct slab){.bytes = bytes, .id = id, .kind = MEM_WITNESS};
    out->class_bytes = (bytes + 4095) / 4096 * 4096;
    out->fd = memfd_create("test-slab", MFD_CLOEXEC);
    assert_true(out->fd >= 0);
    assert_int_equal(ftruncate(out->fd, (off_t)out->class_bytes), 0);
    out->ptr = mmap(NULL, out->class_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, out->fd, 0);
    assert_true(out->ptr != MAP_FAILED);
}

void device_testing_slab_close(struct slab *slab) {
    munmap(slab->ptr, slab->class_bytes);
    close(slab->fd);
}
