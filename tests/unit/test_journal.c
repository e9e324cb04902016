#include "unit/test_main.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "journal.h"

struct folder {
    char root[64];
    char dir[96]; /* of the journal; not there yet */
};

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw) {
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static int setup(void **state) {
    struct folder *f = calloc(1, sizeof *f);
    if (f == NULL) return -1;
    snprintf(f->root, sizeof f->root, "/tmp/cuzk-journal-XXXXXX");
    if (mkdtemp(f->root) == NULL) return -1;
    snprintf(f->dir, sizeof f->dir, "%s/state", f->root);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct folder *f = *state;
    const int code = nftw(f->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(f);
    return code;
}

static struct journal *open_journal(const struct folder *f) {
    struct journal *j;
    struct cuzk_error err = {0};
    const cuzk_status s = journal_open(&j, f->dir, &err);
    if (s != CUZK_OK) print_message("%s: %s\n", err.where, err.what);
    assert_int_equal(s, CUZK_OK);
    return j;
}

/* ---- jobs that follow from their number ---- */

enum { N_PARTITIONS = 3 };

static void make_job(struct journal_job *job, char request[32], unsigned i) {
    snprintf(request, 32, "request-%u", i);
    *job = (struct journal_job){.request_id = request,
                                .proof_kind = 1,
                                .priority = 1 + i % 4,
                                .miner_id = UINT64_MAX - i, /* above what SQLite's integers hold */
                                .has_miner = i % 2 == 0,
                                .sector_number = i * 7,
                                .n_partitions = N_PARTITIONS,
                                .submitted_unix_ms = 1700000000000 + i};
    snprintf(job->job_id, sizeof job->job_id, "job-%u", i);
    memset(job->payload_digest, (int)(i % 251), sizeof job->payload_digest);
}

static size_t payload_bytes(unsigned i) {
    return 1 + (i * 7919u) % 20000;
}

static void make_payload(uint8_t *out, unsigned i) {
    for (size_t k = 0; k < payload_bytes(i); k++)
        out[k] = (uint8_t)(i + k * 31);
}

static void make_proof(uint8_t out[JOURNAL_PROOF_BYTES], unsigned i, unsigned partition) {
    for (unsigned k = 0; k < JOURNAL_PROOF_BYTES; k++)
        out[k] = (uint8_t)(1 + i * 3 + partition * 5 + k);
}

static cuzk_status accept_job(struct journal *j, unsigned i, struct cuzk_error *err) {
    static uint8_t payload[32768];
    struct journal_job job;
    char request[32];
    make_job(&job, request, i);
    make_payload(payload, i);
    return journal_accept(j, &job, payload, payload_bytes(i), err);
}

static cuzk_status record_partition(struct journal *j, unsigned i, unsigned partition,
                                    struct cuzk_error *err) {
    uint8_t proof[JOURNAL_PROOF_BYTES];
    char id[JOURNAL_ID_BYTES];
    snprintf(id, sizeof id, "job-%u", i);
    make_proof(proof, i, partition);
    return journal_partition(j, id, partition, proof, err);
}

static cuzk_status record_outcome(struct journal *j, unsigned i, enum journal_state state,
                                  struct cuzk_error *err) {
    char id[JOURNAL_ID_BYTES];
    snprintf(id, sizeof id, "job-%u", i);
    return journal_outcome(j, id, state, "the device burned", err);
}

static cuzk_status forget_job(struct journal *j, unsigned i, struct cuzk_error *err) {
    char id[JOURNAL_ID_BYTES];
    snprintf(id, sizeof id, "job-%u", i);
    return journal_forget(j, id, err);
}

/* ---- what a replay says ---- */

enum { MOST_JOBS = 4096 };

struct seen {
    unsigned n, number[MOST_JOBS];
    enum journal_state state[MOST_JOBS];
    unsigned done[MOST_JOBS]; /* bits */
};

static void check_payload(const char *path, unsigned i) {
    static uint8_t expected[32768], found[32768];
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fread(found, 1, sizeof found, f), payload_bytes(i));
    fclose(f);
    make_payload(expected, i);
    assert_memory_equal(found, expected, payload_bytes(i));
}

static cuzk_status note(void *ctx, const struct journal_entry *e, struct cuzk_error *err) {
    struct seen *seen = ctx;
    struct journal_job job;
    char request[32];
    uint8_t proof[JOURNAL_PROOF_BYTES];
    const unsigned i = (unsigned)strtoul(e->job.job_id + 4, NULL, 10);
    (void)err;
    make_job(&job, request, i);
    assert_string_equal(e->job.job_id, job.job_id);
    assert_string_equal(e->job.request_id, request);
    assert_memory_equal(e->job.payload_digest, job.payload_digest, JOURNAL_DIGEST_BYTES);
    assert_int_equal(e->job.priority, job.priority);
    assert_int_equal(e->job.proof_kind, job.proof_kind);
    assert_true(e->job.miner_id == job.miner_id);
    assert_int_equal(e->job.has_miner, job.has_miner);
    assert_int_equal(e->job.sector_number, job.sector_number);
    assert_int_equal(e->job.n_partitions, N_PARTITIONS);
    assert_int_equal(e->job.submitted_unix_ms, job.submitted_unix_ms);
    unsigned done = 0;
    for (unsigned k = 0; k < N_PARTITIONS; k++) {
        make_proof(proof, i, k);
        if (!e->done[k]) memset(proof, 0, sizeof proof);
        assert_memory_equal(e->proofs + (size_t)k * JOURNAL_PROOF_BYTES, proof, sizeof proof);
        done |= (unsigned)e->done[k] << k;
    }
    if (e->state == JOURNAL_OPEN)
        check_payload(e->payload_path, i);
    else
        assert_null(e->payload_path);
    if (e->state == JOURNAL_FAILED)
        assert_string_equal(e->message, "the device burned");
    else
        assert_null(e->message);
    assert_true(seen->n < MOST_JOBS);
    seen->number[seen->n] = i;
    seen->state[seen->n] = e->state;
    seen->done[seen->n++] = done;
    return CUZK_OK;
}

static struct seen *replay(struct journal *j) {
    static struct seen seen;
    struct cuzk_error err = {0};
    seen.n = 0;
    const cuzk_status s = journal_replay(j, note, &seen, &err);
    if (s != CUZK_OK) print_message("%s\n", err.what);
    assert_int_equal(s, CUZK_OK);
    return &seen;
}

static unsigned payload_files(const struct folder *f) {
    char path[128];
    snprintf(path, sizeof path, "%s/payload", f->dir);
    DIR *d = opendir(path);
    assert_non_null(d);
    unsigned n = 0;
    for (const struct dirent *e; (e = readdir(d)) != NULL;)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

/* ---- tests ---- */

static void what_is_recorded_is_found_again(void **state) {
    const struct folder *f = *state;
    struct journal *j = open_journal(f);
    assert_int_equal(replay(j)->n, 0);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(accept_job(j, 4 - i, NULL), CUZK_OK); /* not in the order of their names */
    assert_int_equal(record_partition(j, 0, 2, NULL), CUZK_OK);
    assert_int_equal(record_partition(j, 0, 0, NULL), CUZK_OK);
    assert_int_equal(record_partition(j, 0, 0, NULL), CUZK_OK); /* once more is the same */
    for (unsigned k = 0; k < N_PARTITIONS; k++)
        assert_int_equal(record_partition(j, 1, k, NULL), CUZK_OK);
    assert_int_equal(record_outcome(j, 1, JOURNAL_COMPLETED, NULL), CUZK_OK);
    assert_int_equal(record_outcome(j, 2, JOURNAL_FAILED, NULL), CUZK_OK);
    assert_int_equal(record_outcome(j, 3, JOURNAL_CANCELLED, NULL), CUZK_OK);
    assert_int_equal(forget_job(j, 3, NULL), CUZK_OK);
    for (int round = 0; round < 2; round++) {
        const struct seen *seen = replay(j);
        assert_int_equal(seen->n, 4);
        const unsigned order[] = {4, 2, 1, 0}, done[] = {0, 0, 7, 5};
        const enum journal_state states[] = {JOURNAL_OPEN, JOURNAL_FAILED, JOURNAL_COMPLETED,
                                             JOURNAL_OPEN};
        for (unsigned i = 0; i < 4; i++) {
            assert_int_equal(seen->number[i], order[i]);
            assert_int_equal(seen->done[i], done[i]);
            assert_int_equal(seen->state[i], states[i]);
        }
        assert_int_equal(payload_files(f), 2);
        journal_close(j);
        j = open_journal(f);
    }
    struct stat st;
    assert_int_equal(stat(f->dir, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    journal_close(j);
}

static void what_is_not_there_cannot_be_changed(void **state) {
    struct journal *j = open_journal(*state);
    struct journal_job job;
    char request[32];
    assert_int_equal(record_partition(j, 0, 0, NULL), CUZK_JOB_UNKNOWN);
    assert_int_equal(record_outcome(j, 0, JOURNAL_FAILED, NULL), CUZK_JOB_UNKNOWN);
    assert_int_equal(forget_job(j, 0, NULL), CUZK_JOB_UNKNOWN);
    assert_int_equal(accept_job(j, 0, NULL), CUZK_OK);
    assert_int_equal(record_partition(j, 0, N_PARTITIONS, NULL), CUZK_JOB_UNKNOWN);
    /* A second job of the same id must not touch the first one's payload. */
    make_job(&job, request, 0);
    assert_int_equal(journal_accept(j, &job, "x", 1, NULL), CUZK_INTERNAL);
    snprintf(job.job_id, sizeof job.job_id, "../../job");
    assert_int_equal(journal_accept(j, &job, "x", 1, NULL), CUZK_INTERNAL);
    assert_int_equal(replay(j)->n, 1);
    journal_close(j);
}

static cuzk_status refuse_second(void *ctx, const struct journal_entry *e, struct cuzk_error *err) {
    struct journal *j = ctx;
    const unsigned i = (unsigned)strtoul(e->job.job_id + 4, NULL, 10);
    CUZK_TRY(record_outcome(j, i, JOURNAL_FAILED, err)); /* the journal may be used from here */
    return i == 1 ? CUZK_INTERNAL : CUZK_OK;
}

static void a_replay_ends_where_its_function_fails(void **state) {
    struct journal *j = open_journal(*state);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(accept_job(j, i, NULL), CUZK_OK);
    assert_int_equal(journal_replay(j, refuse_second, j, NULL), CUZK_INTERNAL);
    const struct seen *seen = replay(j);
    assert_int_equal(seen->state[1], JOURNAL_FAILED);
    assert_int_equal(seen->state[2], JOURNAL_OPEN);
    journal_close(j);
}

static void one_daemon_has_the_folder(void **state) {
    const struct folder *f = *state;
    struct journal *j = open_journal(f), *second;
    struct cuzk_error err = {0};
    assert_int_equal(journal_open(&second, f->dir, &err), CUZK_STATE);
    assert_null(second);
    assert_non_null(strstr(err.what, "another daemon"));
    assert_int_equal(accept_job(j, 1, NULL), CUZK_OK); /* the first is not disturbed */
    journal_close(j);
    j = open_journal(f);
    assert_int_equal(replay(j)->n, 1);
    journal_close(j);
}

static void leftovers_are_swept_at_the_next_opening(void **state) {
    const struct folder *f = *state;
    struct journal *j = open_journal(f);
    char path[192];
    assert_int_equal(accept_job(j, 1, NULL), CUZK_OK);
    journal_close(j);
    const char *const names[] = {"job-77", "job-1.part", "strange"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/payload/%s", f->dir, names[i]);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fclose(file);
    }
    assert_int_equal(payload_files(f), 4);
    j = open_journal(f);
    assert_int_equal(payload_files(f), 1);
    assert_int_equal(replay(j)->n, 1);
    journal_close(j);
}

/* ---- kill -9 ---- */

/* The calls in their fixed order: five for a job; every fifth job is forgotten at its end. */
enum { CALLS_A_JOB = 5 };

static bool is_forgotten(unsigned i) {
    return i % 5 == 4;
}

static cuzk_status make_call(struct journal *j, unsigned call) {
    const unsigned i = call / CALLS_A_JOB, step = call % CALLS_A_JOB;
    if (step == 0) return accept_job(j, i, NULL);
    if (step < 1 + N_PARTITIONS) return record_partition(j, i, step - 1, NULL);
    return is_forgotten(i) ? forget_job(j, i, NULL)
                           : record_outcome(j, i, (enum journal_state)(1 + i % 3), NULL);
}

/* Is this what there is after exactly n calls? */
static bool is_state_after(const struct seen *seen, unsigned n) {
    unsigned at = 0;
    for (unsigned i = 0; i * CALLS_A_JOB < n; i++) {
        const unsigned calls = n - i * CALLS_A_JOB;
        const bool over = calls >= CALLS_A_JOB;
        if (over && is_forgotten(i)) continue;
        const unsigned done = (1u << ((over ? CALLS_A_JOB - 1 : calls) - 1)) - 1;
        const enum journal_state state = over ? (enum journal_state)(1 + i % 3) : JOURNAL_OPEN;
        if (at == seen->n || seen->number[at] != i || seen->done[at] != done ||
            seen->state[at] != state)
            return false;
        at++;
    }
    return at == seen->n;
}

static void child(const struct folder *f, unsigned first_call, int ack) {
    struct journal *j;
    if (journal_open(&j, f->dir, NULL) != CUZK_OK) _exit(3);
    for (unsigned call = first_call; call < CALLS_A_JOB * 2000; call++) {
        if (make_call(j, call) != CUZK_OK) _exit(4);
        if (write(ack, &call, sizeof call) != sizeof call) _exit(5);
    }
    _exit(0);
}

/* Reads acknowledgements, which must come in order, until `most` of them or the pipe's end. */
static unsigned read_acks(int ack, unsigned first_call, unsigned most) {
    unsigned n = 0, number;
    while (n < most && read(ack, &number, sizeof number) == sizeof number) {
        assert_int_equal(number, first_call + n);
        n++;
    }
    return n;
}

/* Runs a child from `call` on, kills it some time after its `acks`th acknowledgement, and returns
 * how many calls it acknowledged. */
static unsigned run_and_kill(const struct folder *f, unsigned call, unsigned acks,
                             unsigned microseconds) {
    int ack[2], status;
    assert_int_equal(pipe2(ack, O_CLOEXEC), 0);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) child(f, call, ack[1]);
    close(ack[1]);
    unsigned n = read_acks(ack[0], call, acks);
    const struct timespec pause = {.tv_nsec = (long)microseconds * 1000};
    nanosleep(&pause, NULL);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status)); /* it met no error of its own */
    n += read_acks(ack[0], call + n, UINT32_MAX);
    close(ack[0]);
    return n;
}

static void a_kill_loses_nothing_that_was_acknowledged(void **state) {
    const struct folder *f = *state;
    const unsigned seed = (unsigned)time(NULL);
    print_message("seed %u\n", seed);
    srand(seed);
    unsigned call = 0, in_flight = 0;
    for (int round = 0; round < 30; round++) {
        const unsigned n = run_and_kill(f, call, (unsigned)rand() % 6, (unsigned)rand() % 12000);
        struct journal *j = open_journal(f);
        const struct seen *seen = replay(j);
        call += n;
        /* The call that was under way has happened or has not. */
        const bool happened = is_state_after(seen, call + 1);
        assert_true(happened || is_state_after(seen, call));
        call += happened;
        in_flight += happened;
        unsigned open = 0;
        for (unsigned i = 0; i < seen->n; i++)
            open += seen->state[i] == JOURNAL_OPEN;
        assert_int_equal(payload_files(f), open);
        journal_close(j);
    }
    print_message("%u calls; %u were recorded and not acknowledged\n", call, in_flight);
    assert_true(call >= CALLS_A_JOB);
}

/* ---- faults of the disk ---- */

static void limit_file_bytes(rlim_t bytes) {
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_full_disk_is_an_error_and_no_more(void **state) {
    const struct folder *f = *state;
    struct rlimit usual;
    struct cuzk_error err = {0};
    static char large[1 << 20];
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &usual), 0);
    signal(SIGXFSZ, SIG_IGN); /* the writes fail then */
    struct journal *j = open_journal(f);
    assert_int_equal(accept_job(j, 0, NULL), CUZK_OK);
    limit_file_bytes(64 << 10);
    /* A payload that does not fit; */
    struct journal_job job;
    char request[32];
    make_job(&job, request, 1);
    assert_int_equal(journal_accept(j, &job, large, sizeof large, &err), CUZK_STATE);
    print_message("%s: %s: %s\n", err.where, err.what, err.hint);
    assert_int_equal(payload_files(f), 1);
    assert_int_equal(replay(j)->n, 1);
    /* … a database whose log has no room for one more record. */
    limit_file_bytes(8 << 10);
    assert_int_equal(record_partition(j, 0, 1, &err), CUZK_STATE);
    print_message("%s: %s: %s\n", err.where, err.what, err.hint);
    assert_int_equal(accept_job(j, 3, &err), CUZK_STATE);
    assert_int_equal(payload_files(f), 1);
    limit_file_bytes(usual.rlim_cur);
    assert_int_equal(record_partition(j, 0, 2, NULL), CUZK_OK);
    assert_int_equal(accept_job(j, 3, NULL), CUZK_OK);
    for (int round = 0; round < 2; round++) {
        const struct seen *seen = replay(j);
        assert_int_equal(seen->n, 2);
        assert_int_equal(seen->done[0], 4);
        journal_close(j);
        j = open_journal(f);
    }
    journal_close(j);
    signal(SIGXFSZ, SIG_DFL);
}

