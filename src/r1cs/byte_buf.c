#include "byte_buf.h"

#include <string.h>

cuzk_status byte_buf_take(struct byte_buf *b, size_t n_bytes, struct cuzk_error *err) {
    *b = (struct byte_buf){0};
    CUZK_TRY(mem_take(&b->block, n_bytes, MEM_MATRICES, err));
    b->data = b->block.ptr;
    b->n = n_bytes;
    return CUZK_OK;
}

bool byte_buf_reserve(struct byte_buf *b, size_t more) {
    if (more <= b->block.bytes - b->n) return true;
    if (more > SIZE_MAX / 4 - b->n) return false;
    size_t capacity = b->block.bytes > 0 ? b->block.bytes : 64;
    while (capacity < b->n + more)
        capacity += capacity;
    if (mem_grow(&b->block, capacity, MEM_MATRICES, NULL) != CUZK_OK) return false;
    b->data = b->block.ptr;
    return true;
}

bool byte_buf_put(struct byte_buf *b, const void *data, size_t n_bytes) {
    if (!byte_buf_reserve(b, n_bytes)) return false;
    if (n_bytes > 0) memcpy(b->data + b->n, data, n_bytes);
    b->n += n_bytes;
    return true;
}

void byte_buf_trim(struct byte_buf *b) {
    struct byte_buf exact;
    if (byte_buf_take(&exact, b->n, NULL) != CUZK_OK) return; /* the larger one is as good */
    if (b->n > 0) memcpy(exact.data, b->data, b->n);
    byte_buf_free(b);
    *b = exact;
}

void byte_buf_free(struct byte_buf *b) {
    mem_give(&b->block);
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
