/*
 * c1_check(): whether the vanilla proofs are those of a sealed sector.
 *
 * Of one challenge, in this order: nodes (challenge, parents, the digits of every path), paths and
 * columns, labels, encoding, copies. Each step relies on the ones before it, so that a fault is
 * named where it is and not where it shows later.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "c1_types.h"
#include "challenges.h"
#include "graph.h"
#include "hash.h"
#include "poseidon.h"
#include "replica_id.h"

/* The lowest-numbered fault that one thread has met. */
struct finding {
    bool found;
    size_t task;
    struct cuzk_error error;
};

struct check {
    const struct c1 *c1;
    struct graph graph;
    fr comm_d, comm_c, comm_r_last; /* what the roots must be */
    size_t first_task;              /* of this round */
    atomic_size_t lowest;           /* number of the first faulty challenge met so far */
    struct finding *findings;       /* one for each thread */
};

/* One challenge under examination. */
struct subject {
    const struct check *check;
    const struct c1_layout *layout;
    unsigned k, j;
    struct porep_challenge *challenge; /* read only */
    const struct c1_copies *copies;
    uint64_t nodes[PATH_SLOTS]; /* the leaf that each path must lead from */
    struct cuzk_error *err;
};

/* ---- naming ---- */

static const char *prefix(const struct c1 *c1) {
    return c1->wrapped ? "Phase1Out." : "";
}

/* Fails at a place inside the challenge; the offset is that of the challenge. */
static cuzk_status bad(const struct subject *s, cuzk_status code, const char *what, const char *fmt,
                       ...) __attribute__((format(printf, 4, 5)));
static cuzk_status bad(const struct subject *s, cuzk_status code, const char *what, const char *fmt,
                       ...) {
    char where[320], sentence[300];
    const struct c1 *c1 = s->check->c1;
    const int n = snprintf(where, sizeof where, "%svanilla_proofs.%s[%u][%u].", prefix(c1),
                           c1->seal->variant, s->k, s->j);
    va_list args;
    va_start(args, fmt);
    vsnprintf(where + n, sizeof where - (size_t)n, fmt, args);
    va_end(args);
    snprintf(sentence, sizeof sentence, "%s, in the challenge's object", what);
    c1_offset_append(sentence, sizeof sentence, &s->copies->offset, c1->wrapped);
    return error_set(s->err, code, where, c1_hint(code), "%s", sentence);
}

/* Fails at one of the values beside the vanilla proofs. */
static cuzk_status bad_value(const struct c1 *c1, cuzk_status code, const char *name,
                             const struct c1_offset *at, const char *what, struct cuzk_error *err) {
    char where[64], sentence[300];
    snprintf(where, sizeof where, "%s%s", prefix(c1), name);
    snprintf(sentence, sizeof sentence, "%s", what);
    c1_offset_append(sentence, sizeof sentence, at, c1->wrapped);
    return error_set(err, code, where, c1_hint(code), "%s", sentence);
}

struct name {
    char text[96];
};

static struct name column_name(unsigned column) {
    struct name n;
    if (column == 0)
        snprintf(n.text, sizeof n.text, "replica_column_proofs.c_x");
    else if (column <= POREP_DRG_PARENTS)
        snprintf(n.text, sizeof n.text, "replica_column_proofs.drg_parents[%u]", column - 1);
    else
        snprintf(n.text, sizeof n.text, "replica_column_proofs.exp_parents[%u]",
                 column - 1 - POREP_DRG_PARENTS);
    return n;
}

static struct name slot_name(unsigned slot) {
    struct name n;
    if (slot == PATH_COMM_D || slot == PATH_COMM_R_LAST) {
        snprintf(n.text, sizeof n.text, "%s",
                 slot == PATH_COMM_D ? "comm_d_proofs" : "comm_r_last_proof");
        return n;
    }
    n = column_name(slot - PATH_COLUMNS);
    const size_t used = strlen(n.text);
    snprintf(n.text + used, sizeof n.text - used, ".inclusion_proof");
    return n;
}

static const char *form_name(const struct subject *s, unsigned slot) {
    const struct tree_shape *tree = &s->layout->shape->tree;
    if (slot == PATH_COMM_D || tree->sub_arity == 0) return "Single";
    return tree->top_arity == 0 ? "Sub" : "Top";
}

