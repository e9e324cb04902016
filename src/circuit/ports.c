#include "ports.h"

#include <assert.h>
#include <string.h>

void ports_init(struct ports *p, const char *name, void *out, size_t out_bytes) {
    p->call = (struct cs_call){.name = name,
                               .key = p->key,
                               .in = p->in,
                               .out = out,
                               .out_bytes = out_bytes,
                               .out_vars = p->out};
}

void ports_key(struct ports *p, uint32_t part) {
    const size_t i = p->call.key_bytes / sizeof p->key[0];
    assert(i < PORTS_MAX_KEY);
    p->key[i] = part;
    p->call.key_bytes += sizeof p->key[0];
}

static void add_in(struct ports *p, var *v) {
    assert(p->call.n_in < PORTS_MAX_IN);
    p->in[p->call.n_in++] = v;
}

static void add_out(struct ports *p, var *v) {
    assert(p->call.n_out_vars < PORTS_MAX_OUT);
    p->out[p->call.n_out_vars++] = v;
}

void ports_in_num(struct ports *p, struct num *a) {
    add_in(p, &a->v);
}

void ports_in_word(struct ports *p, struct word *w) {
    ports_key(p, w->is_const);
    ports_key(p, w->is_const & w->value);
    ports_key(p, w->negated);
    for (unsigned i = 0; i < 32; i++) {
        if (!(w->is_const >> i & 1)) add_in(p, &w->bit[i]);
    }
}

void ports_out_num(struct ports *p, struct num *a) {
    add_out(p, &a->v);
}

void ports_out_word(struct ports *p, struct word *w) {
    for (unsigned i = 0; i < 32; i++)
        add_out(p, &w->bit[i]);
}

bool ports_enter(struct ports *p, struct cs *cs) {
    if (p->call.out_bytes > 0) memset(p->call.out, 0, p->call.out_bytes);
    return cs_call_enter(cs, &p->call);
}

void ports_leave(struct ports *p, struct cs *cs) {
    cs_call_leave(cs, &p->call);
}
