/*
 * A progress bar on stderr: one line, redrawn at most ten times a second on a terminal; elsewhere
 * one line a phase, so that logs stay short.
 */
#ifndef CLI_PROGRESS_BAR_H
#define CLI_PROGRESS_BAR_H

#include <stdbool.h>
#include <stdint.h>

struct progress_bar {
    bool enabled;
    bool on_terminal;
    bool line_open;
    char phase[64];
    uint64_t phase_start_ns, last_draw_ns;
};

void progress_bar_init(struct progress_bar *bar, bool enabled);
/* Has the form of cuzk_progress_fn; user is the bar. */
void progress_bar_report(void *user, const char *phase, uint64_t done, uint64_t total);
/* Ends the line; call before anything else is printed. */
void progress_bar_end(struct progress_bar *bar);

#endif
