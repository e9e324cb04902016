#include "msm_slice.h"

#include <assert.h>

/* Vectors are stored whole; the bytes for this are part of msm_slice_bytes. */
enum { MSM_SLICE_ALIGNMENT = 64 };

/* Largest batch that the slice's memory for pairs and products takes. */
static size_t max_pairs(const struct msm_kernel *kernel) {
    return kernel->slice_records / 2;
}

/* Lays the parts out in `memory`, or only measures them when it is NULL; returns the bytes. */
static size_t lay_out(struct msm_slice *s, const struct msm_kernel *kernel, uint8_t *memory) {
    const size_t n = kernel->slice_records;
    const size_t n_pairs = max_pairs(kernel) + MSM_PAIR_PADDING;
    size_t used = 0;
    s->kernel = kernel;
    s->capacity = (uint32_t)n;
    s->records = msm_carve(memory, &used, (n + 1) * kernel->record_bytes);
    s->pairs = msm_carve(memory, &used, n_pairs * sizeof *s->pairs);
    s->products = msm_carve(memory, &used, n_pairs * kernel->product_bytes);
    s->segments = msm_carve(memory, &used, n * sizeof *s->segments);
    s->entries = msm_carve(memory, &used, (n + MSM_ENTRY_PADDING) * sizeof *s->entries);
    return used;
}

size_t msm_slice_bytes(const struct msm_kernel *kernel) {
    struct msm_slice s;
    return lay_out(&s, kernel, NULL) + MSM_SLICE_ALIGNMENT;
}

void msm_slice_init(struct msm_slice *slice, const struct msm_kernel *kernel, void *memory) {
    uint8_t *aligned = memory;
    aligned += -(uintptr_t)memory % MSM_SLICE_ALIGNMENT;
    lay_out(slice, kernel, aligned);
    kernel->set_infinity(slice->records, 1);
    memset(slice->entries, 0, (slice->capacity + MSM_ENTRY_PADDING) * sizeof *slice->entries);
    msm_slice_reset(slice);
}

void msm_slice_reset(struct msm_slice *slice) {
    slice->n_records = 0;
    slice->n_segments = 0;
}

void msm_slice_open(struct msm_slice *slice, uint32_t tag) {
    assert(slice->n_segments < slice->capacity);
    slice->segments[slice->n_segments++] =
        (struct msm_segment){.first = slice->n_records + 1, .count = 0, .tag = tag};
}

/* Makes the last segment longer by n records; returns where they go. */
static void *extend(struct msm_slice *slice, size_t n) {
    assert(slice->n_segments > 0 && slice->n_records + n <= slice->capacity);
    void *place = msm_slice_record(slice, slice->n_records + 1);
    slice->n_records += (uint32_t)n;
    slice->segments[slice->n_segments - 1].count += (uint32_t)n;
    return place;
}

void msm_slice_take(struct msm_slice *slice, const void *points, const uint32_t *entries,
                    size_t n) {
    slice->kernel->gather(extend(slice, n), points, entries, n);
}

void msm_slice_take_record(struct msm_slice *slice, const void *record) {
    memcpy(extend(slice, 1), record, slice->kernel->record_bytes);
}

/*
 * The level of the trees with distance `step` between partners: record k * 2 step of a segment
 * takes its neighbour at + step. Every record takes part in at most one pair.
 */
static size_t level_pairs(const struct msm_slice *slice, uint32_t step) {
    size_t n = 0;
    for (uint32_t s = 0; s < slice->n_segments; s++) {
        const uint32_t first = slice->segments[s].first;
        const uint32_t end = first + slice->segments[s].count;
        for (uint32_t a = first; a + step < end; a += 2 * step)
            slice->pairs[n++] = (struct msm_pair){.a = a, .b = a + step};
    }
    return n;
}

void msm_slice_reduce(struct msm_slice *slice) {
    for (uint32_t step = 1; step < slice->capacity; step *= 2) {
        const size_t n = level_pairs(slice, step);
        if (n == 0) return;
        slice->kernel->add_pairs(slice->records, slice->pairs, n, slice->products);
    }
}

/* Adds records[offset + i] to records[1 + i] for i < n, in as many batches as it takes. */
static void fold_once(struct msm_slice *slice, void *records, size_t n, size_t offset) {
    const size_t batch = max_pairs(slice->kernel);
    for (size_t begin = 0; begin < n; begin += batch) {
        const size_t count = n - begin < batch ? n - begin : batch;
        for (size_t i = 0; i < count; i++) {
            slice->pairs[i] = (struct msm_pair){.a = (uint32_t)(1 + begin + i),
                                                .b = (uint32_t)(offset + begin + i)};
        }
        slice->kernel->add_pairs(records, slice->pairs, count, slice->products);
    }
}

size_t msm_fold(struct msm_slice *slice, void *records, size_t n, size_t keep) {
    while (n > keep) {
        const size_t left = n - n / 2;
        fold_once(slice, records, n / 2, 1 + left);
        n = left;
    }
    return n;
}
