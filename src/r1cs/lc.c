#include <assert.h>
#include <stdlib.h>

#include "lc_sort.h"

/* Linear combinations have at most a few thousand terms (a packed equality), far below the size
 * from which memory comes from mem.h. */
static bool lc_reserve(struct lc *lc, uint32_t more) {
    if (lc->failed) return false;
    const uint64_t need = (uint64_t)lc->n + more;
    if (need <= lc->capacity) return true;
    uint64_t capacity = lc->capacity > 0 ? lc->capacity : 8;
    while (capacity < need)
        capacity *= 2;
    struct lc_term *terms =
        capacity <= VAR_INDEX_MASK ? realloc(lc->terms, capacity * sizeof *terms) : NULL;
    if (terms == NULL) {
        lc->failed = true;
        return false;
    }
    lc->terms = terms;
    lc->capacity = (uint32_t)capacity;
    return true;
}

void lc_free(struct lc *lc) {
    free(lc->terms);
    *lc = (struct lc){0};
}

void lc_clear(struct lc *lc) {
    lc->n = 0;
}

void lc_add(struct lc *lc, var v, const fr *c) {
    if (!lc_reserve(lc, 1)) return;
    lc->terms[lc->n++] = (struct lc_term){v, *c};
}

void lc_add_var(struct lc *lc, var v) {
    lc_add(lc, v, &fr_one);
}

void lc_sub_var(struct lc *lc, var v) {
    fr minus_one;
    fr_neg(&minus_one, &fr_one);
    lc_add(lc, v, &minus_one);
}

void lc_add_lc(struct lc *lc, const struct lc *other, const fr *c) {
    const uint32_t n = other->n;
    if (other->failed) lc->failed = true;
    if (!lc_reserve(lc, n)) return;
    const bool copy = fr_equal(c, &fr_one);
    for (uint32_t i = 0; i < n; i++) {
        struct lc_term t = other->terms[i];
        if (!copy) fr_mul(&t.c, &t.c, c);
        lc->terms[lc->n++] = t;
    }
}

void sort_scratch_free(struct sort_scratch *s) {
    free(s->keys);
    *s = (struct sort_scratch){0};
}

bool sort_scratch_reserve(struct sort_scratch *s, uint32_t n) {
    if (n <= s->capacity) return true;
    const size_t capacity = n < 64 ? 64 : (size_t)n + n / 2;
    uint64_t *keys = realloc(s->keys, 2 * capacity * sizeof *keys);
    if (keys == NULL) return false;
    s->keys = keys;
    s->capacity = (uint32_t)capacity;
    return true;
}

static void insertion_sort(uint64_t *keys, uint32_t n) {
    for (uint32_t i = 1; i < n; i++) {
        const uint64_t key = keys[i];
        uint32_t j = i;
        for (; j > 0 && keys[j - 1] > key; j--)
            keys[j] = keys[j - 1];
        keys[j] = key;
    }
}

static void merge_runs(uint64_t *out, const uint64_t *a, uint32_t n_a, const uint64_t *b,
                       uint32_t n_b) {
    uint32_t i = 0, j = 0;
    while (i < n_a && j < n_b)
        *out++ = a[i] < b[j] ? a[i++] : b[j++];
    while (i < n_a)
        *out++ = a[i++];
    while (j < n_b)
        *out++ = b[j++];
}

/* Insertion sort in runs of 16, then merges between the two halves of the scratch. */
void sort_keys(struct sort_scratch *s, uint32_t n) {
    enum { RUN = 16 };
    assert(n <= s->capacity);
    for (uint32_t i = 0; i < n; i += RUN)
        insertion_sort(s->keys + i, n - i < RUN ? n - i : RUN);
    uint64_t *from = s->keys, *to = s->keys + s->capacity;
    for (uint64_t width = RUN; width < n; width *= 2) {
        for (uint64_t i = 0; i < n; i += 2 * width) {
            const uint64_t mid = i + width < n ? i + width : n;
            const uint64_t end = i + 2 * width < n ? i + 2 * width : n;
            merge_runs(to + i, from + i, (uint32_t)(mid - i), from + mid, (uint32_t)(end - mid));
        }
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != s->keys) memcpy(s->keys, from, n * sizeof *from);
}

bool lc_normalize(struct lc *out, const struct lc *in, struct sort_scratch *s) {
    if (in->failed) return false;
    out->n = 0;
    if (!lc_reserve(out, in->n) || !sort_scratch_reserve(s, in->n)) return false;
    bool sorted = true;
    uint64_t last = 0;
    for (uint32_t i = 0; i < in->n; i++) {
        const uint64_t key = (uint64_t)var_order(in->terms[i].v) << 32 | i;
        sorted = sorted && key >= last;
        last = key;
        s->keys[i] = key;
    }
    if (!sorted) sort_keys(s, in->n);
    uint32_t n = 0;
    for (uint32_t i = 0; i < in->n; i++) {
        const struct lc_term *t = &in->terms[(uint32_t)s->keys[i]];
        if (n > 0 && out->terms[n - 1].v.id == t->v.id) {
            fr_add(&out->terms[n - 1].c, &out->terms[n - 1].c, &t->c);
        } else {
            n -= n > 0 && fr_is_zero(&out->terms[n - 1].c);
            out->terms[n++] = *t;
        }
    }
    n -= n > 0 && fr_is_zero(&out->terms[n - 1].c);
    out->n = n;
    return true;
}
