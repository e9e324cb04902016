#include "test_main.h"

#include "c1_text.h"

#include "file.h"

enum { FILE_LIMIT = 64 << 20, MAX_MEMBERS = 32 };

void c1_text_free(struct c1_text *t) {
    free(t->bytes);
    *t = (struct c1_text){0};
}

/* ---- reading and wrapping ---- */

struct c1_text c1_text_read(const char *path) {
    struct mem_block block;
    struct c1_text t;
    struct cuzk_error err;
    if (file_read(&block, &t.n, path, FILE_LIMIT, &err) != CUZK_OK)
        fail_msg("%s: %s", path, err.what);
    t.bytes = calloc(1, t.n + 1);
    assert_non_null(t.bytes);
    memcpy(t.bytes, block.ptr, t.n);
    mem_give(&block);
    return t;
}

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *c1_text_base64(const void *bytes, size_t n) {
    const unsigned char *in = bytes;
    char *out = malloc((n + 2) / 3 * 4 + 1);
    assert_non_null(out);
    size_t at = 0;
    for (size_t i = 0; i < n; i += 3) {
        const unsigned a = in[i], b = i + 1 < n ? in[i + 1] : 0, c = i + 2 < n ? in[i + 2] : 0;
        out[at++] = alphabet[a >> 2];
        out[at++] = alphabet[(a & 3) << 4 | b >> 4];
        out[at++] = i + 1 < n ? alphabet[(b & 15) << 2 | c >> 6] : '=';
        out[at++] = i + 2 < n ? alphabet[c & 63] : '=';
    }
    out[at] = '\0';
    return out;
}

struct c1_text c1_text_load_inner(const char *path) {
    static const char key[] = "\"Phase1Out\":\"";
    struct c1_text outer = c1_text_read(path), t;
    const char *at = strstr(outer.bytes, key);
    assert_non_null(at);
    at += strlen(key);
    const size_t n = strcspn(at, "\"");
    assert_int_equal(n % 4, 0);
    t.bytes = calloc(1, n / 4 * 3 + 1);
    assert_non_null(t.bytes);
    t.n = 0;
    for (size_t i = 0; i < n; i += 4) {
        uint32_t v = 0;
        for (size_t j = 0; j < 4; j++)
            v = v << 6 |
                (at[i + j] == '=' ? 0 : (uint32_t)(strchr(alphabet, at[i + j]) - alphabet));
        for (unsigned j = 0; j < 3; j++)
            t.bytes[t.n++] = (char)(v >> (16 - 8 * j));
    }
    while (n > 0 && t.bytes[t.n - 1] == '\0')
        t.n--;
    c1_text_free(&outer);
    return t;
}

struct c1_text c1_text_wrap(const struct c1_text *inner, unsigned long long number,
                            unsigned long long size) {
    struct c1_text t;
    char *base64 = c1_text_base64(inner->bytes, inner->n);
    FILE *out = open_memstream(&t.bytes, &t.n);
    assert_non_null(out);
    fprintf(out, "{\"SectorNum\":%llu,\"Phase1Out\":\"%s\",\"SectorSize\":%llu}", number, base64,
            size);
    fclose(out);
    free(base64);
    return t;
}

/* ---- editing ---- */

struct copier {
    const char *at;
    FILE *out;
    const struct c1_edit *edit;
    unsigned seen; /* members of the edited name so far */
};

/* The end of the value that starts at `p`; no white space is expected in it. */
static const char *value_end(const char *p) {
    unsigned depth = 0;
    bool quoted = false;
    for (;; p++) {
        assert_true(*p != '\0');
        if (quoted) {
            if (*p == '\\')
                p++;
            else if (*p == '"')
                quoted = false;
        } else if (*p == '"') {
            quoted = true;
        } else if (*p == '[' || *p == '{') {
            depth++;
        } else if (*p == ']' || *p == '}') {
            if (depth == 0) return p;
            depth--;
        } else if (*p == ',' && depth == 0) {
            return p;
        }
    }
}

static void put(struct copier *c, const char *text, size_t n) {
    fwrite(text, 1, n, c->out);
    if (c->edit->spaced) fputs(" \t\r\n", c->out);
}

