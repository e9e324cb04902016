/*
 * Messages as gRPC carries them (lists of slices) and as bytes in a row.
 *
 * Threads: pure but for what they are given.
 */
#ifndef RPC_RPC_BUFFER_H
#define RPC_RPC_BUFFER_H

#include <grpc/byte_buffer.h>

#include "mem.h"

/* A message's bytes on the heap; {NULL, 0} is none (there was no memory). */
struct rpc_packed {
    uint8_t *bytes;
    size_t n;
};

/* Takes the bytes; the caller destroys the buffer. */
grpc_byte_buffer *rpc_buffer_take(struct rpc_packed *packed);

size_t rpc_buffer_length(const grpc_byte_buffer *buffer);

/*
 * Moves the bytes of `buffer` into a row, giving each slice back as soon as it is copied, so that
 * the message is in memory once and not twice. The buffer is empty then. Errors: NO_MEMORY,
 * MESSAGE_FORM (it is compressed, which we do not offer).
 */
CUZK_NODISCARD cuzk_status rpc_buffer_flatten(struct mem_block *out, size_t *n,
                                              grpc_byte_buffer *buffer, struct cuzk_error *err);

#endif
