/*
 * Describes a gadget's call (struct cs_call, cs.h) wire by wire: what goes in, what shapes its
 * rows, what comes out.
 *
 *     struct ports p;
 *     ports_init(&p, "name", &out, sizeof out);
 *     ports_in_num(&p, &local.a);          inputs: members of a local copy
 *     ports_key(&p, layer);                whatever else the rows depend on
 *     ports_out_num(&p, &out.sum);         outputs: members of `out`
 *     if (ports_enter(&p, cs)) {
 *         body(cs, &local, &out);
 *         ports_leave(&p, cs);
 *     }
 *
 * Worth its while only when cs_has_rows(cs): in CS_WITNESS gadgets run their body at once.
 */
#ifndef CIRCUIT_PORTS_H
#define CIRCUIT_PORTS_H

#include "wires.h"

/* Limits: 14 unpacked parents, a replica id and a node, or a block's state and message. */
enum { PORTS_MAX_IN = 4096, PORTS_MAX_OUT = 256, PORTS_MAX_KEY = 512 };

struct ports {
    struct cs_call call;
    var *in[PORTS_MAX_IN];
    var *out[PORTS_MAX_OUT];
    uint32_t key[PORTS_MAX_KEY];
};

/* `name` is a string literal; `out` is cleared by ports_enter. */
void ports_init(struct ports *p, const char *name, void *out, size_t out_bytes);
void ports_key(struct ports *p, uint32_t part);
void ports_in_num(struct ports *p, struct num *a);
void ports_in_word(struct ports *p, struct word *w); /* its constants and negations are key */
void ports_out_num(struct ports *p, struct num *a);
void ports_out_word(struct ports *p, struct word *w);
bool ports_enter(struct ports *p, struct cs *cs);
void ports_leave(struct ports *p, struct cs *cs);

#endif