static void copy_value(struct copier *c, const char *from, const char *end);

static const char *last_element(const char *from, const char *end) {
    assert_int_equal(*from, '[');
    const char *last = from + 1;
    for (const char *p = last; (p = value_end(p)) < end - 1;)
        last = ++p;
    return last;
}

/* An array with its last element missing or doubled; `inner`: its first element is changed so. */
static void resize(struct copier *c, const char *from, const char *end, bool push, bool inner) {
    if (inner) {
        const char *first_end = value_end(from + 1);
        fputc('[', c->out);
        resize(c, from + 1, first_end, push, false);
        fwrite(first_end, 1, (size_t)(end - first_end), c->out);
        return;
    }
    const char *last = last_element(from, end);
    if (push) {
        fwrite(from, 1, (size_t)(end - 1 - from), c->out);
        fputc(',', c->out);
        fwrite(last, 1, (size_t)(end - 1 - last), c->out);
    } else {
        const char *kept = last > from + 1 ? last - 1 : last; /* without the comma */
        fwrite(from, 1, (size_t)(kept - from), c->out);
    }
    fputc(']', c->out);
}

static void member(struct copier *c, const char *key, const char *key_end, const char *end) {
    put(c, key, (size_t)(key_end - key));
    put(c, ":", 1);
    copy_value(c, key_end + 1, end);
}

static bool is_edited(struct copier *c, const char *key, const char *key_end) {
    const char *name = c->edit->key;
    if (c->edit->action == EDIT_NONE) return false;
    const size_t n = (size_t)(key_end - key) - 2;
    if (strlen(name) != n || memcmp(name, key + 1, n) != 0) return false;
    return c->seen++ == c->edit->skip;
}

static void edited_member(struct copier *c, const char *key, const char *key_end, const char *end) {
    const enum edit_action action = c->edit->action;
    const int key_bytes = (int)(key_end - key);
    switch (action) {
    case EDIT_TWICE:
        member(c, key, key_end, end);
        fputc(',', c->out);
        member(c, key, key_end, end);
        return;
    case EDIT_REPLACE:
        fprintf(c->out, "%.*s:%s", key_bytes, key, c->edit->with);
        return;
    default:
        fprintf(c->out, "%.*s:", key_bytes, key);
        resize(c, key_end + 1, end, action == EDIT_PUSH || action == EDIT_PUSH_INNER,
               action == EDIT_POP_INNER || action == EDIT_PUSH_INNER);
    }
}

static void copy_object(struct copier *c, const char *from, const char *end) {
    const char *keys[MAX_MEMBERS], *key_ends[MAX_MEMBERS], *ends[MAX_MEMBERS];
    unsigned n = 0;
    for (const char *p = from + 1; p < end - 1; p = ends[n - 1] + 1) {
        assert_true(n < MAX_MEMBERS);
        keys[n] = p;
        key_ends[n] = strchr(p + 1, '"') + 1;
        ends[n] = value_end(key_ends[n] + 1);
        n++;
    }
    put(c, "{", 1);
    bool first = true;
    if (c->edit->unknown != NULL) {
        fprintf(c->out, "%s", c->edit->unknown);
        first = false;
    }
    for (unsigned i = 0; i < n; i++) {
        const unsigned m = c->edit->reverse ? n - 1 - i : i;
        const bool edited = is_edited(c, keys[m], key_ends[m]);
        if (edited && c->edit->action == EDIT_DROP) continue;
        if (!first) put(c, ",", 1);
        first = false;
        if (edited)
            edited_member(c, keys[m], key_ends[m], ends[m]);
        else
            member(c, keys[m], key_ends[m], ends[m]);
    }
    put(c, "}", 1);
}

static void copy_value(struct copier *c, const char *from, const char *end) {
    if (*from == '{') {
        copy_object(c, from, end);
    } else if (*from == '[' && from[1] != ']') {
        const char *p = from;
        while (p < end - 1) {
            put(c, p == from ? "[" : ",", 1);
            const char *next = value_end(p + 1);
            copy_value(c, p + 1, next);
            p = next;
        }
        put(c, "]", 1);
    } else {
        put(c, from, (size_t)(end - from));
    }
}

