/*
 * The backend "fake": a device that proves nothing, for tests of what is around it. It needs no
 * parameters, takes any circuit, and makes at once what nobody can take for a proof.
 *
 * Its behaviour is told by the `options` of device_spec: words separated by commas, NAME=NUMBER.
 * Tasks are counted from 1 in the order in which they are started (those with "finish" in the order
 * in which they are finished), anew in each process; 0, the default, is never.
 *
 *     load_ms, start_ms, delay_ms   how long a load, a start, a finish takes
 *     refuse_load=1     loads fail (PARAM_MISSING)
 *     fail_up=1         the self-test fails (INTERNAL)
 *     fail_at           this task fails (NO_MEMORY)
 *     invalid_at        the proof of this task is of another content
 *     crash_at, crash_finish_at     the process aborts
 *     hang_at, hang_finish_at       the task makes no progress any more; pings are answered
 *     mute_at           as hang_at, and pings are not answered any more either
 *     lie_at            what the process says at the start of this task makes no sense:
 *     lie=1                 it is no message (the default)
 *     lie=2                 a proof of a task that nobody has sent
 *     lie=3                 a proof of a task that has not started
 *     lie=4                 the task starts twice
 *     leak_kib          memory that each start takes and never gives back
 */
#ifndef DEVICE_DEVICE_FAKE_H
#define DEVICE_DEVICE_FAKE_H

#include <stddef.h>
#include <stdint.h>

#include "hash.h"
#include "prover.h"

/* SHA-256 of the witness's bytes: slab.bytes of them from slab.ptr. */
void fake_witness_digest(uint8_t digest[SHA256_BYTES], const void *witness, size_t n_bytes);

/*
 * The fake's proof of a task: for i = 0 … 5 the SHA-256 of "cuzk fake proof", the byte i, the
 * task's number as 8 bytes little-endian, and the witness's digest, one after the other; then the
 * first byte is made 0. A real proof begins with a byte from 0x80 on (a compressed point's flag),
 * so that no verifier accepts this one.
 */
void fake_proof(uint8_t proof[PROOF_BYTES], uint64_t task, const uint8_t digest[SHA256_BYTES]);

#endif
