#include "command.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

const char *format_bytes(char out[32], uint64_t bytes) {
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1000 && unit + 1 < sizeof units / sizeof units[0]) {
        value /= 1000;
        unit++;
    }
    snprintf(out, 32, unit == 0 ? "%.0f %s" : "%.2f %s", value, units[unit]);
    return out;
}

void note_replica_id(bool miner_given, bool checked) {
    if (checked) return;
    fprintf(stderr, "note: without %s the replica id is taken from the file unchecked\n",
            miner_given ? "a SectorNum in the file" : "--miner");
}

cuzk_status check_threads(uint64_t threads, struct cuzk_error *err) {
    if (threads <= 1024) return CUZK_OK;
    return error_set(err, CUZK_USAGE, "--threads", "give at most 1024", "%" PRIu64 " is too many",
                     threads);
}

/* A global, since a signal's handler has no other way to reach the running work. */
static atomic_bool interrupted;

static void on_interrupt(int signal) {
    (void)signal;
    atomic_store(&interrupted, true);
}

/* The first signal cancels, so that unfinished files are removed; the second one kills. */
static void catch_interrupts(void) {
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESETHAND | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

cuzk_status workers_init(struct workers *w, uint64_t threads, bool show_progress,
                         struct cuzk_error *err) {
    *w = (struct workers){0};
    CUZK_TRY(check_threads(threads, err));
    CUZK_TRY(pool_create(&w->pool, (unsigned)threads, err));
    progress_bar_init(&w->bar, show_progress);
    catch_interrupts();
    w->progress =
        (struct progress){.report = progress_bar_report, .ctx = &w->bar, .cancel = &interrupted};
    return CUZK_OK;
}

void workers_deinit(struct workers *w) {
    progress_bar_end(&w->bar);
    pool_destroy(w->pool);
    w->pool = NULL;
}
