/*
 * The checks of `cuzk doctor`: what a start of the daemon needs, looked at without serving.
 *
 * Each check says one line or more through doctor_say. Threads: one.
 */
#ifndef CLI_DOCTOR_CHECKS_H
#define CLI_DOCTOR_CHECKS_H

#include "config.h"
#include "json_out.h"

enum doctor_level { DOCTOR_OK, DOCTOR_WARN, DOCTOR_FAIL, DOCTOR_LEVELS };

struct doctor {
    struct config *config;
    struct json_out *json; /* NULL: lines to stdout */
    unsigned count[DOCTOR_LEVELS];
    struct cuzk_error first; /* of the first FAIL */
    struct budget budget;    /* filled by doctor_check_memory */
};

/* `check`: "parameters porep-2k"; `hint` may be NULL: what to do. */
void doctor_say(struct doctor *d, enum doctor_level level, const char *check, const char *hint,
                const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* A line from an error; a FAIL's is kept in `first`. */
void doctor_say_error(struct doctor *d, enum doctor_level level, const char *check,
                      const struct cuzk_error *err);

void doctor_check_cpu(struct doctor *d);
void doctor_check_memory(struct doctor *d);
void doctor_check_parameters(struct doctor *d);
void doctor_check_disk(struct doctor *d);
/* Free room, and whether it is a disk; `written`: the daemon writes there. */
void doctor_check_folder(struct doctor *d, const char *check, const char *path, bool written);
void doctor_check_addresses(struct doctor *d);
void doctor_check_device(struct doctor *d); /* starts a device and waits for its self-test */
void doctor_check_plan(struct doctor *d);   /* after doctor_check_memory */

#endif
