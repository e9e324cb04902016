#include "recorder.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "row_code.h"

/* A segment of raw rows ends after so many, which bounds what a walk decodes in vain when it
 * starts in the middle. */
enum { SEGMENT_ROWS = 1024, MAX_FRAMES = 64 };

struct frame {
    struct template t;
    struct row_encoder encoder;
    struct cs_position outer; /* the caller's counts */
    uint32_t n_open_scopes;
    var *bindings; /* what the ports stand for, in the caller's frame */
};

struct recorder {
    struct r1cs *r1cs;
    bool check_stamps;
    uint32_t n_frames; /* at least one, the root */
    struct frame frames[MAX_FRAMES];
    struct byte_buf index; /* open addressing by key: uint32_t id + 1, 0 empty */
};

static const char no_memory[] = "no memory for the circuit's matrices";

cuzk_status recorder_create(struct recorder **out, bool check_stamps, struct cuzk_error *err) {
    *out = NULL;
    struct recorder *rec = malloc(sizeof *rec); /* frames are cleared when they are entered */
    struct r1cs *r = calloc(1, sizeof *r);
    if (rec != NULL) {
        rec->r1cs = r;
        rec->check_stamps = check_stamps;
        rec->n_frames = 1;
        rec->frames[0] = (struct frame){.t = {.name = ""}};
        rec->index = (struct byte_buf){0};
    }
    if (rec == NULL || r == NULL || !coef_dict_init(&r->dict) || !shape_set_init(&r->shapes)) {
        if (rec == NULL) free(r);
        recorder_destroy(rec);
        return error_set(err, CUZK_NO_MEMORY, "circuit", NULL, no_memory);
    }
    row_encoder_restart(&rec->frames[0].encoder);
    *out = rec;
    return CUZK_OK;
}

void recorder_destroy(struct recorder *rec) {
    if (rec == NULL) return;
    for (uint32_t i = 0; i < rec->n_frames; i++) {
        template_deinit(&rec->frames[i].t);
        free(rec->frames[i].bindings);
    }
    byte_buf_free(&rec->index);
    r1cs_destroy(rec->r1cs);
    free(rec);
}

static struct frame *top(struct recorder *rec) {
    return &rec->frames[rec->n_frames - 1];
}

/* The circuit's code contradicts itself; nothing sensible can follow. */
static _Noreturn void caller_bug(const struct cs_call *call, const char *what) {
    fprintf(stderr, "cuzk: template %s: %s\n", call->name, what);
    abort();
}

/* ---- rows, variables, scopes ---- */

static bool put_item(struct template *t, const struct item *item) {
    if (!byte_buf_put(&t->items, item, sizeof *item)) return false;
    t->n_items++;
    return true;
}

/* Makes sure that the last item is a segment that takes another row. */
static bool open_segment(struct frame *f) {
    struct template *t = &f->t;
    if (t->n_items > 0) {
        const struct item *last = &template_items(t)[t->n_items - 1];
        if (last->child == ITEM_RAW && t->n_rows - last->first_row < SEGMENT_ROWS) return true;
    }
    if (t->code.n > UINT32_MAX) return false;
    row_encoder_restart(&f->encoder);
    return put_item(
        t, &(struct item){.first_row = t->n_rows, .child = ITEM_RAW, .at = (uint32_t)t->code.n});
}

void recorder_row(struct cs_structure *s, const struct row_lc row[3]) {
    struct recorder *rec = s->recorder;
    struct r1cs *r = rec->r1cs;
    struct frame *f = top(rec);
    if (s->status != CUZK_OK) return;
    if (f->t.n_rows == UINT32_MAX) {
        structure_fail(s, CUZK_INTERNAL, "the circuit has more than 2^32 rows");
        return;
    }
    if (!open_segment(f) || !row_encode(&f->encoder, &f->t.code, &r->dict, &r->shapes, row)) {
        structure_fail(s, CUZK_NO_MEMORY, no_memory);
        return;
    }
    f->t.n_rows++;
    for (int i = 0; i < 3; i++) {
        if (row[i].n > r->max_terms) r->max_terms = row[i].n;
    }
}

