#include "r1cs.h"

#include <stdio.h>
#include <stdlib.h>

#include "recorder.h"
#include "row_bytes.h"

/*
 * Rows in the byte format of the digest. The bytes are read twice: first everything is checked and
 * the variables are counted, then the rows are recorded into a root without stamps.
 */
struct reader {
    const uint8_t *data;
    size_t n_bytes, at;
    uint64_t row;
    uint32_t n_inputs, n_aux; /* highest index that occurs, plus one */
    uint64_t index_limit;
    struct lc lc[3];
};

static cuzk_status bad(const struct reader *rd, cuzk_status code, struct cuzk_error *err,
                       const char *what) {
    char where[64];
    snprintf(where, sizeof where, "rows, byte %zu", rd->at);
    return error_set(err, code, where, NULL, "row %llu: %s", (unsigned long long)rd->row, what);
}

static cuzk_status read_term(struct reader *rd, struct lc_term *term, struct cuzk_error *err) {
    const uint8_t *p = rd->data + rd->at;
    uint32_t index;
    memcpy(&index, p + 1, sizeof index);
    if (p[0] > 1)
        return bad(rd, CUZK_FIELD_RANGE, err, "a term's kind is neither 0 (input) nor 1 (aux)");
    /* Real systems use every variable; a lone high index would only cost memory. */
    if (index >= rd->index_limit)
        return bad(rd, CUZK_FIELD_RANGE, err,
                   "a variable's index is larger than the data explains");
    term->v = var_make(p[0] == 0 ? VAR_INPUT : VAR_AUX, index);
    if (!fr_from_bytes(&term->c, p + 5))
        return bad(rd, CUZK_NOT_CANONICAL, err, "a coefficient is not below the modulus");
    if (fr_is_zero(&term->c)) return bad(rd, CUZK_FIELD_RANGE, err, "a coefficient is zero");
    uint32_t *count = p[0] == 0 ? &rd->n_inputs : &rd->n_aux;
    if (index >= *count) *count = index + 1;
    rd->at += ROW_TERM_BYTES;
    return CUZK_OK;
}

static cuzk_status read_lc(struct reader *rd, struct lc *lc, struct cuzk_error *err) {
    uint32_t n;
    if (rd->n_bytes - rd->at < ROW_COUNT_BYTES)
        return bad(rd, CUZK_INPUT_SIZE, err, "the data ends within a row");
    memcpy(&n, rd->data + rd->at, sizeof n);
    if (n > (rd->n_bytes - rd->at - ROW_COUNT_BYTES) / ROW_TERM_BYTES)
        return bad(rd, CUZK_INPUT_SIZE, err, "there are fewer bytes than the count of terms says");
    rd->at += ROW_COUNT_BYTES;
    lc_clear(lc);
    for (uint32_t i = 0; i < n; i++) {
        struct lc_term term;
        CUZK_TRY(read_term(rd, &term, err));
        if (i > 0 && var_order(term.v) <= var_order(lc->terms[i - 1].v))
            return bad(rd, CUZK_FIELD_RANGE, err, "the terms are not in ascending order");
        lc_add(lc, term.v, &term.c);
        if (lc->failed) return bad(rd, CUZK_NO_MEMORY, err, "no memory for its terms");
    }
    return CUZK_OK;
}

/* Reads all rows; records them where s is not NULL. */
static cuzk_status read_rows(struct reader *rd, struct cs_structure *s, struct cuzk_error *err) {
    rd->at = 0;
    for (rd->row = 0; rd->at < rd->n_bytes; rd->row++) {
        for (int m = 0; m < 3; m++)
            CUZK_TRY(read_lc(rd, &rd->lc[m], err));
        if (s == NULL) continue;
        const struct row_lc row[3] = {{rd->lc[0].terms, rd->lc[0].n},
                                      {rd->lc[1].terms, rd->lc[1].n},
                                      {rd->lc[2].terms, rd->lc[2].n}};
        recorder_row(s, row);
        if (s->status == CUZK_OK) continue;
        if (err != NULL) *err = s->error;
        return s->status;
    }
    if (rd->row == 0) return bad(rd, CUZK_INPUT_SIZE, err, "there are no rows");
    return CUZK_OK;
}

cuzk_status r1cs_from_rows(struct r1cs **out, const uint8_t *data, size_t n_bytes,
                           struct cuzk_error *err) {
    enum { LEAST_LIMIT = 4096 };
    struct reader rd = {.data = data, .n_bytes = n_bytes, .n_inputs = 1};
    struct cs *cs = NULL;
    *out = NULL;
    rd.index_limit = n_bytes / ROW_TERM_BYTES;
    if (rd.index_limit < LEAST_LIMIT) rd.index_limit = LEAST_LIMIT;
    if (rd.index_limit > VAR_INDEX_MASK) rd.index_limit = VAR_INDEX_MASK;
    cuzk_status status = read_rows(&rd, NULL, err);
    if (status == CUZK_OK) status = cs_create_recorder(&cs, false, err);
    if (status == CUZK_OK) {
        struct cs_structure *s = cs->structure;
        s->counts.n_inputs = rd.n_inputs - 1;
        s->counts.n_aux = s->counts.n_elements = rd.n_aux;
        status = read_rows(&rd, s, err);
        if (status == CUZK_OK) status = recorder_finish(s, out, err);
    }
    for (int m = 0; m < 3; m++)
        lc_free(&rd.lc[m]);
    cs_destroy(cs);
    return status;
}