struct c1_text c1_text_edit(const struct c1_text *in, const struct c1_edit *edit) {
    struct c1_text t;
    FILE *out = open_memstream(&t.bytes, &t.n);
    assert_non_null(out);
    struct copier c = {.out = out, .edit = edit};
    copy_value(&c, in->bytes, in->bytes + in->n);
    fclose(out);
    if (edit->action != EDIT_NONE) assert_true(c.seen > edit->skip);
    return t;
}

/* ---- numbers ---- */

struct walker {
    const char *start;
    c1_number_fn fn;
    void *ctx;
    char path[320];
};

static void walk(struct walker *w, const char *from, const char *end) {
    const size_t depth = strlen(w->path), room = sizeof w->path - depth;
    if (*from == '{') {
        for (const char *p = from + 1; p < end - 1;) {
            const char *key_end = strchr(p + 1, '"') + 1, *next = value_end(key_end + 1);
            snprintf(w->path + depth, room, "%s%.*s", depth > 0 ? "." : "", (int)(key_end - p - 2),
                     p + 1);
            walk(w, key_end + 1, next);
            p = next + 1;
        }
    } else if (*from == '[') {
        unsigned i = 0;
        for (const char *p = from + 1; p < end; i++) {
            const char *next = value_end(p);
            snprintf(w->path + depth, room, "[%u]", i);
            walk(w, p, next);
            p = next + 1;
        }
    } else if (*from >= '0' && *from <= '9') {
        const struct c1_number number = {
            .offset = (size_t)(from - w->start), .n = (size_t)(end - from), .path = w->path};
        w->fn(w->ctx, &number);
    }
    w->path[depth] = '\0';
}

void c1_text_each_number(const struct c1_text *in, c1_number_fn fn, void *ctx) {
    struct walker w = {.start = in->bytes, .fn = fn, .ctx = ctx, .path = ""};
    walk(&w, in->bytes, in->bytes + in->n);
}

/* ---- comparing ---- */

static void same_path(const struct merkle_path *a, const struct merkle_path *b) {
    assert_true(fr_equal(&a->leaf, &b->leaf) && fr_equal(&a->root, &b->root));
    assert_int_equal(a->n_elements, b->n_elements);
    assert_memory_equal(a->elements, b->elements, a->n_elements * sizeof *a->elements);
}

static void same_column(const struct porep_column *a, const struct porep_column *b) {
    assert_memory_equal(a->rows, b->rows, sizeof a->rows);
    same_path(&a->path, &b->path);
}

static void same_challenge(const struct porep_challenge *a, const struct porep_challenge *b) {
    assert_int_equal(a->node, b->node);
    same_path(&a->comm_d, &b->comm_d);
    same_path(&a->comm_r_last, &b->comm_r_last);
    same_column(&a->c_x, &b->c_x);
    for (unsigned i = 0; i < POREP_DRG_PARENTS; i++)
        same_column(&a->drg[i], &b->drg[i]);
    for (unsigned i = 0; i < POREP_EXP_PARENTS; i++)
        same_column(&a->exp[i], &b->exp[i]);
}

void c1_assert_same(const struct c1 *a, const struct c1 *b) {
    assert_ptr_equal(c1_registered(a), c1_registered(b));
    assert_memory_equal(c1_values(a), c1_values(b), sizeof(struct c1_values));
    assert_int_equal(c1_partitions(a), c1_partitions(b));
    for (unsigned k = 0; k < c1_partitions(a); k++) {
        const struct porep_partition *p = c1_partition(a, k), *q = c1_partition(b, k);
        assert_true(fr_equal(&p->replica_id, &q->replica_id));
        assert_true(fr_equal(&p->comm_d, &q->comm_d) && fr_equal(&p->comm_r, &q->comm_r));
        assert_true(fr_equal(&p->comm_c, &q->comm_c));
        assert_true(fr_equal(&p->comm_r_last, &q->comm_r_last));
        assert_int_equal(p->n_challenges, q->n_challenges);
        for (unsigned j = 0; j < p->n_challenges; j++)
            same_challenge(&p->challenges[j], &q->challenges[j]);
    }
}
