#include "device_link.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "circuit_files.h"
#include "clock.h"
#include "device_link_internal.h"
#include "device_spawn.h"

static const uint64_t second_ns = 1000000000u;

/* ---- the queue ---- */

void link_enqueue(struct device_link *link, const struct device_message *m, int fd) {
    struct outgoing *o = malloc(sizeof *o);
    const int copy = fd >= 0 && o != NULL ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (o == NULL || (fd >= 0 && copy < 0)) {
        free(o);
        link->no_memory = true;
        return;
    }
    *o = (struct outgoing){.fd = copy, .message = *m};
    if (link->last != NULL)
        link->last->next = o;
    else
        link->first = o;
    link->last = o;
}

void link_wake(struct device_link *link) {
    const uint64_t one = 1;
    /* It fails only when the count is at its largest, and the thread awake for sure. */
    if (write(link->wake, &one, sizeof one) < 0) assert(errno == EAGAIN);
}

/* Under the lock, unless the link is lost; wakes the thread. */
static void request(struct device_link *link, void (*fn)(struct device_link *, const void *),
                    const void *arg) {
    lock_take(&link->lock);
    if (!link->lost) {
        fn(link, arg);
        link_wake(link);
    }
    lock_give(&link->lock);
}

/* ---- loads ---- */

struct load_args {
    const char *circuit_id, *path; /* path NULL: evict */
};

static struct link_circuit *circuit_place(struct device_link *link, const char *id) {
    struct link_circuit *unused = NULL;
    for (size_t i = 0; i < DEVICE_MAX_CIRCUITS; i++) {
        struct link_circuit *c = &link->circuits[i];
        const bool used = c->loads + c->evictions > 0;
        if (used && strcmp(c->circuit_id, id) == 0) return c;
        if (!used && unused == NULL) unused = c;
    }
    assert(unused != NULL); /* more circuits at once than there are */
    *unused = (struct link_circuit){.heard_ns = clock_ns()};
    const bool fits = device_text_set(unused->circuit_id, sizeof unused->circuit_id, id);
    assert(fits);
    (void)fits;
    return unused;
}

static void request_circuit(struct device_link *link, const void *arg) {
    const struct load_args *a = arg;
    struct link_circuit *c = circuit_place(link, a->circuit_id);
    struct device_message m;
    device_message_init(&m, a->path != NULL ? DEVICE_LOAD : DEVICE_EVICT);
    memcpy(m.body.circuit.circuit_id, c->circuit_id, sizeof c->circuit_id);
    link->progress_ns = clock_ns();
    if (a->path == NULL) {
        c->evictions++;
    } else {
        c->loads++;
        if (!device_text_set(m.body.circuit.path, sizeof m.body.circuit.path, a->path) ||
            a->path[0] == '\0') {
            c->refused++;
            return;
        }
    }
    link_enqueue(link, &m, -1);
}

void device_link_load(struct device_link *link, const char *circuit_id, const char *params_path) {
    const struct load_args a = {circuit_id,
                                params_path != NULL ? params_path : default_params_dir()};
    request(link, request_circuit, &a);
}

void device_link_evict(struct device_link *link, const char *circuit_id) {
    const struct load_args a = {circuit_id, NULL};
    request(link, request_circuit, &a);
}

/* ---- tasks ---- */

static void forget_slab(struct device_link *link, unsigned i) {
    struct device_message m;
    device_message_init(&m, DEVICE_DROP_SLAB);
    m.body.slab.slab_id = link->slabs[i];
    link->n_slabs--;
    memmove(link->slabs + i, link->slabs + i + 1, (link->n_slabs - i) * sizeof link->slabs[0]);
    link_enqueue(link, &m, -1);
}

static void announce_slab(struct device_link *link, const struct slab *slab) {
    for (unsigned i = 0; i < link->n_slabs; i++)
        if (link->slabs[i] == slab->id) return;
    if (link->n_slabs == DEVICE_MAX_SLABS) forget_slab(link, 0);
    struct device_message m;
    device_message_init(&m, DEVICE_SLAB);
    m.body.slab = (struct device_slab){.slab_id = slab->id, .bytes = slab->class_bytes};
    link->slabs[link->n_slabs++] = slab->id;
    link_enqueue(link, &m, slab->fd);
}

