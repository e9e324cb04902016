#include "rpc_buffer.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include <grpc/slice.h>
#include <grpc/slice_buffer.h>

/* So much of what gRPC freed may stay with malloc before it goes back to the system. */
enum { TRIM_BYTES = 16 << 20 };

grpc_byte_buffer *rpc_buffer_take(struct rpc_packed *packed) {
    grpc_slice slice = grpc_slice_new(packed->bytes, packed->n, free);
    grpc_byte_buffer *buffer = grpc_raw_byte_buffer_create(&slice, 1);
    grpc_slice_unref(slice);
    *packed = (struct rpc_packed){0};
    return buffer;
}

size_t rpc_buffer_length(const grpc_byte_buffer *buffer) {
    return buffer->data.raw.slice_buffer.length;
}

cuzk_status rpc_buffer_flatten(struct mem_block *out, size_t *n, grpc_byte_buffer *buffer,
                               struct cuzk_error *err) {
    *out = (struct mem_block){0};
    *n = 0;
    if (buffer->data.raw.compression != GRPC_COMPRESS_NONE)
        return error_set(err, CUZK_MESSAGE_FORM, NULL, "send it as it is",
                         "the message is compressed");
    grpc_slice_buffer *slices = &buffer->data.raw.slice_buffer;
    const size_t total = slices->length;
    CUZK_TRY(mem_take(out, total > 0 ? total : 1, MEM_INPUT, err));
    size_t kept = 0;
    while (slices->count > 0) {
        grpc_slice slice = grpc_slice_buffer_take_first(slices);
        memcpy((uint8_t *)out->ptr + *n, GRPC_SLICE_START_PTR(slice), GRPC_SLICE_LENGTH(slice));
        *n += GRPC_SLICE_LENGTH(slice);
        kept += GRPC_SLICE_LENGTH(slice);
        grpc_slice_unref(slice);
        if (kept < TRIM_BYTES) continue;
        malloc_trim(0);
        kept = 0;
    }
    if (total >= TRIM_BYTES / 16) malloc_trim(0);
    return CUZK_OK;
}