/* The level's element, from the form on: `path.path[3]`, `sub_proof.path[0]`. */
static struct name element_name(const struct subject *s, unsigned slot, unsigned level) {
    struct name n;
    const unsigned base = slot == PATH_COMM_D ? s->layout->d_levels : s->layout->base_levels;
    const bool single = strcmp(form_name(s, slot), "Single") == 0;
    if (level < base)
        snprintf(n.text, sizeof n.text, "%s.path[%u]", single ? "path" : "base_proof", level);
    else
        snprintf(n.text, sizeof n.text, "%s.path[0]", level == base ? "sub_proof" : "top_proof");
    return n;
}

/* ---- nodes ---- */

static cuzk_status check_digits(const struct subject *s, unsigned slot) {
    const struct merkle_path *path = c1_path(s->challenge, slot);
    uint64_t rest = s->nodes[slot];
    for (unsigned level = 0; level < path->n_elements; level++) {
        const unsigned arity = c1_slot_arity(s->layout, slot, level);
        if (path->elements[level].index != rest % arity) {
            char what[120];
            const bool parent = slot > PATH_COLUMNS;
            snprintf(what, sizeof what, "the path to node %" PRIu64 " has %u here, not %u",
                     s->nodes[slot], (unsigned)(rest % arity), path->elements[level].index);
            return bad(s, parent ? CUZK_PARENT : CUZK_CHALLENGE, what, "%s.data.%s.%s.index",
                       slot_name(slot).text, form_name(s, slot), element_name(s, slot, level).text);
        }
        rest /= arity;
    }
    return CUZK_OK;
}

static cuzk_status check_nodes(const struct subject *s) {
    for (unsigned c = 0; c < C1_COLUMNS; c++)
        if (s->copies->column_index[c] != s->nodes[PATH_COLUMNS + c]) {
            char what[120];
            snprintf(what, sizeof what, "node %" PRIu32 " is opened, but %s is %" PRIu64,
                     s->copies->column_index[c],
                     c == 0 ? "the challenge" : "the parent that the graph gives",
                     s->nodes[PATH_COLUMNS + c]);
            return bad(s, c == 0 ? CUZK_CHALLENGE : CUZK_PARENT, what, "%s.column.index",
                       column_name(c).text);
        }
    for (unsigned slot = 0; slot < PATH_SLOTS; slot++)
        CUZK_TRY(check_digits(s, slot));
    return CUZK_OK;
}

/* ---- paths ---- */

static void hash_pair(fr *out, const fr in[2]) {
    uint8_t bytes[64], digest[SHA256_BYTES];
    fr_to_bytes(bytes, &in[0]);
    fr_to_bytes(bytes + 32, &in[1]);
    sha256(digest, bytes, sizeof bytes);
    fr_from_bytes_trimmed(out, digest);
}

/* The root that `leaf` and the path's siblings lead to. */
static fr path_root(const struct c1_layout *layout, const struct merkle_path *path, unsigned slot,
                    const fr *leaf) {
    fr node = *leaf;
    for (unsigned level = 0; level < path->n_elements; level++) {
        const struct path_element *e = &path->elements[level];
        const unsigned arity = c1_slot_arity(layout, slot, level);
        fr in[PATH_MAX_SIBLINGS + 1];
        for (unsigned i = 0; i < arity; i++)
            in[i] = i < e->index ? e->siblings[i] : i == e->index ? node : e->siblings[i - 1];
        if (slot == PATH_COMM_D)
            hash_pair(&node, in);
        else
            poseidon_hash(&node, in, arity);
    }
    return node;
}

static const fr *wanted_root(const struct check *check, unsigned slot) {
    if (slot == PATH_COMM_D) return &check->comm_d;
    return slot == PATH_COMM_R_LAST ? &check->comm_r_last : &check->comm_c;
}

/*
 * A path against the root that it must have. `leaf` is what the leaf ought to be, as the rest of
 * the challenge has it; it only tells, when the path fails, whether the leaf is to blame.
 */
