/*
 * The C1 decoder and, where a text decodes, the check.
 *
 * A real C1 has 100 KB at least, too much to mutate at speed; so the input is a text in which bytes
 * from 0x80 on stand for pieces of one: a key, a hash, a path, a whole column, a whole challenge,
 * all of zeros. A few dozen bytes then reach every part of the grammar, and mutations put pieces
 * where they do not belong. The first byte says how the text is fed:
 *
 *     bit 0   pieces are replaced (otherwise bytes from 0x80 on stay)
 *     bit 1   the text is the inner one: it is wrapped in base64
 *     bit 2   it is fed in small parts, through a source
 *     bit 3   the check is told the miner
 *     bit 4   the text may be long; otherwise it ends after TEXT_SHORT bytes, which is what makes
 * most executions fast
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "c1.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

enum { FIRST_PIECE = 0x80, TEXT_SHORT = 1 << 10, TEXT_MAX = 1 << 18 };

/* The harness itself is not what is to be explored. */
#if defined(__clang__)
#define NOT_COVERED __attribute__((no_sanitize("coverage")))
#else
#define NOT_COVERED
#endif

/* A growing piece of text in fixed space; what does not fit is cut. */
struct buffer {
    char *bytes;
    size_t n, max;
};

NOT_COVERED static void add(struct buffer *b, const char *text, size_t n) {
    if (n > b->max - b->n) n = b->max - b->n;
    memcpy(b->bytes + b->n, text, n);
    b->n += n;
}

/* ---- pieces ---- */

#define KEY(name) "\"" name "\":"
#define HASH      "\x80"
#define HASHES7   HASH "," HASH "," HASH "," HASH "," HASH "," HASH "," HASH
#define ELEMENT2  "{\"hashes\":[" HASH "],\"index\":0}"
#define ELEMENT8  "{\"hashes\":[" HASHES7 "],\"index\":0}"
#define PARENTS6  HASHES7 "," HASHES7 "," HASHES7 "," HASHES7 "," HASHES7
#define PROOF(elements)                                                                            \
    "{\"data\":{\"Single\":{\"root\":" HASH ",\"leaf\":" HASH ",\"path\":{\"path\":[" elements     \
    "]}}}}"

/* A piece may use the pieces before it. */
static const char *const pieces[] = {
    /* 80 */ "[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]",
    /* 81 */ ELEMENT2,
    /* 82 */ ELEMENT8,
    /* 83 */ PROOF("\x81,\x81,\x81,\x81,\x81,\x81"),
    /* 84 */ PROOF("\x82,\x82"),
    /* 85 */ "{\"column\":{\"index\":0,\"rows\":[" HASH "," HASH "],\"_h\":null}",
    /* 86 */ "\x85,\"inclusion_proof\":\x84}",
    /* 87 */ PARENTS6 "," HASH "," HASH,
    /* 88 */ "{\"parents\":[\x87],\"layer_index\":1,\"node\":0}",
    /* 89 */ "{\"parents\":[\x87],\"layer_index\":2,\"node\":0}",
    /* 8a */ "[\x86,\x86,\x86,\x86,\x86,\x86]",
    /* 8b */ "[\x86,\x86,\x86,\x86,\x86,\x86,\x86,\x86]",
    /* 8c */ "{\"c_x\":\x86,\"drg_parents\":\x8a,\"exp_parents\":\x8b}",
    /* 8d */ "\"comm_d_proofs\":\x83,\"comm_r_last_proof\":\x84,\"replica_column_proofs\":\x8c",
    /* 8e */ "{\x8d,\"labeling_proofs\":[\x88,\x89],\"encoding_proof\":\x89}",
    /* 8f */ "{\"StackedDrg2KiBV1\":[[\x8e,\x8e]]}",
    /* 90 */ "\"comm_r\":\x80,\"comm_d\":\x80,\"replica_id\":\x80,\"seed\":\x80,\"ticket\":\x80",
    KEY("registered_proof"),
    KEY("vanilla_proofs"),
    KEY("comm_r"),
    KEY("comm_d"),
    KEY("replica_id"),
    KEY("seed"),
    KEY("ticket"),
    KEY("SectorNum"),
    KEY("SectorSize"),
    KEY("Phase1Out"),
    KEY("comm_d_proofs"),
    KEY("comm_r_last_proof"),
    KEY("replica_column_proofs"),
    KEY("labeling_proofs"),
    KEY("encoding_proof"),
    KEY("data"),
    KEY("Single"),
    KEY("Sub"),
    KEY("Top"),
    KEY("root"),
    KEY("leaf"),
    KEY("path"),
    KEY("base_proof"),
    KEY("sub_proof"),
    KEY("top_proof"),
    KEY("hashes"),
    KEY("index"),
    KEY("c_x"),
    KEY("drg_parents"),
    KEY("exp_parents"),
    KEY("column"),
    KEY("inclusion_proof"),
    KEY("rows"),
    KEY("_h"),
    KEY("parents"),
    KEY("layer_index"),
    KEY("node"),
    KEY("StackedDrg2KiBV1"),
    KEY("StackedDrg4KiBV1"),
    KEY("StackedDrg16KiBV1"),
    KEY("StackedDrg32KiBV1"),
    KEY("StackedDrg32GiBV1"),
    KEY("StackedDrg64GiBV1"),
    "\"StackedDrg2KiBV1\"",
    "\"StackedDrg2KiBV1_1\"",
    "\"StackedDrg2KiBV1_1_Feat_SyntheticPoRep\"",
    "\"StackedDrg2KiBV1_2_Feat_NonInteractivePoRep\"",
    "\"StackedDrg4KiBV1_1\"",
    "\"StackedDrg32GiBV1_1\"",
    "[255,255,255,255,255,255,255,255]",
};
enum { N_PIECES = sizeof pieces / sizeof pieces[0], PIECE_MAX = 1 << 16 };