enum { NOT_PERMITTED = 77 };

/* In a file system of its own of 320 KiB; returns the exit code. */
static int fill_a_disk(const struct folder *f) {
    char filler[128];
    struct cuzk_error err = {0};
    struct journal *j;
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", f->root, "tmpfs", 0, "size=320k") != 0)
        return NOT_PERMITTED;
    if (journal_open(&j, f->dir, NULL) != CUZK_OK) return 1;
    snprintf(filler, sizeof filler, "%s/filler", f->root);
    const int fd = open(filler, O_CREAT | O_WRONLY, 0600);
    if (fd < 0 || posix_fallocate(fd, 0, 64 << 10) != 0) return 2;
    unsigned n = 0;
    while (n < 100 && accept_job(j, n, &err) == CUZK_OK)
        n++;
    if (n == 0 || n == 100 || err.code != CUZK_STATE || strstr(err.hint, "space") == NULL) return 3;
    if (payload_files(f) != n || replay(j)->n != n) return 4;
    if (unlink(filler) != 0 || close(fd) != 0) return 5;
    if (accept_job(j, n, NULL) != CUZK_OK) return 6;
    journal_close(j);
    if (journal_open(&j, f->dir, NULL) != CUZK_OK || replay(j)->n != n + 1) return 7;
    journal_close(j);
    return 0;
}

