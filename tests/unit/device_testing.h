/*
 * What tests of a device share: a link whose events are kept, and slabs that are memfds of the
 * test. Functions fail the test that calls them when something takes too long.
 */
#ifndef DEVICE_TESTING_H
#define DEVICE_TESTING_H

#include "device_link.h"

enum { TESTING_MAX_EVENTS = 1024 };

struct device_testing {
    struct device_link *link;
    struct device_event events[TESTING_MAX_EVENTS]; /* without PROGRESS */
    unsigned n_events, n_progress;
    unsigned after_lost; /* events that came when none may */
};

/* The program to start: set once by main. */
extern const char *device_testing_program;

/* Starts it and waits for EVENT_UP, unless `wait` is false. NULL fields of spec are filled. */
void device_testing_init(struct device_testing *d, struct device_spec spec, bool wait);
/* Destroys the link: EVENT_LOST must be the last event, and must have come. */
void device_testing_deinit(struct device_testing *d);

/* Waits until as many events of the kind have come; the last of them. */
struct device_event device_testing_wait(struct device_testing *d, enum device_event_kind kind,
                                        unsigned count);
unsigned device_testing_count(struct device_testing *d, enum device_event_kind kind);
/* The event of that kind and task; false: it has not come. */
bool device_testing_find(struct device_testing *d, enum device_event_kind kind, uint64_t task,
                         struct device_event *out);

void device_testing_slab(struct slab *out, uint64_t id, size_t bytes);
void device_testing_slab_close(struct slab *slab);

#endif
