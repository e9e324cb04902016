#include "device_process.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device_process_internal.h"
#include "error.h"

void process_send(const struct process *p, const struct device_message *m) {
    if (device_send(p->socket, m, -1, true) != SENT) _exit(0);
}

_Noreturn void process_fail(const struct process *p, const struct cuzk_error *err) {
    struct device_message m;
    device_message_init(&m, DEVICE_FATAL);
    device_failure_set(&m.body.failure, err);
    device_send(p->socket, &m, -1, false);
    _exit(status_exit_code(err->code));
}

_Noreturn void process_break(const struct process *p, const char *message, const char *what) {
    struct cuzk_error err;
    error_set(&err, CUZK_DEVICE_PROTOCOL, message, "report this", "the daemon broke the rules: %s",
              what);
    process_fail(p, &err);
}

static void begin_thread(const struct process *p, void *(*fn)(void *), void *arg) {
    pthread_t thread;
    struct cuzk_error err;
    const int e = pthread_create(&thread, NULL, fn, arg);
    if (e == 0) {
        pthread_detach(thread);
        return;
    }
    error_set(&err, CUZK_NO_MEMORY, "device", "raise the limit of threads", "no thread: %s",
              strerror(e));
    process_fail(p, &err);
}

static const struct runner *runner_by_name(const char *name) {
    static const struct runner *const all[] = {&runner_cpu, &runner_fake};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(all[i]->name, name) == 0) return all[i];
    return NULL;
}

static void configure(struct process *p, const struct device_configure *c) {
    static struct worker workers[DEVICE_MAX_TASKS];
    if (p->runner != NULL) process_break(p, "CONFIGURE", "it came twice");
    p->runner = runner_by_name(c->backend);
    if (p->runner == NULL) {
        struct cuzk_error err;
        error_set(&err, CUZK_CONFIG, "backend", "\"cpu\" is one", "there is no backend \"%s\"",
                  c->backend);
        process_fail(p, &err);
    }
    memcpy(p->options, c->options, sizeof p->options);
    p->config = (struct runner_config){.options = p->options,
                                       .workers = c->workers,
                                       .pendings = c->pendings,
                                       .threads = c->threads,
                                       .socket = p->socket};
    begin_thread(p, circuits_thread, p);
    begin_thread(p, tasks_finisher_thread, p);
    for (unsigned i = 0; i < c->workers; i++) {
        workers[i] = (struct worker){.process = p, .number = i};
        begin_thread(p, tasks_worker_thread, &workers[i]);
    }
}

static void answer_ping(struct process *p, uint64_t number) {
    struct device_message m;
    lock_take(&p->lock);
    const bool silent = p->up && p->runner->answers != NULL && !p->runner->answers(p->self);
    lock_give(&p->lock);
    if (silent) return;
    device_message_init(&m, DEVICE_PONG);
    m.body.pong.number = number;
    for (int c = 0; c < MEM_CLASSES; c++) {
        m.body.pong.class_bytes[c] = mem_in_use((enum mem_class)c);
        m.body.pong.class_high_water[c] = mem_high_water((enum mem_class)c);
    }
    process_send(p, &m);
}

static void take_slab(struct process *p, const struct device_slab *slab, int fd) {
    struct cuzk_error err;
    lock_take(&p->lock);
    const cuzk_status s = device_maps_add(&p->maps, slab, fd, &err);
    lock_give(&p->lock);
    close(fd);
    if (s != CUZK_OK) process_fail(p, &err);
}

static void drop_slab(struct process *p, uint64_t slab_id) {
    lock_take(&p->lock);
    device_maps_drop(&p->maps, slab_id);
    lock_give(&p->lock);
}

static void on_message(struct process *p, const struct device_message *m, int fd) {
    if (p->runner == NULL && m->head.kind != DEVICE_CONFIGURE && m->head.kind != DEVICE_QUIT)
        process_break(p, device_message_name(m->head.kind), "CONFIGURE comes first");
    switch (m->head.kind) {
    case DEVICE_CONFIGURE:
        configure(p, &m->body.configure);
        break;
    case DEVICE_PING:
        answer_ping(p, m->body.ping.number);
        break;
    case DEVICE_LOAD:
        circuits_request(p, true, &m->body.circuit);
        break;
    case DEVICE_EVICT:
        circuits_request(p, false, &m->body.circuit);
        break;
    case DEVICE_SLAB:
        take_slab(p, &m->body.slab, fd);
        break;
    case DEVICE_DROP_SLAB:
        drop_slab(p, m->body.slab.slab_id);
        break;
    case DEVICE_PROVE:
        tasks_prove(p, &m->body.prove);
        break;
    case DEVICE_CANCEL:
        tasks_cancel(p, m->body.cancel.task);
        break;
    default: /* DEVICE_QUIT */
        _exit(0);
    }
}

_Noreturn void device_process_run(int socket) {
    static struct process process;
    struct process *p = &process;
    /* A service manager signals all processes of a service; it is the daemon that decides. */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    p->socket = socket;
    lock_init(&p->lock, LOCK_DEVICE);
    lock_cond_init(&p->changed);
    for (;;) {
        struct device_message m;
        struct cuzk_error err;
        enum device_receipt receipt;
        int fd;
        struct pollfd poll_fd = {.fd = socket, .events = POLLIN};
        poll(&poll_fd, 1, -1);
        if (device_receive(socket, &m, &fd, &receipt, TO_DEVICE, &err) != CUZK_OK)
            process_fail(p, &err);
        if (receipt == RECEIVED_END) _exit(0);
        if (receipt == RECEIVED) on_message(p, &m, fd);
    }
}