void recorder_bits(struct cs_structure *s, uint32_t first, uint32_t n) {
    struct template *t = &top(s->recorder)->t;
    if (s->status != CUZK_OK || n == 0) return;
    if (t->bit_runs.n > 0) {
        struct bit_run *last = (struct bit_run *)(void *)(t->bit_runs.data + t->bit_runs.n) - 1;
        if (last->first + last->n == first) {
            last->n += n;
            return;
        }
    }
    if (!byte_buf_put(&t->bit_runs, &(struct bit_run){first, n}, sizeof(struct bit_run)))
        structure_fail(s, CUZK_NO_MEMORY, no_memory);
}

void recorder_scope(struct cs_structure *s, const char *name, int index) {
    struct frame *f = top(s->recorder);
    if (s->status != CUZK_OK) return;
    assert(name != NULL || f->n_open_scopes > 0);
    if (name != NULL)
        f->n_open_scopes++;
    else
        f->n_open_scopes--;
    const struct scope_mark mark = {.name = name, .index = index, .row = f->t.n_rows};
    if (!byte_buf_put(&f->t.scopes, &mark, sizeof mark))
        structure_fail(s, CUZK_NO_MEMORY, no_memory);
}

struct cs_position recorder_outer(const struct cs_structure *s) {
    const struct recorder *rec = s->recorder;
    struct cs_position sum = {0};
    for (uint32_t i = 1; i < rec->n_frames; i++) {
        sum.n_inputs += rec->frames[i].outer.n_inputs;
        sum.n_aux += rec->frames[i].outer.n_aux;
        sum.n_elements += rec->frames[i].outer.n_elements;
    }
    return sum;
}

/* ---- the index of templates ---- */

static uint64_t hash_bytes(uint64_t h, const void *data, size_t n) {
    const uint8_t *bytes = data;
    for (size_t i = 0; i < n; i++)
        h = (h ^ bytes[i]) * UINT64_C(0x100000001b3);
    return h ^ h >> 32;
}

static uint64_t key_hash(const struct cs_call *call) {
    const uint64_t h = hash_bytes(UINT64_C(0xcbf29ce484222325), call->name, strlen(call->name) + 1);
    return hash_bytes(h, call->key, call->key_bytes);
}

static bool same_key(const struct template *t, uint64_t hash, const struct cs_call *call) {
    return t->key_hash == hash && t->key.n == call->key_bytes &&
           (t->key.n == 0 || memcmp(t->key.data, call->key, t->key.n) == 0) &&
           strcmp(t->name, call->name) == 0;
}

static uint32_t index_find(const struct recorder *rec, const struct cs_call *call) {
    const size_t n_slots = rec->index.n / sizeof(uint32_t);
    if (n_slots == 0) return ITEM_RAW;
    const uint32_t *slots = (const uint32_t *)(const void *)rec->index.data;
    const uint64_t hash = key_hash(call);
    for (size_t i = hash & (n_slots - 1); slots[i] != 0; i = (i + 1) & (n_slots - 1)) {
        if (same_key(template_at(rec->r1cs, slots[i] - 1), hash, call)) return slots[i] - 1;
    }
    return ITEM_RAW;
}

static void index_insert(struct byte_buf *index, uint64_t hash, uint32_t id) {
    uint32_t *slots = (uint32_t *)(void *)index->data;
    const size_t mask = index->n / sizeof *slots - 1;
    size_t i = hash & mask;
    while (slots[i] != 0)
        i = (i + 1) & mask;
    slots[i] = id + 1;
}

/* Room for one more template in the index, which stays at most half full. */
static bool index_reserve(struct recorder *rec) {
    const uint32_t n = rec->r1cs->n_templates;
    if (rec->index.n >= 2 * ((size_t)n + 1) * sizeof(uint32_t)) return true;
    struct byte_buf fresh = {0};
    const size_t bytes = rec->index.n > 0 ? 2 * rec->index.n : 64 * sizeof(uint32_t);
    if (!byte_buf_reserve(&fresh, bytes)) return false;
    memset(fresh.data, 0, bytes);
    fresh.n = bytes;
    for (uint32_t id = 0; id < n; id++)
        index_insert(&fresh, template_at(rec->r1cs, id)->key_hash, id);
    byte_buf_free(&rec->index);
    rec->index = fresh;
    return true;
}