static cuzk_status check_path(const struct subject *s, unsigned slot, const fr *leaf) {
    const struct merkle_path *path = c1_path(s->challenge, slot);
    const fr *wanted = wanted_root(s->check, slot);
    const fr root = path_root(s->layout, path, slot, &path->leaf);
    const bool claimed = fr_equal(&path->root, wanted);
    const struct name name = slot_name(slot);
    const char *form = form_name(s, slot);
    if (fr_equal(&root, wanted)) {
        if (claimed) return CUZK_OK;
        return bad(s, CUZK_MERKLE_ROOT, "the path leads to the tree's root, but another is claimed",
                   "%s.data.%s.root", name.text, form);
    }
    if (fr_equal(&root, &path->root))
        return bad(s, CUZK_MERKLE_ROOT, "the path leads to a root that is not the sector's",
                   "%s.data.%s.root", name.text, form);
    const fr other = path_root(s->layout, path, slot, leaf);
    if (fr_equal(&other, wanted))
        return bad(s, slot < PATH_COLUMNS ? CUZK_ENCODING : CUZK_COLUMN,
                   slot < PATH_COLUMNS ? "the leaf is not the one that label and encoding give"
                                       : "the leaf is not the column's hash",
                   "%s.data.%s.leaf", name.text, form);
    return bad(s, CUZK_MERKLE_PATH, "leaf and siblings do not lead to the root", "%s", name.text);
}

static cuzk_status check_columns(const struct subject *s) {
    const unsigned n_layers = s->layout->shape->n_layers;
    for (unsigned c = 0; c < C1_COLUMNS; c++) {
        const struct porep_column *column = c1_column(s->challenge, c);
        fr hash;
        poseidon_hash(&hash, column->rows, n_layers);
        CUZK_TRY(check_path(s, PATH_COLUMNS + c, &hash));
        if (!fr_equal(&hash, &column->path.leaf))
            return bad(s, CUZK_COLUMN, "the column's hash is not the leaf of its path",
                       "%s.column.rows", column_name(c).text);
    }
    return CUZK_OK;
}

static cuzk_status check_paths(const struct subject *s) {
    const fr *key = &s->challenge->c_x.rows[s->layout->shape->n_layers - 1];
    fr data, encoded;
    fr_sub(&data, &s->challenge->comm_r_last.leaf, key);
    fr_add(&encoded, &s->challenge->comm_d.leaf, key);
    CUZK_TRY(check_path(s, PATH_COMM_D, &data));
    CUZK_TRY(check_path(s, PATH_COMM_R_LAST, &encoded));
    return check_columns(s);
}

/* ---- labels, encoding ---- */

/* SHA-256 of replica id, layer, node, zeros to the block's end, and the parents; trimmed. */
static void label_compute(fr *out, const struct subject *s, unsigned layer) {
    uint8_t preimage[64 + 32 * C1_LABEL_PARENTS], digest[SHA256_BYTES];
    memset(preimage, 0, 64);
    memcpy(preimage, s->check->c1->values.replica_id, 32);
    preimage[35] = (uint8_t)layer;
    for (unsigned i = 0; i < 8; i++)
        preimage[36 + i] = (uint8_t)(s->challenge->node >> (56 - 8 * i));
    const unsigned distinct =
        layer == 1 ? POREP_DRG_PARENTS : POREP_DRG_PARENTS + POREP_EXP_PARENTS;
    for (unsigned i = 0; i < C1_LABEL_PARENTS; i++) {
        uint8_t *at = preimage + 64 + 32 * i;
        if (i < distinct)
            fr_to_bytes(at, c1_label_parent(s->challenge, layer, i));
        else
            memcpy(at, at - 32 * distinct, 32);
    }
    sha256(digest, preimage, sizeof preimage);
    fr_from_bytes_trimmed(out, digest);
}

static cuzk_status check_labels(const struct subject *s) {
    const struct porep_column *column = &s->challenge->c_x;
    const unsigned n_layers = s->layout->shape->n_layers;
    for (unsigned layer = 1; layer <= n_layers; layer++) {
        fr label;
        label_compute(&label, s, layer);
        if (!fr_equal(&label, &column->rows[layer - 1]))
            return bad(s, CUZK_LABEL, "the label does not follow from its parents",
                       "replica_column_proofs.c_x.column.rows[%u]", layer - 1);
    }
    fr encoded;
    fr_add(&encoded, &s->challenge->comm_d.leaf, &column->rows[n_layers - 1]);
    if (!fr_equal(&encoded, &s->challenge->comm_r_last.leaf))
        return bad(s, CUZK_ENCODING, "the encoded node is not data plus last label",
                   "comm_r_last_proof.data.%s.leaf", form_name(s, PATH_COMM_R_LAST));
    return CUZK_OK;
}

static struct name labeling_name(const struct subject *s, unsigned labeling) {
    struct name n;
    if (labeling < s->layout->shape->n_layers)
        snprintf(n.text, sizeof n.text, "labeling_proofs[%u]", labeling);
    else
        snprintf(n.text, sizeof n.text, "encoding_proof");
    return n;
}

