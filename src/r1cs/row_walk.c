#include "row_walk.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- segments ---- */

/* Resolves the ports of a stamp in frame f into `out`. */
static void bind_ports(const struct frame_view *f, const struct item *item,
                       const struct template *child, uint32_t *out) {
    if (child->n_ports == 0) return; /* there may be no list at all */
    struct row_cursor c = row_cursor_at(f->t->bindings.data + item->at);
    for (uint32_t i = 0; i < child->n_ports;) {
        uint32_t n;
        const var first = binding_next(&c, &n);
        if (var_kind_of(first) == VAR_PORT) {
            memcpy(out + i, f->ports + var_index(first), n * sizeof *out);
        } else {
            const uint32_t id = resolve(f, first.id);
            for (uint32_t j = 0; j < n; j++)
                out[i + j] = id + j;
        }
        i += n;
    }
}

struct walk {
    const struct r1cs *r;
    segment_fn fn;
    void *ctx;
};

/* Rows [from, to) of the frame; `ports` is free space for the frames below it. */
static void visit_frame(const struct walk *w, const struct frame_view *f, uint32_t from,
                        uint32_t to, uint32_t *ports) {
    const struct item *items = template_items(f->t);
    for (uint32_t i = template_find(f->t, from); i < f->t->n_items && items[i].first_row < to;
         i++) {
        const struct item *item = &items[i];
        const uint32_t end = item_end(f->t, i);
        const uint32_t low = item->first_row > from ? item->first_row : from;
        const uint32_t high = end < to ? end : to;
        if (low >= high) continue;
        if (item->child == ITEM_RAW) {
            w->fn(w->ctx, f, item, low, high);
            continue;
        }
        const struct template *child = template_at(w->r, item->child);
        bind_ports(f, item, child, ports);
        const struct frame_view below = {.t = child,
                                         .ports = ports,
                                         .first_aux = f->first_aux + item->first_aux,
                                         .first_input = f->first_input + item->first_input,
                                         .first_row = f->first_row + item->first_row};
        visit_frame(w, &below, low - item->first_row, high - item->first_row,
                    ports + child->n_ports);
    }
}

void segments_visit(const struct r1cs *r, uint64_t first, uint64_t n, uint32_t *ports,
                    segment_fn fn, void *ctx) {
    const struct template *root = r1cs_root(r);
    assert(first <= root->n_rows && n <= root->n_rows - first);
    if (n == 0) return;
    const struct walk w = {.r = r, .fn = fn, .ctx = ctx};
    const struct frame_view f = {.t = root};
    visit_frame(&w, &f, (uint32_t)first, (uint32_t)(first + n), ports);
}

/* ---- rows ---- */

cuzk_status row_scratch_create(struct row_scratch *s, const struct r1cs *r,
                               struct cuzk_error *err) {
    *s = (struct row_scratch){0};
    const size_t n = (size_t)r->max_terms + 1;
    const size_t ports = (size_t)r1cs_root(r)->port_depth + 1;
    CUZK_TRY(byte_buf_take(&s->memory,
                           3 * n * sizeof(struct coef) + 4 * n * sizeof(struct row_term) +
                               ports * sizeof(uint32_t),
                           err));
    s->sums = (struct coef *)(void *)s->memory.data;
    struct row_term *terms = (struct row_term *)(void *)(s->sums + 3 * n);
    for (int i = 0; i < 3; i++)
        s->abc[i].terms = terms + (size_t)i * n;
    s->sorted = terms + 3 * n;
    s->ports = (uint32_t *)(void *)(terms + 4 * n);
    if (!sort_scratch_reserve(&s->sort, r->max_terms)) {
        row_scratch_destroy(s);
        return error_set(err, CUZK_NO_MEMORY, "circuit", NULL, "no memory to sort a row");
    }
    return CUZK_OK;
}

void row_scratch_destroy(struct row_scratch *s) {
    byte_buf_free(&s->memory);
    sort_scratch_free(&s->sort);
    *s = (struct row_scratch){0};
}

/* Adds up the terms of one variable, [from, to) of the sorted list. False: they cancel. */
static bool add_up(struct row_scratch *s, struct row_term *out, uint32_t from, uint32_t to) {
    *out = s->sorted[from];
    if (to - from == 1) return true;
    fr sum = out->c->mont;
    for (uint32_t i = from + 1; i < to; i++)
        fr_add(&sum, &sum, &s->sorted[i].c->mont);
    if (fr_is_zero(&sum)) return false;
    struct coef *c = &s->sums[s->n_sums++];
    c->mont = sum;
    fr_to_bytes(c->bytes, &sum);
    out->c = c;
    return true;
}

/* Ports may stand for any variables, also for the same one twice: sorts and merges. */
static __attribute__((noinline)) void put_in_order(struct row_scratch *s, struct row_terms *lc) {
    for (uint32_t i = 0; i < lc->n; i++)
        s->sort.keys[i] = (uint64_t)global_order(lc->terms[i].id) << 32 | i;
    sort_keys(&s->sort, lc->n);
    for (uint32_t i = 0; i < lc->n; i++)
        s->sorted[i] = lc->terms[(uint32_t)s->sort.keys[i]];
    uint32_t n = 0;
    for (uint32_t i = 0, end; i < lc->n; i = end) {
        for (end = i + 1; end < lc->n && s->sorted[end].id == s->sorted[i].id;)
            end++;
        n += add_up(s, &lc->terms[n], i, end);
    }
    lc->n = n;
}

struct rows_ctx {
    const struct r1cs *r;
    struct row_scratch *s;
    row_fn fn;
    void *ctx;
};

