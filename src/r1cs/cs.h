/*
 * The constraint-system interface: what gadgets call.
 *
 * A gadget is written once. It allocates variables and enforces rows on a `struct cs`, which runs
 * in one of two modes:
 *
 *   CS_WITNESS    Values are real. Allocations store them in a struct witness; rows are ignored,
 *                 and a gadget skips building linear combinations (cs_has_rows() is false).
 *   CS_STRUCTURE  Values are all zero and mean nothing. Rows go to a row sink one by one (flat), or
 *                 into templates (recorder): see cs_call_enter.
 *
 * The count and order of allocations is the same in both modes by construction: constants fold by
 * the same code.
 *
 * Templates. A gadget that is worth it wraps its body in cs_call_enter/cs_call_leave with a key
 * (everything that shapes its rows: name, constant and negation pattern of its inputs). The
 * recorder runs the body once for each key, in a frame of its own, where variables are numbered
 * from the frame's first one and the inputs are *ports*; later calls with the same key are stamped:
 * a reference to the template and the list of variables that its ports stand for. In the flat and
 * the witness modes the body just runs.
 *
 * A `var` is meaningful only within the frame it was made in; it leaves a frame as an output of
 * the call, and enters one as a port.
 *
 * Threads: a cs belongs to one thread. cs_fork_witness makes another for a part of the witness.
 */
#ifndef R1CS_CS_H
#define R1CS_CS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "fr.h"
#include "witness.h"

/* The kind is in the two top bits, the index (below 2^30) in the rest. */
typedef struct {
    uint32_t id;
} var;

enum var_kind { VAR_AUX = 0, VAR_INPUT = 1, VAR_PORT = 2 };

#define VAR_INDEX_MASK 0x3fffffffu
static inline var var_make(enum var_kind kind, uint32_t index) {
    return (var){(uint32_t)kind << 30 | index};
}
static inline enum var_kind var_kind_of(var v) {
    return (enum var_kind)(v.id >> 30);
}
static inline uint32_t var_index(var v) {
    return v.id & VAR_INDEX_MASK;
}

/* ONE is input 0 of the whole system, and the same in every frame. Frame-local inputs are numbered
 * from 1: input i of a frame is global input (frame's first input + i - 1). */
#define VAR_ONE ((var){(uint32_t)VAR_INPUT << 30})

/* A linear combination: terms in any order, a variable may occur more than once and coefficients
 * may cancel; rows are merged and sorted when they are enforced. Zero-initialise; grows on the
 * heap; lc_free() releases it. */
struct lc_term {
    var v;
    fr c;
};
struct lc {
    struct lc_term *terms;
    uint32_t n, capacity;
    bool failed; /* memory could not be had; cs_enforce hands that on to cs_finish */
};
void lc_free(struct lc *lc);
void lc_clear(struct lc *lc);
void lc_add(struct lc *lc, var v, const fr *c);                     /* + c v */
void lc_add_var(struct lc *lc, var v);                              /* + v */
void lc_sub_var(struct lc *lc, var v);                              /* - v */
void lc_add_lc(struct lc *lc, const struct lc *other, const fr *c); /* + c other */

struct cs;

enum cs_mode { CS_WITNESS, CS_STRUCTURE };
static inline enum cs_mode cs_mode_of(const struct cs *cs);
/* True in CS_STRUCTURE: linear combinations are wanted. */
static inline bool cs_has_rows(const struct cs *cs);

/*
 * Allocation. In CS_WITNESS the value is stored and the returned var is unspecified.
 *
 * cs_alloc_bits allocates n <= 64 consecutive bit variables, the first one's value in bit 0 of
 * `values` (higher bits must be zero); the first one's var is returned, the others follow it.
 * cs_alloc_num allocates one variable that is not a bit. cs_alloc_input allocates a public input.
 */
static inline var cs_alloc_bits(struct cs *cs, uint64_t values, unsigned n);
static inline var cs_alloc_num(struct cs *cs, const fr *value);
var cs_alloc_input(struct cs *cs, const fr *value);

