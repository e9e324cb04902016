/*
 * Line and bar charts as SVG files, for cuzk-bench. Threads: none.
 */
#ifndef CLI_SVG_PLOT_H
#define CLI_SVG_PLOT_H

#include <stddef.h>

#include "error.h"

enum { SVG_MAX_SERIES = 12 };

struct svg_series {
    const char *label;
    const double *x, *y;
    size_t n;
};

struct svg_chart {
    const char *title, *x_label, *y_label;
    struct svg_series series[SVG_MAX_SERIES];
    size_t n_series;
};

/* Charts one above the other in one file. Errors: FILE_OPEN, FILE_WRITE. */
CUZK_NODISCARD cuzk_status svg_write(const char *path, const struct svg_chart *charts, size_t n,
                                     struct cuzk_error *err);

#endif