static struct link_task *task_find(struct device_link *link, uint64_t task) {
    for (size_t i = 0; i < DEVICE_MAX_TASKS; i++)
        if (link->tasks[i].task == task) return &link->tasks[i];
    return NULL;
}

static void request_prove(struct device_link *link, const void *arg) {
    const struct device_task *t = arg;
    assert(t->task != 0 && task_find(link, t->task) == NULL);
    assert(link->n_tasks < link->max_tasks);
    assert(t->witness->id != 0 && t->witness->bytes <= t->witness->class_bytes);
    announce_slab(link, t->witness);
    struct device_message m;
    device_message_init(&m, DEVICE_PROVE);
    m.body.prove.task = t->task;
    m.body.prove.slab_id = t->witness->id;
    m.body.prove.witness_bytes = t->witness->bytes;
    m.body.prove.fixed_blinding = t->fixed_blinding;
    m.body.prove.r = t->r;
    m.body.prove.s = t->s;
    const bool fits =
        device_text_set(m.body.prove.circuit_id, sizeof m.body.prove.circuit_id, t->circuit_id);
    assert(fits);
    (void)fits;
    struct link_task *place = task_find(link, 0);
    link->progress_ns = clock_ns();
    *place = (struct link_task){.task = t->task, .heard_ns = link->progress_ns};
    memcpy(place->circuit_id, m.body.prove.circuit_id, sizeof place->circuit_id);
    link->n_tasks++;
    link_enqueue(link, &m, -1);
}

void device_link_prove(struct device_link *link, const struct device_task *task) {
    request(link, request_prove, task);
}

static void request_cancel(struct device_link *link, const void *arg) {
    const uint64_t *task = arg;
    if (*task == 0 || task_find(link, *task) == NULL) return;
    struct device_message m;
    device_message_init(&m, DEVICE_CANCEL);
    m.body.cancel.task = *task;
    link_enqueue(link, &m, -1);
}

void device_link_cancel(struct device_link *link, uint64_t task) {
    request(link, request_cancel, &task);
}

static void request_drop(struct device_link *link, const void *arg) {
    const uint64_t *id = arg;
    for (unsigned i = 0; i < link->n_slabs; i++)
        if (link->slabs[i] == *id) {
            forget_slab(link, i);
            return;
        }
}

void device_link_drop_slab(struct device_link *link, uint64_t slab_id) {
    request(link, request_drop, &slab_id);
}

static void request_kill(struct device_link *link, const void *arg) {
    (void)arg;
    link->kill = true;
}

void device_link_kill(struct device_link *link) {
    request(link, request_kill, NULL);
}

/* ---- state ---- */

/* A line "KEY:  123 kB" of a /proc status text, in bytes; 0: there is none. */
static uint64_t status_line_bytes(const char *text, const char *key) {
    const char *line = strstr(text, key);
    return line != NULL ? strtoull(line + strlen(key), NULL, 10) * 1024 : 0;
}

/* RssShmem is what is mapped of memfds: in a device's process the slabs, and nothing else. */
static void read_memory(pid_t pid, struct device_state *out) {
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    const ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0) return;
    text[n] = '\0';
    out->rss_bytes = status_line_bytes(text, "\nVmRSS:");
    out->peak_rss_bytes = status_line_bytes(text, "\nVmHWM:");
    out->shared_bytes = status_line_bytes(text, "\nRssShmem:");
}

void device_link_state(struct device_link *link, struct device_state *out) {
    *out = (struct device_state){.pid = link->pid};
    lock_take(&link->lock);
    out->up = link->up;
    out->lost = link->lost;
    out->tasks = link->n_tasks;
    out->age_ns = clock_ns() - link->answer_ns;
    static_assert(sizeof out->name == sizeof link->identity.name &&
                      sizeof out->backend == sizeof link->identity.backend,
                  "texts are copied whole");
    memcpy(out->name, link->identity.name, sizeof out->name);
    memcpy(out->backend, link->identity.backend, sizeof out->backend);
    memcpy(out->class_bytes, link->pong.class_bytes, sizeof out->class_bytes);
    memcpy(out->class_high_water, link->pong.class_high_water, sizeof out->class_high_water);
    if (!link->lost) read_memory(link->pid, out); /* its number is not given to another yet */
    lock_give(&link->lock);
}