/* Moves a finished template into the system; ITEM_RAW: no memory, and it was freed. */
static uint32_t add_template(struct recorder *rec, struct template *t) {
    struct r1cs *r = rec->r1cs;
    struct byte_buf *const parts[] = {&t->key,      &t->items,  &t->code, &t->bindings,
                                      &t->bit_runs, &t->scopes, &t->out,  &t->out_vars};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        byte_buf_trim(parts[i]);
    if (!index_reserve(rec) || !byte_buf_put(&r->templates, t, sizeof *t)) {
        template_deinit(t);
        return ITEM_RAW;
    }
    index_insert(&rec->index, t->key_hash, r->n_templates);
    *t = (struct template){0};
    return r->n_templates++;
}

/* ---- calls ---- */

/* Stamps template `id` in the top frame, with the given bindings, and advances the counts. */
static void stamp(struct cs_structure *s, uint32_t id, const var *bindings) {
    struct recorder *rec = s->recorder;
    const struct template *child = template_at(rec->r1cs, id);
    struct template *t = &top(rec)->t;
    const struct cs_position *at = &s->counts;
    if (child->n_aux > VAR_INDEX_MASK - at->n_aux ||
        child->n_inputs > VAR_INDEX_MASK - at->n_inputs || child->n_rows > UINT32_MAX - t->n_rows) {
        structure_fail(s, CUZK_INTERNAL, "the circuit has more than 2^30 variables or 2^32 rows");
        return;
    }
    const struct item item = {.first_row = t->n_rows,
                              .first_aux = at->n_aux,
                              .first_input = at->n_inputs,
                              .child = id,
                              .at = (uint32_t)t->bindings.n};
    if (t->bindings.n > UINT32_MAX || !put_item(t, &item) ||
        !bindings_encode(&t->bindings, bindings, child->n_ports)) {
        structure_fail(s, CUZK_NO_MEMORY, no_memory);
        return;
    }
    t->n_rows += child->n_rows;
    if (child->port_depth + t->n_ports > t->port_depth)
        t->port_depth = child->port_depth + t->n_ports;
    s->counts.n_aux += child->n_aux;
    s->counts.n_inputs += child->n_inputs;
    s->counts.n_elements += child->n_elements;
}

/* A variable of a frame that was stamped at `at`, seen from the caller's frame. */
static var in_caller(var v, const struct cs_position *at, const var *bindings) {
    switch (var_kind_of(v)) {
    case VAR_PORT:
        return bindings[var_index(v)];
    case VAR_INPUT:
        return v.id == VAR_ONE.id ? v : (var){v.id + at->n_inputs};
    case VAR_AUX:
        break;
    }
    return (var){v.id + at->n_aux};
}

static void use_template(struct cs_structure *s, const struct cs_call *call, uint32_t id,
                         const var *bindings) {
    const struct template *t = template_at(s->recorder->r1cs, id);
    const struct cs_position at = s->counts;
    if (t->n_ports != call->n_in || t->n_out_vars != call->n_out_vars ||
        t->out.n != call->out_bytes)
        caller_bug(call, "two calls with the same key differ in their inputs or outputs");
    if (t->out.n > 0) memcpy(call->out, t->out.data, t->out.n);
    const var *out_vars = (const var *)(const void *)t->out_vars.data;
    for (uint32_t i = 0; i < t->n_out_vars; i++)
        *call->out_vars[i] = in_caller(out_vars[i], &at, bindings);
    stamp(s, id, bindings);
}

static var *copy_inputs(const struct cs_call *call) {
    var *bindings = malloc(((size_t)call->n_in + 1) * sizeof *bindings);
    for (uint32_t i = 0; bindings != NULL && i < call->n_in; i++)
        bindings[i] = *call->in[i];
    return bindings;
}

