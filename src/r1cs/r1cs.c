#include "r1cs.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "matrices.h"

void template_deinit(struct template *t) {
    struct byte_buf *const parts[] = {&t->key,      &t->items,  &t->code, &t->bindings,
                                      &t->bit_runs, &t->scopes, &t->out,  &t->out_vars};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        byte_buf_free(parts[i]);
}

size_t template_bytes(const struct template *t) {
    return sizeof *t + t->key.block.bytes + t->items.block.bytes + t->code.block.bytes +
           t->bindings.block.bytes + t->bit_runs.block.bytes + t->scopes.block.bytes +
           t->out.block.bytes + t->out_vars.block.bytes;
}

uint32_t template_find(const struct template *t, uint32_t row) {
    const struct item *items = template_items(t);
    uint32_t low = 0, high = t->n_items;
    assert(row < t->n_rows);
    while (high - low > 1) {
        const uint32_t mid = low + (high - low) / 2;
        if (items[mid].first_row <= row)
            low = mid;
        else
            high = mid;
    }
    return low;
}

void r1cs_destroy(struct r1cs *r) {
    if (r == NULL) return;
    for (uint32_t i = 0; i < r->n_templates; i++)
        template_deinit(template_at(r, i));
    byte_buf_free(&r->templates);
    coef_dict_deinit(&r->dict);
    shape_set_deinit(&r->shapes);
    byte_buf_free(&r->kind_plane);
    byte_buf_free(&r->density_planes);
    free(r);
}

const uint64_t *r1cs_kind_plane(const struct r1cs *r) {
    return r->kind;
}
const uint64_t *r1cs_a_aux_plane(const struct r1cs *r) {
    return r->a_aux;
}
const uint64_t *r1cs_b_aux_plane(const struct r1cs *r) {
    return r->b_aux;
}
const uint64_t *r1cs_b_input_plane(const struct r1cs *r) {
    return r->b_input;
}

/* ---- sealing: what follows from the templates ---- */

static void set_bits(uint64_t *plane, uint32_t first, uint32_t n) {
    uint32_t done = 0;
    while (done < n) {
        const uint32_t at = first + done, shift = at % 64;
        const uint32_t count = n - done < 64 - shift ? n - done : 64 - shift;
        plane[at / 64] |= (count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1) << shift;
        done += count;
    }
}

/* Recursion is as deep as calls nest in the circuit (bounded by the recorder). */
static void expand_kinds(const struct r1cs *r, const struct template *t, uint32_t first_aux,
                         uint64_t *plane) {
    const struct bit_run *runs = (const struct bit_run *)(const void *)t->bit_runs.data;
    for (size_t i = 0; i < t->bit_runs.n / sizeof *runs; i++)
        set_bits(plane, first_aux + runs[i].first, runs[i].n);
    for (uint32_t i = 0; i < t->n_items; i++) {
        const struct item *item = &template_items(t)[i];
        if (item->child == ITEM_RAW) continue;
        expand_kinds(r, template_at(r, item->child), first_aux + item->first_aux, plane);
    }
}

static size_t plane_words(uint32_t n_bits) {
    return (size_t)n_bits / 64 + 2;
}

cuzk_status r1cs_seal(struct r1cs *r, struct cuzk_error *err) {
    byte_buf_trim(&r->templates); /* moves them */
    coef_dict_seal(&r->dict);
    const struct template *root = r1cs_root(r);
    if (!shape_set_seal(&r->shapes, &r->dict))
        return error_set(err, CUZK_NO_MEMORY, "circuit", NULL, "no memory for the row tables");
    const size_t words = plane_words(root->n_aux);
    const size_t blocks = (size_t)root->n_aux / RANK_BITS + 1;
    CUZK_TRY(
        byte_buf_take(&r->kind_plane, words * sizeof(uint64_t) + blocks * sizeof(uint32_t), err));
    uint64_t *plane = (uint64_t *)(void *)r->kind_plane.data;
    uint32_t *rank = (uint32_t *)(void *)(plane + words);
    expand_kinds(r, root, 0, plane);
    uint32_t sum = 0;
    for (size_t w = 0; w <= root->n_aux / 64; w++) {
        if (w % (RANK_BITS / 64) == 0) rank[w / (RANK_BITS / 64)] = sum;
        sum += (uint32_t)__builtin_popcountll(plane[w]);
    }
    assert(sum + root->n_elements == root->n_aux);
    r->kind = plane;
    r->rank = rank;
    return CUZK_OK;
}

cuzk_status r1cs_take_densities(struct r1cs *r, struct cuzk_error *err) {
    if (r->a_aux != NULL) return CUZK_OK;
    const struct template *root = r1cs_root(r);
    const size_t aux = plane_words(root->n_aux), inputs = plane_words(root->n_inputs + 1);
    CUZK_TRY(byte_buf_take(&r->density_planes, (2 * aux + inputs) * sizeof(uint64_t), err));
    r->a_aux = (uint64_t *)(void *)r->density_planes.data;
    r->b_aux = r->a_aux + aux;
    r->b_input = r->b_aux + aux;
    return CUZK_OK;
}

/* ---- paths ---- */

struct path {
    char *out;
    size_t n, bytes;
};

static void path_put(struct path *p, const char *name, int32_t index) {
    if (p->n >= p->bytes) return;
    const size_t room = p->bytes - p->n;
    const int n = index < 0 ? snprintf(p->out + p->n, room, "%s/", name)
                            : snprintf(p->out + p->n, room, "%s[%d]/", name, index);
    p->n += n > 0 ? (size_t)n : 0;
}

/* Appends the scopes that are open at a row of the template. A scope that was begun and ended again
 * before it is left out. */
static void path_put_scopes(struct path *p, const struct template *t, uint32_t row) {
    const struct scope_mark *marks = (const struct scope_mark *)(const void *)t->scopes.data;
    const size_t n = t->scopes.n / sizeof *marks;
    for (size_t i = 0; i < n && marks[i].row <= row; i++) {
        if (marks[i].name == NULL) continue;
        size_t depth = 1, end = i + 1;
        for (; end < n && depth > 0; end++)
            depth += marks[end].name != NULL ? 1 : -(size_t)1;
        if (depth > 0 || marks[end - 1].row > row) path_put(p, marks[i].name, marks[i].index);
    }
}

void r1cs_row_path(const struct r1cs *r, uint64_t row, char *out, size_t out_bytes) {
    struct path p = {.out = out, .bytes = out_bytes};
    const struct template *t = r1cs_root(r);
    if (out_bytes == 0) return;
    out[0] = '\0';
    if (row >= t->n_rows) {
        snprintf(out, out_bytes, "row %llu (past the end)", (unsigned long long)row);
        return;
    }
    uint32_t local = (uint32_t)row;
    for (;;) {
        path_put_scopes(&p, t, local);
        const struct item *item = &template_items(t)[template_find(t, local)];
        if (item->child == ITEM_RAW) break;
        local -= item->first_row;
        t = template_at(r, item->child);
        path_put(&p, t->name, -1);
    }
    if (p.n < p.bytes) snprintf(out + p.n, p.bytes - p.n, "row %u", local);
}