/* A slot of a shaped operation: its variable in row j is first + j, or ports[j]. */
struct slot_view {
    uint32_t first;
    const uint32_t *ports;
};

static void visit_shaped(const struct rows_ctx *w, const struct frame_view *f,
                         struct row_cursor *cursor, uint32_t shape_id, uint32_t skip,
                         uint32_t n_rows, uint64_t row) {
    const struct row_shape *shape = shape_at(&w->r->shapes, shape_id);
    struct row_scratch *s = w->s;
    struct slot_view slots[SHAPE_MAX_SLOTS];
    for (unsigned i = 0; i < shape->n_slots; i++) {
        const var v = ref_next(cursor);
        slots[i] = var_kind_of(v) == VAR_PORT ? (struct slot_view){.ports = f->ports + var_index(v)}
                                              : (struct slot_view){.first = resolve(f, v.id)};
    }
    for (uint32_t j = skip; j < n_rows; j++) {
        uint32_t ids[SHAPE_MAX_SLOTS];
        for (unsigned i = 0; i < shape->n_slots; i++)
            ids[i] = slots[i].ports != NULL ? slots[i].ports[j] : slots[i].first + j;
        const struct shape_term *term = shape->terms;
        s->n_sums = 0;
        for (int m = 0; m < 3; m++) {
            struct row_terms *lc = &s->abc[m];
            bool in_order = true;
            int64_t last = -1;
            lc->n = shape->n_terms[m];
            for (uint32_t t = 0; t < lc->n; t++, term++) {
                const uint32_t id = term->slot == SHAPE_ONE ? VAR_ONE.id : ids[term->slot];
                lc->terms[t] = (struct row_term){id, coef_at(&w->r->dict, term->coef)};
                in_order = in_order && global_order(id) > last;
                last = global_order(id);
            }
            if (!in_order) put_in_order(s, lc);
        }
        w->fn(w->ctx, row + (j - skip), s->abc);
    }
}

static void read_free_lc(const struct rows_ctx *w, const struct frame_view *f,
                         struct row_cursor *cursor, struct row_terms *lc) {
    bool in_order = true;
    int64_t last = -1;
    lc->n = 0;
    for (uint32_t n_runs = runs_count(cursor); n_runs > 0; n_runs--) {
        const struct term_run run = run_next(cursor);
        for (uint32_t i = 0; i < run.n; i++) {
            const uint32_t id = resolve(f, run.first.id + i);
            lc->terms[lc->n++] = (struct row_term){id, coef_at(&w->r->dict, run.coef + 2 * i)};
            in_order = in_order && global_order(id) > last;
            last = global_order(id);
        }
    }
    if (!in_order) put_in_order(w->s, lc);
}

static void visit_segment(void *ctx, const struct frame_view *f, const struct item *seg,
                          uint32_t from, uint32_t to) {
    const struct rows_ctx *w = ctx;
    struct row_cursor cursor = row_cursor_at(f->t->code.data + seg->at);
    for (uint32_t row = seg->first_row; row < to;) {
        const uint32_t shape = op_next(&cursor);
        if (shape != SHAPE_NONE) {
            const uint32_t rows = op_rows(&cursor);
            const uint32_t skip = row >= from ? 0 : from - row < rows ? from - row : rows;
            const uint32_t n = to - row < rows ? to - row : rows;
            visit_shaped(w, f, &cursor, shape, skip, n, f->first_row + row + skip);
            row += rows;
            continue;
        }
        w->s->n_sums = 0;
        for (int m = 0; m < 3; m++)
            read_free_lc(w, f, &cursor, &w->s->abc[m]);
        if (row >= from) w->fn(w->ctx, f->first_row + row, w->s->abc);
        row++;
    }
}

void rows_visit(const struct r1cs *r, uint64_t first, uint64_t n, struct row_scratch *s, row_fn fn,
                void *ctx) {
    struct rows_ctx w = {.r = r, .s = s, .fn = fn, .ctx = ctx};
    segments_visit(r, first, n, s->ports, visit_segment, &w);
}

/* ---- the public walk ---- */

struct public_walk {
    r1cs_visit_fn visit;
    void *ctx;
    struct lc_term *terms; /* room for A, B and C */
};

static void visit_public(void *ctx, uint64_t row, const struct row_terms abc[3]) {
    const struct public_walk *w = ctx;
    struct row_lc out[3];
    struct lc_term *at = w->terms;
    for (int m = 0; m < 3; m++) {
        out[m] = (struct row_lc){.terms = at, .n = abc[m].n};
        for (uint32_t t = 0; t < abc[m].n; t++)
            *at++ = (struct lc_term){{abc[m].terms[t].id}, abc[m].terms[t].c->mont};
    }
    w->visit(w->ctx, row, out);
}

void r1cs_walk(const struct r1cs *r, uint64_t first, uint64_t n, r1cs_visit_fn visit, void *ctx) {
    struct row_scratch s;
    struct byte_buf terms;
    if (row_scratch_create(&s, r, NULL) != CUZK_OK ||
        byte_buf_take(&terms, 3 * ((size_t)r->max_terms + 1) * sizeof(struct lc_term), NULL) !=
            CUZK_OK) {
        fputs("cuzk: no memory to walk a constraint system\n", stderr);
        abort();
    }
    struct public_walk w = {
        .visit = visit, .ctx = ctx, .terms = (struct lc_term *)(void *)terms.data};
    rows_visit(r, first, n, &s, visit_public, &w);
    byte_buf_free(&terms);
    row_scratch_destroy(&s);
}