static cuzk_status check_copies(const struct subject *s) {
    const struct c1_copies *copies = s->copies;
    if (copies->has_bad_node != 0)
        return bad(s, CUZK_CHALLENGE, "the node is not the challenged one", "%s.node",
                   labeling_name(s, copies->bad_node).text);
    if (copies->has_bad_parent != 0) {
        const bool encoding = copies->bad_parent_of == s->layout->shape->n_layers;
        return bad(s, encoding ? CUZK_ENCODING : CUZK_LABEL,
                   "the value is not the parent's label in its column", "%s.parents[%u]",
                   labeling_name(s, copies->bad_parent_of).text, copies->bad_parent);
    }
    return CUZK_OK;
}

/* ---- all challenges ---- */

static void subject_init(struct subject *s, const struct check *check, size_t task,
                         struct cuzk_error *err) {
    const struct c1 *c1 = check->c1;
    const unsigned n = c1->layout.shape->n_challenges;
    *s = (struct subject){.check = check, .layout = &c1->layout, .err = err};
    s->k = (unsigned)(task / n);
    s->j = (unsigned)(task % n);
    s->challenge = c1_challenge(&c1->parts[s->k], s->j);
    s->copies = &c1->parts[s->k].copies[s->j];
    const struct challenge_seed from = {
        .replica_id = c1->values.replica_id, .comm_r = c1->values.comm_r, .seed = c1->values.seed};
    uint64_t challenges[C1_MAX_CHALLENGES];
    uint32_t drg[POREP_DRG_PARENTS], exp[POREP_EXP_PARENTS];
    challenges_derive(c1->seal, &from, s->k, challenges);
    const uint64_t node = challenges[s->j];
    graph_drg_parents(&check->graph, node, drg);
    graph_exp_parents(&check->graph, node, exp);
    s->nodes[PATH_COMM_D] = s->nodes[PATH_COMM_R_LAST] = s->nodes[PATH_COLUMNS] = node;
    for (unsigned i = 0; i < POREP_DRG_PARENTS; i++)
        s->nodes[PATH_COLUMNS + 1 + i] = drg[i];
    for (unsigned i = 0; i < POREP_EXP_PARENTS; i++)
        s->nodes[PATH_COLUMNS + 1 + POREP_DRG_PARENTS + i] = exp[i];
}

static cuzk_status check_challenge(const struct check *check, size_t task, struct cuzk_error *err) {
    struct subject s;
    subject_init(&s, check, task, err);
    CUZK_TRY(check_nodes(&s));
    CUZK_TRY(check_paths(&s));
    CUZK_TRY(check_labels(&s));
    return check_copies(&s);
}

static void check_task(void *ctx, size_t task, unsigned worker) {
    struct check *check = ctx;
    struct finding *finding = &check->findings[worker];
    task += check->first_task;
    if (finding->found || task > atomic_load(&check->lowest)) return;
    if (check_challenge(check, task, &finding->error) == CUZK_OK) return;
    finding->found = true;
    finding->task = task;
    size_t lowest = atomic_load(&check->lowest);
    while (task < lowest && !atomic_compare_exchange_weak(&check->lowest, &lowest, task)) {
    }
}

static cuzk_status report(const struct check *check, unsigned n_workers, struct cuzk_error *err) {
    const size_t lowest = atomic_load(&check->lowest);
    for (unsigned w = 0; w < n_workers; w++) {
        const struct finding *f = &check->findings[w];
        if (!f->found || f->task != lowest) continue;
        if (err != NULL) *err = f->error;
        return f->error.code;
    }
    return CUZK_OK;
}

/* Rounds of some challenges each, so that progress shows and a cancellation is heard. */
static cuzk_status check_challenges(struct check *check, struct pool *pool,
                                    const struct progress *progress, struct cuzk_error *err) {
    const size_t round = 16 * (size_t)pool_threads(pool);
    const size_t n = (size_t)check->c1->n_parts * check->c1->layout.shape->n_challenges;
    for (size_t at = 0; at < n; at += round) {
        if (progress_cancelled(progress))
            return error_set(err, CUZK_CANCELLED, "C1", NULL, "the check was cancelled");
        check->first_task = at;
        pool_run(pool, n - at < round ? n - at : round, check_task, check);
        CUZK_TRY(report(check, pool_threads(pool), err));
        progress_report(progress, "vanilla proofs", n - at < round ? n : at + round, n);
    }
    return CUZK_OK;
}

/* ---- the sector ---- */

bool c1_replica_id_checkable(const struct c1 *c1, const struct c1_claims *claims) {
    return claims != NULL && claims->has_miner && (claims->has_sector || c1->has_number);
}