bool recorder_enter(struct cs_structure *s, const struct cs_call *call) {
    struct recorder *rec = s->recorder;
    if (s->status != CUZK_OK) return true;
    var *bindings = copy_inputs(call);
    if (bindings == NULL || rec->n_frames == MAX_FRAMES) {
        free(bindings);
        if (bindings == NULL)
            structure_fail(s, CUZK_NO_MEMORY, no_memory);
        else
            structure_fail(s, CUZK_INTERNAL, "calls nest too deeply");
        return true;
    }
    const uint32_t id = index_find(rec, call);
    if (id != ITEM_RAW && !rec->check_stamps) {
        use_template(s, call, id, bindings);
        free(bindings);
        return false;
    }
    struct frame *f = &rec->frames[rec->n_frames++];
    *f = (struct frame){.outer = s->counts, .bindings = bindings};
    f->t.name = call->name;
    f->t.n_ports = f->t.port_depth = call->n_in;
    row_encoder_restart(&f->encoder);
    s->counts = (struct cs_position){0};
    for (uint32_t i = 0; i < call->n_in; i++)
        *call->in[i] = var_make(VAR_PORT, i);
    return true;
}

/* Completes the top frame's template. */
static bool close_frame(struct cs_structure *s, const struct cs_call *call) {
    struct template *t = &top(s->recorder)->t;
    t->n_aux = s->counts.n_aux;
    t->n_inputs = s->counts.n_inputs;
    t->n_elements = s->counts.n_elements;
    t->key_hash = key_hash(call);
    t->n_out_vars = call->n_out_vars;
    bool ok = byte_buf_put(&t->key, call->key, call->key_bytes) &&
              byte_buf_put(&t->out, call->out, call->out_bytes);
    for (uint32_t i = 0; ok && i < call->n_out_vars; i++)
        ok = byte_buf_put(&t->out_vars, call->out_vars[i], sizeof(var));
    return ok;
}

static bool same_bytes(const struct byte_buf *a, const struct byte_buf *b) {
    return a->n == b->n && (a->n == 0 || memcmp(a->data, b->data, a->n) == 0);
}

/* The re-recorded template must be the first one, byte for byte. */
static void compare(const struct cs_call *call, const struct template *a,
                    const struct template *b) {
    if (a->n_ports != b->n_ports || a->n_inputs != b->n_inputs || a->n_aux != b->n_aux ||
        a->n_elements != b->n_elements || a->n_rows != b->n_rows || a->n_items != b->n_items)
        caller_bug(call, "a call with the same key has other counts");
    if (!same_bytes(&a->items, &b->items) || !same_bytes(&a->code, &b->code) ||
        !same_bytes(&a->bindings, &b->bindings) || !same_bytes(&a->bit_runs, &b->bit_runs))
        caller_bug(call, "a call with the same key has other rows or variables");
    if (!same_bytes(&a->out, &b->out) || !same_bytes(&a->out_vars, &b->out_vars))
        caller_bug(call, "a call with the same key has another output");
}

void recorder_leave(struct cs_structure *s, const struct cs_call *call) {
    struct recorder *rec = s->recorder;
    if (s->status != CUZK_OK) return;
    assert(rec->n_frames > 1 && top(rec)->n_open_scopes == 0);
    if (!close_frame(s, call)) {
        structure_fail(s, CUZK_NO_MEMORY, no_memory);
        return;
    }
    struct frame f = *top(rec);
    rec->n_frames--;
    s->counts = f.outer;
    uint32_t id = index_find(rec, call);
    if (id != ITEM_RAW) {
        compare(call, template_at(rec->r1cs, id), &f.t);
        template_deinit(&f.t);
    } else {
        id = add_template(rec, &f.t);
    }
    if (id != ITEM_RAW)
        use_template(s, call, id, f.bindings);
    else
        structure_fail(s, CUZK_NO_MEMORY, no_memory);
    free(f.bindings);
}

cuzk_status recorder_finish(struct cs_structure *s, struct r1cs **out, struct cuzk_error *err) {
    struct recorder *rec = s->recorder;
    assert(rec->n_frames == 1 && rec->frames[0].n_open_scopes == 0);
    struct template *root = &rec->frames[0].t;
    root->n_aux = s->counts.n_aux;
    root->n_inputs = s->counts.n_inputs;
    root->n_elements = s->counts.n_elements;
    const uint32_t id = add_template(rec, root);
    if (id == ITEM_RAW) return error_set(err, CUZK_NO_MEMORY, "circuit", NULL, no_memory);
    struct r1cs *r = rec->r1cs;
    r->root = id;
    CUZK_TRY(r1cs_seal(r, err));
    rec->r1cs = NULL;
    *out = r;
    return CUZK_OK;
}
