#include "partition_fixture.h"

#include "test_main.h"

enum { MAX_ELEMENTS = 32 * 64 * 18 };

struct reader {
    FILE *stream;
    struct path_element *next;
};

static uint64_t read_int(struct reader *r, size_t n_bytes) {
    uint8_t bytes[8] = {0};
    uint64_t out = 0;
    assert_int_equal(fread(bytes, 1, n_bytes, r->stream), n_bytes);
    for (size_t i = n_bytes; i-- > 0;)
        out = out << 8 | bytes[i];
    return out;
}

static void read_fr(struct reader *r, fr *out) {
    uint8_t bytes[32];
    assert_int_equal(fread(bytes, 1, sizeof bytes, r->stream), sizeof bytes);
    assert_true(fr_from_bytes(out, bytes));
}

static void read_path(struct reader *r, struct merkle_path *out) {
    read_fr(r, &out->leaf);
    read_fr(r, &out->root);
    out->n_elements = (uint32_t)read_int(r, 4);
    out->elements = r->next;
    for (uint32_t i = 0; i < out->n_elements; i++, r->next++) {
        r->next->index = (uint32_t)read_int(r, 4);
        const uint64_t n = read_int(r, 4);
        assert_true(n <= PATH_MAX_SIBLINGS);
        for (uint64_t k = 0; k < n; k++)
            read_fr(r, &r->next->siblings[k]);
    }
}

static void read_column(struct reader *r, struct porep_column *out) {
    const uint64_t n = read_int(r, 4);
    assert_true(n <= POREP_MAX_LAYERS);
    for (uint64_t i = 0; i < n; i++)
        read_fr(r, &out->rows[i]);
    read_path(r, &out->path);
}

void partition_fixture_load(struct partition_fixture *f, const char *path) {
    struct reader r = {.stream = fopen(path, "rb")};
    assert_non_null(r.stream);
    f->elements = r.next = calloc(MAX_ELEMENTS, sizeof f->elements[0]);
    assert_non_null(f->elements);
    struct porep_partition *const p = &f->partition;
    read_fr(&r, &p->replica_id);
    read_fr(&r, &p->comm_d);
    read_fr(&r, &p->comm_r);
    read_fr(&r, &p->comm_c);
    read_fr(&r, &p->comm_r_last);
    p->n_challenges = (uint32_t)read_int(&r, 4);
    f->challenges = calloc(p->n_challenges, sizeof f->challenges[0]);
    assert_non_null(f->challenges);
    p->challenges = f->challenges;
    for (uint32_t i = 0; i < p->n_challenges; i++) {
        struct porep_challenge *const c = &f->challenges[i];
        c->node = read_int(&r, 8);
        read_path(&r, &c->comm_d);
        read_path(&r, &c->comm_r_last);
        read_column(&r, &c->c_x);
        for (int k = 0; k < POREP_DRG_PARENTS; k++)
            read_column(&r, &c->drg[k]);
        for (int k = 0; k < POREP_EXP_PARENTS; k++)
            read_column(&r, &c->exp[k]);
    }
    assert_int_equal(fgetc(r.stream), EOF);
    fclose(r.stream);
}

void partition_fixture_free(struct partition_fixture *f) {
    free(f->challenges);
    free(f->elements);
}
