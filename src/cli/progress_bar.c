#include "progress_bar.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"

enum { BAR_CELLS = 30 };
static const uint64_t redraw_ns = 100000000;

void progress_bar_init(struct progress_bar *bar, bool enabled) {
    *bar = (struct progress_bar){.enabled = enabled, .on_terminal = isatty(STDERR_FILENO) == 1};
}

static void finish_phase(struct progress_bar *bar) {
    if (bar->phase[0] == '\0') return;
    const double seconds = clock_seconds_since(bar->phase_start_ns);
    fprintf(stderr, "%s%-28s %8.2f s%s\n", bar->on_terminal ? "\r" : "", bar->phase, seconds,
            bar->on_terminal ? "\033[K" : "");
    bar->phase[0] = '\0';
    bar->line_open = false;
}

static void draw(struct progress_bar *bar, uint64_t done, uint64_t total) {
    char cells[BAR_CELLS + 1];
    const double part = total > 0 && done <= total ? (double)done / (double)total : 0.0;
    const int full = (int)(part * BAR_CELLS);
    for (int i = 0; i < BAR_CELLS; i++)
        cells[i] = i < full ? '#' : '.';
    cells[BAR_CELLS] = '\0';
    fprintf(stderr, "\r%-28s [%s] %3.0f %%\033[K", bar->phase, cells, 100 * part);
    fflush(stderr);
    bar->line_open = true;
}

void progress_bar_report(void *user, const char *phase, uint64_t done, uint64_t total) {
    struct progress_bar *bar = user;
    if (!bar->enabled) return;
    const uint64_t now = clock_ns();
    if (strncmp(phase, bar->phase, sizeof bar->phase - 1) != 0) {
        finish_phase(bar);
        snprintf(bar->phase, sizeof bar->phase, "%s", phase);
        bar->phase_start_ns = now;
        bar->last_draw_ns = 0;
    }
    if (bar->on_terminal && now - bar->last_draw_ns >= redraw_ns) {
        bar->last_draw_ns = now;
        draw(bar, done, total);
    }
}

void progress_bar_end(struct progress_bar *bar) {
    if (bar->enabled) finish_phase(bar);
}
