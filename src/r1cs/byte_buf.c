#include "byte_buf.h"

#include <stdlib.h>
#include <string.h>

static const size_t large = (size_t)1 << 20;

static bool grow_mapped(struct byte_buf *b, size_t capacity) {
    const bool was_heap = b->block.ptr == NULL;
    if (mem_grow(&b->block, capacity, MEM_MATRICES, NULL) != CUZK_OK) return false;
    if (was_heap) {
        if (b->n > 0) memcpy(b->block.ptr, b->data, b->n);
        free(b->data);
    }
    b->data = b->block.ptr;
    b->capacity = b->block.bytes;
    return true;
}

cuzk_status byte_buf_take(struct byte_buf *b, size_t n_bytes, struct cuzk_error *err) {
    *b = (struct byte_buf){0};
    if (n_bytes >= large) {
        CUZK_TRY(mem_take(&b->block, n_bytes, MEM_MATRICES, err));
        b->data = b->block.ptr;
    } else {
        b->data = calloc(1, n_bytes > 0 ? n_bytes : 1);
        if (b->data == NULL)
            return error_set(err, CUZK_NO_MEMORY, "circuit", NULL, "%zu bytes could not be had",
                             n_bytes);
    }
    b->n = b->capacity = n_bytes;
    return CUZK_OK;
}

bool byte_buf_reserve(struct byte_buf *b, size_t more) {
    if (more <= b->capacity - b->n) return true;
    if (more > SIZE_MAX / 4 - b->n) return false;
    size_t capacity = b->capacity > 0 ? b->capacity : 64;
    while (capacity < b->n + more)
        capacity += capacity;
    if (capacity >= large) return grow_mapped(b, capacity);
    uint8_t *data = realloc(b->data, capacity);
    if (data == NULL) return false;
    b->data = data;
    b->capacity = capacity;
    return true;
}

bool byte_buf_put(struct byte_buf *b, const void *data, size_t n_bytes) {
    if (!byte_buf_reserve(b, n_bytes)) return false;
    if (n_bytes > 0) memcpy(b->data + b->n, data, n_bytes);
    b->n += n_bytes;
    return true;
}

void byte_buf_trim(struct byte_buf *b) {
    if (b->block.ptr != NULL || b->n == b->capacity) return;
    if (b->n == 0) {
        byte_buf_free(b);
        return;
    }
    uint8_t *data = realloc(b->data, b->n);
    if (data == NULL) return; /* the larger one is as good */
    b->data = data;
    b->capacity = b->n;
}

void byte_buf_free(struct byte_buf *b) {
    if (b->block.ptr != NULL)
        mem_give(&b->block);
    else
        free(b->data);
    *b = (struct byte_buf){0};
}

bool byte_buf_put_varint(struct byte_buf *b, uint64_t v) {
    uint8_t bytes[10];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        bytes[n++] = (uint8_t)(v | 0x80);
    bytes[n++] = (uint8_t)v;
    return byte_buf_put(b, bytes, n);
}
