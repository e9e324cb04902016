/*
 * Witness generation on one core: aux values a second.
 *
 *     bench_witness [SIZE [REPEATS]]      default: 2KiB and 32GiB, 5 times each
 *
 * The inputs are made up (no path leads to its root), which changes nothing in the work. Memory is
 * taken anew each time, as a prover would: the time to map it is part of the figure. It is the
 * time of the processor, so that other load on the machine disturbs it less.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "clock.h"
#include "porep.h"

struct synthetic {
    struct porep_partition partition;
    struct porep_challenge *challenges;
    struct path_element *elements;
    size_t n_elements;
};

static void make_path(struct merkle_path *path, const struct tree_shape *tree, uint64_t n_nodes,
                      const struct path_element *elements) {
    path->n_elements = tree_path_levels(tree, n_nodes);
    path->elements = elements;
    path->leaf = elements[0].siblings[0];
}

static void make_column(struct porep_column *column, const struct porep_shape *shape,
                        const struct path_element *elements) {
    for (unsigned i = 0; i < shape->n_layers; i++)
        column->rows[i] = elements[i].siblings[1];
    make_path(&column->path, &shape->tree, shape->n_nodes, elements);
}

/* Every path is a view of the same random elements, from a different place on. */
static bool make_partition(struct synthetic *s, const struct porep_shape *shape) {
    static const uint8_t seed[32] = "bench_witness";
    static const struct tree_shape binary = {.base_arity = 2};
    enum { PATHS = 17, MAX_LEVELS = 64 };
    s->n_elements = PATHS + MAX_LEVELS;
    s->elements = calloc(s->n_elements, sizeof s->elements[0]);
    s->challenges = calloc(shape->n_challenges, sizeof s->challenges[0]);
    if (s->elements == NULL || s->challenges == NULL) return false;
    for (size_t i = 0; i < s->n_elements; i++) {
        s->elements[i].index = (uint32_t)(i * 5 % 8);
        for (unsigned k = 0; k < PATH_MAX_SIBLINGS; k++) {
            fr_from_seed(&s->elements[i].siblings[k], seed, i * PATH_MAX_SIBLINGS + k);
        }
    }
    for (unsigned i = 0; i < shape->n_challenges; i++) {
        struct porep_challenge *const c = &s->challenges[i];
        c->node = (UINT64_C(0x9e3779b97f4a7c15) * (i + 1)) % shape->n_nodes;
        make_path(&c->comm_d, &binary, shape->n_nodes, s->elements);
        make_path(&c->comm_r_last, &shape->tree, shape->n_nodes, s->elements + 1);
        make_column(&c->c_x, shape, s->elements + 2);
        for (int k = 0; k < POREP_DRG_PARENTS; k++)
            make_column(&c->drg[k], shape, s->elements + 3 + k);
        for (int k = 0; k < POREP_EXP_PARENTS; k++)
            make_column(&c->exp[k], shape, s->elements + 9 + k);
    }
    s->partition = (struct porep_partition){.replica_id = s->elements[0].siblings[2],
                                            .comm_d = s->elements[0].siblings[3],
                                            .comm_r = s->elements[0].siblings[4],
                                            .comm_c = s->elements[0].siblings[5],
                                            .comm_r_last = s->elements[0].siblings[6],
                                            .challenges = s->challenges,
                                            .n_challenges = shape->n_challenges};
    return true;
}

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static cuzk_status bench(const struct porep_shape *shape, int repeats, struct cuzk_error *err) {
    struct synthetic s = {0};
    struct r1cs *r;
    struct r1cs_stats stats;
    if (!make_partition(&s, shape))
        return error_set(err, CUZK_NO_MEMORY, "bench", NULL, "no memory for the input");
    const uint64_t start = clock_ns();
    CUZK_TRY(porep_record(shape, &r, err));
    const double record_seconds = clock_seconds_since(start);
    CUZK_TRY(r1cs_get_stats(r, &stats, NULL, err));
    double best = 0;
    for (int i = 0; i < repeats; i++) {
        struct witness w;
        const double begin = cpu_seconds();
        CUZK_TRY(porep_witness(shape, r, &s.partition, &w, NULL, err));
        const double seconds = cpu_seconds() - begin;
        if (i == 0 || seconds < best) best = seconds;
        witness_destroy(&w);
    }
    printf("%-7s %11u aux %9u elements  record %6.3f s %8zu B  witness %7.4f s  %6.0f M aux/s\n",
           shape->size_name, stats.n_aux, stats.n_elements, record_seconds, stats.bytes, best,
           stats.n_aux / best * 1e-6);
    r1cs_destroy(r);
    free(s.elements);
    free(s.challenges);
    return CUZK_OK;
}

int main(int argc, char **argv) {
    static const char *const defaults[] = {"2KiB", "32GiB"};
    const char *const *sizes = argc > 1 ? (const char *const *)&argv[1] : defaults;
    const int n_sizes = argc > 1 ? 1 : 2, repeats = argc > 2 ? atoi(argv[2]) : 5;
    for (int i = 0; i < n_sizes; i++) {
        const struct porep_shape *const shape = porep_shape_by_name(sizes[i]);
        struct cuzk_error err;
        if (shape == NULL) {
            fprintf(stderr, "%s: no such sector size\n", sizes[i]);
            return 2;
        }
        if (bench(shape, repeats, &err) != CUZK_OK) {
            fprintf(stderr, "%s: %s\n", sizes[i], err.what);
            return 1;
        }
    }
    return 0;
}
