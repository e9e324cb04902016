#include "svg_plot.h"

#include <math.h>
#include <stdio.h>

#include "file.h"

enum { WIDTH = 900, HEIGHT = 340, LEFT = 80, RIGHT = 210, TOP = 44, BOTTOM = 52, TICKS = 5 };

/* A palette that stays apart for the colour-blind (Okabe and Ito, 2008). */
static const char *const colours[SVG_MAX_SERIES] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                    "#e69f00", "#56b4e9", "#000000", "#7f7f7f",
                                                    "#8c564b", "#bcbd22", "#17becf", "#9467bd"};

static void put_text(FILE *f, const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '<')
            fputs("&lt;", f);
        else if (*text == '&')
            fputs("&amp;", f);
        else
            fputc(*text, f);
    }
}

/* The smallest 1, 2 or 5 times a power of ten that is not below v. */
static double round_up_nice(double v) {
    if (!(v > 0)) return 1;
    const double power = pow(10, floor(log10(v)));
    const double m = v / power;
    return power * (m <= 1 ? 1 : m <= 2 ? 2 : m <= 5 ? 5 : 10);
}

struct scale {
    double x_max, y_max;
    int top;
};

static double x_of(const struct scale *s, double x) {
    return LEFT + x / s->x_max * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct scale *s, double y) {
    return s->top + HEIGHT - BOTTOM - y / s->y_max * (HEIGHT - TOP - BOTTOM);
}

static struct scale scale_of(const struct svg_chart *c, int top) {
    double x = 0, y = 0;
    for (size_t i = 0; i < c->n_series; i++)
        for (size_t k = 0; k < c->series[i].n; k++) {
            x = fmax(x, c->series[i].x[k]);
            y = fmax(y, c->series[i].y[k]);
        }
    return (struct scale){
        .x_max = x > 0 ? x : 1, .y_max = TICKS * round_up_nice(y / TICKS), .top = top};
}

static void put_axes(FILE *f, const struct svg_chart *c, const struct scale *s) {
    fprintf(f, "<text x='%d' y='%d' font-size='15' font-weight='600'>", LEFT, s->top + 24);
    put_text(f, c->title);
    fputs("</text>\n", f);
    for (int i = 0; i <= TICKS; i++) {
        const double v = s->y_max * i / TICKS, y = y_of(s, v);
        fprintf(f, "<path d='M%d %.1fH%d' stroke='#ddd'/>", LEFT, y, WIDTH - RIGHT);
        fprintf(f, "<text x='%d' y='%.1f' text-anchor='end'>%g</text>\n", LEFT - 8, y + 4, v);
        const double t = s->x_max * i / TICKS;
        fprintf(f, "<text x='%.1f' y='%d' text-anchor='middle'>%.3g</text>\n", x_of(s, t),
                s->top + HEIGHT - BOTTOM + 18, t);
    }
    fprintf(f, "<text x='%d' y='%d' text-anchor='middle'>", (LEFT + WIDTH - RIGHT) / 2,
            s->top + HEIGHT - 12);
    put_text(f, c->x_label);
    fprintf(f, "</text>\n<text transform='translate(18 %d) rotate(-90)' text-anchor='middle'>",
            s->top + HEIGHT / 2);
    put_text(f, c->y_label);
    fputs("</text>\n", f);
}

static void put_series(FILE *f, const struct svg_chart *c, const struct scale *s, size_t i) {
    const struct svg_series *series = &c->series[i];
    fprintf(f, "<polyline fill='none' stroke='%s' stroke-width='1.8' points='", colours[i]);
    for (size_t k = 0; k < series->n; k++)
        fprintf(f, "%.1f,%.1f ", x_of(s, series->x[k]), y_of(s, series->y[k]));
    const int y = s->top + TOP + 12 + 20 * (int)i;
    fprintf(f, "'/>\n<path d='M%d %dh22' stroke='%s' stroke-width='3'/>", WIDTH - RIGHT + 14, y - 4,
            colours[i]);
    fprintf(f, "<text x='%d' y='%d'>", WIDTH - RIGHT + 42, y);
    put_text(f, series->label);
    fputs("</text>\n", f);
}

cuzk_status svg_write(const char *path, const struct svg_chart *charts, size_t n,
                      struct cuzk_error *err) {
    struct out_file out;
    CUZK_TRY(file_begin(&out, path, err));
    FILE *f = out.stream;
    fprintf(f,
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' font-size='12' "
            "font-family='system-ui, sans-serif'>\n<rect width='100%%' height='100%%' "
            "fill='#fff'/>\n",
            WIDTH, (int)n * HEIGHT);
    for (size_t i = 0; i < n; i++) {
        const struct scale s = scale_of(&charts[i], (int)i * HEIGHT);
        put_axes(f, &charts[i], &s);
        for (size_t k = 0; k < charts[i].n_series; k++)
            put_series(f, &charts[i], &s, k);
    }
    fputs("</svg>\n", f);
    return file_commit(&out, err);
}