cuzk_status c1_check_replica_id(const struct c1 *c1, const struct c1_claims *claims,
                                struct cuzk_error *err) {
    if (claims != NULL && claims->has_sector && c1->has_number && claims->sector != c1->number)
        return error_set(err, CUZK_REPLICA_ID, "SectorNum", c1_hint(CUZK_REPLICA_ID),
                         "the file is of sector %" PRIu64 ", not %" PRIu64 " (byte %" PRIu64
                         " of the file)",
                         c1->number, claims->sector, c1->number_at.file);
    if (!c1_replica_id_checkable(c1, claims)) return CUZK_OK;
    uint8_t porep_id[32], wanted[32];
    char what[200];
    const uint64_t sector = claims->has_sector ? claims->sector : c1->number;
    registered_seal_porep_id(porep_id, c1->seal);
    replica_id_compute(wanted, claims->miner, sector, c1->values.ticket, c1->values.comm_d,
                       porep_id);
    if (memcmp(wanted, c1->values.replica_id, 32) == 0) return CUZK_OK;
    snprintf(what, sizeof what,
             "it does not follow from miner %" PRIu64 ", sector %" PRIu64 ", ticket, comm_d and %s",
             claims->miner, sector, c1->seal->name);
    return bad_value(c1, CUZK_REPLICA_ID, "replica_id", &c1->replica_id_at, what, err);
}

/*
 * comm_r binds the roots of trees C and R-last. The file has those roots only as what paths claim;
 * where the first challenge's claims do not give comm_r, what its paths lead to is tried as well,
 * so that a damaged claim is not taken for a damaged comm_r.
 */
static cuzk_status find_roots(struct check *check, struct cuzk_error *err) {
    const struct c1 *c1 = check->c1;
    const struct c1_layout *layout = &c1->layout;
    const struct porep_partition *view = &c1->parts[0].view;
    const struct porep_challenge *first = &view->challenges[0];
    const struct merkle_path *c = &first->c_x.path, *r = &first->comm_r_last;
    const fr roots_c[2] = {c->root, path_root(layout, c, PATH_COLUMNS, &c->leaf)};
    const fr roots_r[2] = {r->root, path_root(layout, r, PATH_COMM_R_LAST, &r->leaf)};
    for (unsigned i = 0; i < 4; i++) {
        const fr pair[2] = {roots_c[i & 1], roots_r[i >> 1]};
        fr comm_r;
        poseidon_hash(&comm_r, pair, 2);
        if (!fr_equal(&comm_r, &view->comm_r)) continue;
        check->comm_c = pair[0];
        check->comm_r_last = pair[1];
        return CUZK_OK;
    }
    return bad_value(c1, CUZK_COMM_R, "comm_r", &c1->comm_r_at,
                     "it is not the hash of the roots of the column tree and the replica tree",
                     err);
}

/* A root that the first challenge reaches and claims, and that is not comm_d: then comm_d is wrong.
 */
static cuzk_status check_comm_d(struct check *check, struct cuzk_error *err) {
    const struct c1 *c1 = check->c1;
    const struct porep_partition *view = &c1->parts[0].view;
    const struct merkle_path *d = &view->challenges[0].comm_d;
    check->comm_d = view->comm_d;
    const fr root = path_root(&c1->layout, d, PATH_COMM_D, &d->leaf);
    if (!fr_equal(&root, &d->root) || fr_equal(&root, &view->comm_d)) return CUZK_OK;
    return bad_value(c1, CUZK_COMM_D, "comm_d", &c1->comm_d_at,
                     "the data's paths lead to another root", err);
}

cuzk_status c1_check(const struct c1 *c1, const struct c1_claims *claims, struct pool *pool,
                     const struct progress *progress, struct cuzk_error *err) {
    struct check check = {.c1 = c1};
    atomic_init(&check.lowest, SIZE_MAX);
    CUZK_TRY(c1_check_replica_id(c1, claims, err));
    CUZK_TRY(find_roots(&check, err));
    CUZK_TRY(check_comm_d(&check, err));
    graph_init_registered(&check.graph, c1->seal);
    check.findings = calloc(pool_threads(pool), sizeof *check.findings);
    if (check.findings == NULL)
        return error_set(err, CUZK_NO_MEMORY, "C1", NULL, "no memory for the check");
    const cuzk_status status = check_challenges(&check, pool, progress, err);
    free(check.findings);
    return status;
}