static void a_disk_without_space_is_an_error_and_no_more(void **state) {
    int status;
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) _exit(fill_a_disk(*state));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NOT_PERMITTED) skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void damage_is_found_and_named(void **state) {
    const struct folder *f = *state;
    struct journal *j = open_journal(f);
    char path[128];
    for (unsigned i = 0; i < 60; i++)
        assert_int_equal(accept_job(j, i, NULL), CUZK_OK);
    journal_close(j);
    snprintf(path, sizeof path, "%s/journal.sqlite3", f->dir);
    const long places[] = {0, 4096 + 8};
    for (size_t i = 0; i < 2; i++) {
        char saved[600], noise[600];
        struct cuzk_error err = {0};
        memset(noise, 0xa5, sizeof noise);
        const int fd = open(path, O_RDWR);
        assert_int_equal(pread(fd, saved, sizeof saved, places[i]), sizeof saved);
        assert_int_equal(pwrite(fd, noise, sizeof noise, places[i]), sizeof noise);
        assert_int_equal(journal_open(&j, f->dir, &err), CUZK_STATE);
        print_message("%s: %s\n", err.what, err.hint);
        assert_null(j);
        assert_non_null(strstr(err.hint, "move the folder away"));
        assert_int_equal(pwrite(fd, saved, sizeof saved, places[i]), sizeof saved);
        close(fd);
    }
    j = open_journal(f);
    assert_int_equal(replay(j)->n, 60);
    journal_close(j);
    struct cuzk_error err = {0};
    assert_int_equal(truncate(path, 10000), 0);
    assert_int_equal(journal_open(&j, f->dir, &err), CUZK_STATE);
    print_message("%s\n", err.what);
}