/* Emits the row a * b = c. Only in CS_STRUCTURE (a no-op in CS_WITNESS). */
static inline void cs_enforce(struct cs *cs, const struct lc *a, const struct lc *b,
                              const struct lc *c);

/* Names the part of the circuit that follows, for the path of an unsatisfied row. `index` < 0:
 * none. `name` must be a string literal. Scopes nest, also across frames, and cost no row. */
static inline void cs_scope_begin(struct cs *cs, const char *name, int index);
static inline void cs_scope_end(struct cs *cs);

/*
 * A call that may become a template.
 *
 * The caller copies its input wires into a local struct, lists pointers to every `var` in that copy
 * that is not constant (`in`), and describes the output struct: `out`, `out_bytes`, and pointers to
 * every var in it (`out_vars`; they must point into `out`). The output must be plain data without
 * pointers, fully overwritten by the body, zero where it is unused.
 *
 *     if (cs_call_enter(cs, &call)) {
 *         body(cs, local copy of inputs, out);
 *         cs_call_leave(cs, &call);
 *     }
 *     use out;
 *
 * cs_call_enter returns true when the body must run. While recording, it has then replaced each
 * *in[i] by port i, and cs_call_leave replaces the out_vars by variables of the caller's frame.
 * When the template exists already it stamps it, fills `out` from the template and returns false;
 * cs_call_leave must not be called then.
 *
 * out_vars entries whose wire is constant must hold VAR_ONE. The output's padding bytes count when
 * stamps are checked (cs_create_recorder), so it should be cleared as a whole first.
 */
struct cs_call {
    const char *name; /* string literal: the template's name in paths, part of the key */
    const void *key;
    size_t key_bytes;
    var *const *in;
    uint32_t n_in;
    void *out;
    size_t out_bytes;
    var *const *out_vars;
    uint32_t n_out_vars;
};
static inline bool cs_call_enter(struct cs *cs, const struct cs_call *call);
static inline void cs_call_leave(struct cs *cs, const struct cs_call *call);

/* Position: variables and inputs allocated so far in the whole system (inputs count ONE). In
 * CS_WITNESS also elements. */
struct cs_position {
    uint32_t n_inputs, n_aux, n_elements;
};
struct cs_position cs_position_of(const struct cs *cs);

/* ---- making one ---- */

/* One row as the flat sink sees it: merged, sorted (inputs before aux, ascending index), without
 * zero coefficients. Global variables only. */
struct row_lc {
    const struct lc_term *terms;
    uint32_t n;
};
struct row_sink {
    void (*row)(void *ctx, const struct row_lc abc[3]);
    void *ctx;
};

/* Flat structure mode. The sink gets each row in order; cs_finish emits the last rows, input_i * 0
 * = 0 for each input. */
CUZK_NODISCARD cuzk_status cs_create_flat(struct cs **out, const struct row_sink *sink,
                                          struct cuzk_error *err);

/* Recorder: templates. With `check_stamps`, each call that would be stamped is recorded again and
 * compared with its template; a difference is an assertion failure that names the template. */
struct r1cs;
CUZK_NODISCARD cuzk_status cs_create_recorder(struct cs **out, bool check_stamps,
                                              struct cuzk_error *err);

/* Witness mode; `w` (borrowed) must have the circuit's counts. */
CUZK_NODISCARD cuzk_status cs_create_witness(struct cs **out, struct witness *w,
                                             struct cuzk_error *err);

/* A further writer for the same witness, placed at `at`; several may write disjoint ranges at once,
 * from several threads, also where ranges meet within a word. */
CUZK_NODISCARD cuzk_status cs_fork_witness(struct cs **out, struct witness *w,
                                           struct cs_position at, struct cuzk_error *err);

/*
 * Ends it. Flat: emits the input rows. Recorder: emits them and, when `r1cs` is not NULL, hands
 * over the matrices. Witness: flushes the last word. Errors: NO_MEMORY, or INTERNAL when the counts
 * differ from the witness's (not checked for forks).
 */
CUZK_NODISCARD cuzk_status cs_finish(struct cs *cs, struct r1cs **r1cs, struct cuzk_error *err);
void cs_destroy(struct cs *cs); /* accepts NULL */

#include "cs_inline.h"

#endif
