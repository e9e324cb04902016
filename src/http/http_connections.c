#include "http_connections.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "clock.h"
#include "http_server.h"
#include "lock.h"

/* Kept free: the library accepts up to ten at a time before it looks at those shut down. */
enum { KEPT_FREE = 16 };

struct http_connection {
    bool open, shut;
    int fd;
    uint64_t until_ns;
};

struct http_connections {
    struct lock lock;
    struct lock_cond changed;
    pthread_t thread;
    uint64_t limit_ns;
    bool ending;
    unsigned n_live; /* open and not shut */
    struct http_connection slot[HTTP_MOST_CONNECTIONS];
};

/* The socket stays open, and its number in use, until the library has seen the end. */
static void shut(struct http_connections *c, struct http_connection *one) {
    one->shut = true;
    c->n_live--;
    shutdown(one->fd, SHUT_RDWR);
}

/* The one whose time is up first, or NULL. */
static struct http_connection *first_due(struct http_connections *c) {
    struct http_connection *first = NULL;
    for (unsigned i = 0; i < HTTP_MOST_CONNECTIONS; i++) {
        struct http_connection *one = &c->slot[i];
        if (!one->open || one->shut) continue;
        if (first == NULL || one->until_ns < first->until_ns) first = one;
    }
    return first;
}

static void *watch(void *arg) {
    struct http_connections *c = arg;
    lock_take(&c->lock);
    while (!c->ending) {
        struct http_connection *first = first_due(c);
        if (first == NULL) {
            lock_cond_wait(&c->changed, &c->lock);
        } else if (first->until_ns <= clock_ns()) {
            shut(c, first);
        } else {
            (void)lock_cond_wait_until(&c->changed, &c->lock, first->until_ns);
        }
    }
    lock_give(&c->lock);
    return NULL;
}

cuzk_status http_connections_create(struct http_connections **out, uint64_t limit_ns,
                                    struct cuzk_error *err) {
    struct http_connections *c = calloc(1, sizeof *c);
    if (c == NULL)
        return error_set(err, CUZK_NO_MEMORY, "http", NULL, "no memory for the connections");
    c->limit_ns = limit_ns;
    lock_init(&c->lock, LOCK_SERVER);
    lock_cond_init(&c->changed);
    if (pthread_create(&c->thread, NULL, watch, c) != 0) {
        lock_cond_destroy(&c->changed);
        lock_destroy(&c->lock);
        free(c);
        return error_set(err, CUZK_NO_MEMORY, "http", NULL, "no thread could be started");
    }
    *out = c;
    return CUZK_OK;
}

void http_connections_destroy(struct http_connections *c) {
    if (c == NULL) return;
    lock_take(&c->lock);
    c->ending = true;
    lock_cond_wake_all(&c->changed);
    lock_give(&c->lock);
    pthread_join(c->thread, NULL);
    lock_cond_destroy(&c->changed);
    lock_destroy(&c->lock);
    free(c);
}

struct http_connection *http_connection_opened(struct http_connections *c, int fd) {
    struct http_connection *one = NULL;
    lock_take(&c->lock);
    if (c->n_live >= HTTP_MOST_CONNECTIONS - KEPT_FREE) shut(c, first_due(c));
    for (unsigned i = 0; i < HTTP_MOST_CONNECTIONS && one == NULL; i++)
        if (!c->slot[i].open) one = &c->slot[i];
    if (one != NULL) {
        *one =
            (struct http_connection){.open = true, .fd = fd, .until_ns = clock_ns() + c->limit_ns};
        c->n_live++;
        /* Only the first has a time that the thread does not wait for already. */
        if (c->n_live == 1) lock_cond_wake_all(&c->changed);
    }
    lock_give(&c->lock);
    return one;
}

void http_connection_answered(struct http_connections *c, struct http_connection *one) {
    lock_take(&c->lock);
    one->until_ns = clock_ns() + c->limit_ns;
    lock_give(&c->lock);
}

void http_connection_closed(struct http_connections *c, struct http_connection *one) {
    lock_take(&c->lock);
    if (!one->shut) c->n_live--;
    one->open = false;
    lock_give(&c->lock);
}