static void folders_that_cannot_be_used_are_refused(void **state) {
    const struct folder *f = *state;
    struct journal *j;
    struct cuzk_error err = {0};
    char path[300];
    snprintf(path, sizeof path, "%s/no/such/parent", f->root);
    assert_int_equal(journal_open(&j, path, &err), CUZK_STATE);
    snprintf(path, sizeof path, "%s/file", f->root);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(journal_open(&j, path, &err), CUZK_STATE);
    assert_string_equal(err.where, path);
    assert_int_equal(journal_open(&j, "/proc/cuzk-state", &err), CUZK_STATE);
    assert_null(j);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_recorded_is_found_again, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_not_there_cannot_be_changed, setup, teardown),
        cmocka_unit_test_setup_teardown(a_replay_ends_where_its_function_fails, setup, teardown),
        cmocka_unit_test_setup_teardown(one_daemon_has_the_folder, setup, teardown),
        cmocka_unit_test_setup_teardown(leftovers_are_swept_at_the_next_opening, setup, teardown),
        cmocka_unit_test_setup_teardown(a_kill_loses_nothing_that_was_acknowledged, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_full_disk_is_an_error_and_no_more, setup, teardown),
        cmocka_unit_test_setup_teardown(a_disk_without_space_is_an_error_and_no_more, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(damage_is_found_and_named, setup, teardown),
        cmocka_unit_test_setup_teardown(folders_that_cannot_be_used_are_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