/* The pieces written out, once. */
static struct buffer expanded[N_PIECES];

NOT_COVERED static void expand(struct buffer *out, const char *text, size_t n, size_t n_known) {
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c < FIRST_PIECE)
            add(out, text + i, 1);
        else if ((size_t)(c - FIRST_PIECE) < n_known)
            add(out, expanded[c - FIRST_PIECE].bytes, expanded[c - FIRST_PIECE].n);
    }
}

NOT_COVERED static void expand_pieces(void) {
    for (size_t i = 0; i < N_PIECES; i++) {
        static char scratch[PIECE_MAX];
        struct buffer b = {.bytes = scratch, .max = PIECE_MAX};
        expand(&b, pieces[i], strlen(pieces[i]), i);
        expanded[i] = (struct buffer){.bytes = malloc(b.n), .n = b.n};
        if (expanded[i].bytes == NULL) abort();
        memcpy(expanded[i].bytes, scratch, b.n);
    }
}

/* ---- feeding ---- */

NOT_COVERED static void wrap(struct buffer *out, const struct buffer *inner) {
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const char before[] = "{\"SectorNum\":1,\"Phase1Out\":\"";
    static const char after[] = "\",\"SectorSize\":2048}";
    add(out, before, sizeof before - 1);
    for (size_t i = 0; i < inner->n; i += 3) {
        uint32_t v = 0;
        const size_t n = inner->n - i < 3 ? inner->n - i : 3;
        for (size_t j = 0; j < 3; j++)
            v = v << 8 | (j < n ? (unsigned char)inner->bytes[i + j] : 0);
        const char group[4] = {alphabet[v >> 18], alphabet[v >> 12 & 63],
                               n > 1 ? alphabet[v >> 6 & 63] : '=', n > 2 ? alphabet[v & 63] : '='};
        add(out, group, 4);
    }
    add(out, after, sizeof after - 1);
}

struct parts {
    const char *bytes;
    size_t n, step;
};

NOT_COVERED static long read_part(void *ctx, void *out, size_t capacity, struct cuzk_error *err) {
    struct parts *p = ctx;
    (void)err;
    (void)capacity; /* larger than any step */
    const size_t n = p->n < p->step ? p->n : p->step;
    memcpy(out, p->bytes, n);
    p->bytes += n;
    p->n -= n;
    p->step = p->step % 61 + 1;
    return (long)n;
}

NOT_COVERED int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
    static char text_bytes[TEXT_MAX], wrapped_bytes[2 * TEXT_MAX];
    if (expanded[0].bytes == NULL) expand_pieces();
    if (n_bytes == 0) return 0;
    const size_t longest = (data[0] & 16) != 0 ? TEXT_MAX : TEXT_SHORT;
    struct buffer text = {.bytes = text_bytes, .max = longest};
    struct buffer wrapped = {.bytes = wrapped_bytes, .max = 2 * TEXT_MAX};
    if ((data[0] & 1) != 0)
        expand(&text, (const char *)data + 1, n_bytes - 1, N_PIECES);
    else
        add(&text, (const char *)data + 1, n_bytes - 1);
    const struct buffer *whole = &text;
    if ((data[0] & 2) != 0) {
        wrap(&wrapped, &text);
        whole = &wrapped;
    }
    struct c1 *c1;
    struct cuzk_error err = {.code = CUZK_OK};
    cuzk_status status;
    if ((data[0] & 4) != 0) {
        struct parts parts = {.bytes = whole->bytes, .n = whole->n, .step = 1 + data[0] / 8};
        const struct c1_source source = {.read = read_part, .ctx = &parts};
        status = c1_decode(&c1, &source, NULL, &err);
    } else {
        status = c1_decode_memory(&c1, whole->bytes, whole->n, NULL, &err);
    }
    if (status != err.code || (status == CUZK_OK) != (c1 != NULL)) abort();
    if (status == CUZK_OK) {
        const struct c1_claims claims = {.has_miner = true, .miner = 1};
        if (c1_check(c1, (data[0] & 8) != 0 ? &claims : NULL, NULL, NULL, &err) == CUZK_OK)
            abort(); /* no text of zeros is a sector */
        c1_destroy(c1);
    }
    return 0;
}
