/*
 * Proves the same sector with cuzk and with the reference program, one after the other on the same
 * parameters, and prints wall time, memory and our stages side by side.
 *
 *   bench_oracle CUZK REFERENCE C1-FILE PARAMS-FILE [ROUNDS]
 *
 * Reading the parameters is counted for neither. Blinding factors are fixed, so that both proofs
 * must be the same 192 bytes: a fast wrong proof is no result. Peak memory is the kernel's figure
 * for the finished process.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct child_run {
    char output[16384]; /* stdout and stderr together */
    double peak_mb;
    int exit_code;
};

static void run_child(struct child_run *out, const char *const argv[]) {
    int ends[2];
    if (pipe(ends) != 0) abort();
    const pid_t pid = fork();
    if (pid < 0) abort();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        execv(argv[0], (char *const *)argv); /* which execv does not change */
        _exit(127);
    }
    close(ends[1]);
    size_t n = 0;
    for (ssize_t got; (got = read(ends[0], out->output + n, sizeof out->output - 1 - n)) > 0;)
        n += (size_t)got;
    out->output[n] = '\0';
    close(ends[0]);
    int status = 0;
    struct rusage usage;
    if (wait4(pid, &status, 0, &usage) != pid) abort();
    out->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    out->peak_mb = (double)usage.ru_maxrss * 1024 / 1e6;
}

/* The number behind `key` in a program's output; -1 when it is not there. */
static double number_after(const char *output, const char *key) {
    const char *at = strstr(output, key);
    return at == NULL ? -1 : strtod(at + strlen(key), NULL);
}

static bool same_file(const char *a, const char *b) {
    char x[256], y[256];
    FILE *f = fopen(a, "rb"), *g = fopen(b, "rb");
    const bool opened = f != NULL && g != NULL;
    const size_t n = opened ? fread(x, 1, sizeof x, f) : 0;
    const size_t m = opened ? fread(y, 1, sizeof y, g) : 0;
    if (f != NULL) fclose(f);
    if (g != NULL) fclose(g);
    return n == 192 && n == m && memcmp(x, y, n) == 0;
}

static const struct {
    const char *key, *name;
} stages[] = {
    {"\"witness_seconds\": ", "witness"},   {"\"evaluate_seconds\": ", "a, b, c"},
    {"\"ntt_seconds\": ", "transforms, h"}, {"\"msm_h_seconds\": ", "MSM h"},
    {"\"msm_l_seconds\": ", "MSM l"},       {"\"msm_a_seconds\": ", "MSM a"},
    {"\"msm_b_g1_seconds\": ", "MSM b_g1"}, {"\"msm_b_g2_seconds\": ", "MSM b_g2"},
    {"\"verify_seconds\": ", "verify"},
};

static int run_round(const char *cuzk, const char *reference, const char *c1, const char *params) {
    char ours_path[] = "/tmp/cuzk-bench-ours-XXXXXX";
    char theirs_path[] = "/tmp/cuzk-bench-theirs-XXXXXX";
    close(mkstemp(ours_path));
    close(mkstemp(theirs_path));
    static struct child_run ours, theirs;
    run_child(&ours, (const char *const[]){cuzk, "prove", "--json", "--quiet", "--c1", c1,
                                           "--partition", "0", "--params-dir", params, "--out",
                                           ours_path, "--r", "7", "--s", "11", NULL});
    run_child(&theirs,
              (const char *const[]){reference, "prove", "--c1", c1, "--partition", "0", "--params",
                                    params, "--out", theirs_path, "--r", "7", "--s", "11", NULL});
    const bool same = same_file(ours_path, theirs_path);
    unlink(ours_path);
    unlink(theirs_path);
    const double our_seconds = number_after(ours.output, "\"prove_seconds\": ");
    const double their_seconds = number_after(theirs.output, "proved in ");
    if (ours.exit_code != 0 || theirs.exit_code != 0 || our_seconds <= 0 || their_seconds <= 0) {
        fprintf(stderr, "a prover failed (%d, %d)\n%s\n%s\n", ours.exit_code, theirs.exit_code,
                ours.output, theirs.output);
        return 1;
    }
    printf("%-16s %10s %10s %8s\n", "", "cuzk", "reference", "ratio");
    printf("%-16s %8.2f s %8.2f s %7.2fx\n", "prove", our_seconds, their_seconds,
           their_seconds / our_seconds);
    printf("%-16s %7.0f MB %7.0f MB %7.2fx\n", "peak memory", ours.peak_mb, theirs.peak_mb,
           theirs.peak_mb / ours.peak_mb);
    printf("%-16s %8.2f s %8.2f s\n", "(load)", number_after(ours.output, "\"load_seconds\": "),
           number_after(theirs.output, "params read in "));
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++)
        printf("  %-14s %8.3f s\n", stages[i].name, number_after(ours.output, stages[i].key));
    printf("proofs equal: %s\n\n", same ? "yes" : "NO");
    return same ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc < 5 || argc > 6) {
        fprintf(stderr, "usage: bench_oracle CUZK REFERENCE C1-FILE PARAMS-FILE [ROUNDS]\n");
        return 2;
    }
    const int rounds = argc == 6 ? atoi(argv[5]) : 1;
    for (int i = 0; i < rounds; i++) {
        printf("round %d of %d, %ld processors\n", i + 1, rounds, sysconf(_SC_NPROCESSORS_ONLN));
        if (run_round(argv[1], argv[2], argv[3], argv[4]) != 0) return 1;
    }
    return 0;
}