/* ---- life ---- */

static cuzk_status configure(struct device_link *link, const struct device_spec *spec,
                             struct cuzk_error *err) {
    struct device_message m;
    device_message_init(&m, DEVICE_CONFIGURE);
    struct device_configure *c = &m.body.configure;
    c->workers = spec->workers;
    c->pendings = spec->pendings;
    c->threads = spec->threads != 0 ? spec->threads : pool_cpus();
    if (!device_text_set(c->backend, sizeof c->backend, spec->backend) ||
        !device_text_set(c->options, sizeof c->options,
                         spec->options != NULL ? spec->options : "") ||
        c->backend[0] == '\0' || spec->workers == 0 || spec->workers > DEVICE_MAX_TASKS ||
        spec->pendings > DEVICE_MAX_TASKS - spec->workers || c->threads > DEVICE_MAX_THREADS)
        return error_set(err, CUZK_DEVICE_LOST, "device", "correct the device's settings",
                         "backend, options, workers, pendings or threads are out of range");
    memcpy(link->backend, c->backend, sizeof link->backend);
    link_enqueue(link, &m, -1);
    return CUZK_OK;
}

static void link_free(struct device_link *link) {
    for (struct outgoing *o = link->first; o != NULL;) {
        struct outgoing *next = o->next;
        if (o->fd >= 0) close(o->fd);
        free(o);
        o = next;
    }
    if (link->wake >= 0) close(link->wake);
    lock_destroy(&link->lock);
    free(link);
}

static struct device_link *link_new(const struct device_spec *spec, device_event_fn fn, void *ctx) {
    struct device_link *link = calloc(1, sizeof *link);
    if (link == NULL) return NULL;
    link->fn = fn;
    link->ctx = ctx;
    link->socket = link->wake = -1;
    link->max_tasks = spec->workers + spec->pendings;
    link->ping_timeout_ns = spec->ping_timeout_ns != 0 ? spec->ping_timeout_ns : 10 * second_ns;
    link->progress_timeout_ns =
        spec->progress_timeout_ns != 0 ? spec->progress_timeout_ns : 1800 * second_ns;
    link->ping_every_ns =
        link->ping_timeout_ns / 4 < second_ns ? link->ping_timeout_ns / 4 : second_ns;
    link->answer_ns = link->progress_ns = link->ping_ns = clock_ns();
    lock_init(&link->lock, LOCK_DEVICE);
    return link;
}

static cuzk_status start(struct device_link *link, const struct device_spec *spec,
                         struct cuzk_error *err) {
    CUZK_TRY(configure(link, spec, err));
    link->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (link->wake < 0)
        return error_set(err, CUZK_DEVICE_LOST, spec->program, "raise the limit of open files",
                         "no event descriptor: %s", strerror(errno));
    CUZK_TRY(device_spawn(spec->program, link->backend, &link->socket, &link->pid, err));
    const int e = pthread_create(&link->thread, NULL, link_thread, link);
    if (e == 0) return CUZK_OK;
    int status;
    kill(link->pid, SIGKILL);
    close(link->socket);
    device_reap(link->pid, 5 * second_ns, &status);
    return error_set(err, CUZK_DEVICE_LOST, spec->program, NULL, "no thread for it: %s",
                     strerror(e));
}

cuzk_status device_link_create(struct device_link **out, const struct device_spec *spec,
                               device_event_fn fn, void *ctx, struct cuzk_error *err) {
    *out = NULL;
    struct device_link *link = link_new(spec, fn, ctx);
    if (link == NULL)
        return error_set(err, CUZK_DEVICE_LOST, spec->program, NULL, "no memory for a device");
    const cuzk_status s = start(link, spec, err);
    if (s != CUZK_OK) {
        link_free(link);
        return s;
    }
    *out = link;
    return CUZK_OK;
}

static void request_quit(struct device_link *link, const void *arg) {
    (void)arg;
    struct device_message m;
    device_message_init(&m, DEVICE_QUIT);
    link->quit = true;
    link->quit_ns = clock_ns();
    link_enqueue(link, &m, -1);
}

void device_link_destroy(struct device_link *link) {
    if (link == NULL) return;
    request(link, request_quit, NULL);
    pthread_join(link->thread, NULL);
    link_free(link);
}
