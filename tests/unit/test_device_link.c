/*
 * The link to a device's process, and the process, with the fake backend.
 *
 *   test_device_link PATH-OF-cuzk-device
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test_main.h"

#include "device_fake.h"
#include "device_testing.h"

static const char circuit[] = "porep-2k";
enum { MS = 1000000, SLAB_BYTES = 5000, N_SLABS = 4 };

static struct device_testing device;
static struct slab slabs[N_SLABS];
static int open_before;

static void sleep_us(long us) {
    nanosleep(&(struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000}, NULL);
}

static int count_open(void) {
    DIR *d = opendir("/proc/self/fd");
    int n = 0;
    assert_non_null(d);
    while (readdir(d) != NULL)
        n++;
    closedir(d);
    return n;
}

static int set_up(void **state) {
    (void)state;
    open_before = count_open();
    for (unsigned i = 0; i < N_SLABS; i++) {
        device_testing_slab(&slabs[i], 10 + i, SLAB_BYTES);
        memset(slabs[i].ptr, 'a' + (int)i, SLAB_BYTES);
    }
    return 0;
}

/* Nothing is left behind: no descriptor, no child, dead or alive. */
static int tear_down(void **state) {
    (void)state;
    for (unsigned i = 0; i < N_SLABS; i++)
        device_testing_slab_close(&slabs[i]);
    assert_int_equal(count_open(), open_before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    return 0;
}

static void begin(struct device_spec spec) {
    device_testing_init(&device, spec, true);
    device_link_load(device.link, circuit, "/nowhere");
    device_testing_wait(&device, EVENT_LOADED, 1);
}

static void prove(uint64_t task) {
    const struct device_task t = {
        .task = task, .circuit_id = circuit, .witness = &slabs[task % N_SLABS]};
    device_link_prove(device.link, &t);
}

static void expected_proof(uint8_t proof[PROOF_BYTES], uint64_t task) {
    uint8_t digest[SHA256_BYTES];
    const struct slab *slab = &slabs[task % N_SLABS];
    fake_witness_digest(digest, slab->ptr, slab->bytes);
    fake_proof(proof, task, digest);
}

static bool proof_is_right(uint64_t task) {
    struct device_event e;
    uint8_t proof[PROOF_BYTES];
    assert_true(device_testing_find(&device, EVENT_PROVED, task, &e));
    assert_string_equal(e.circuit_id, circuit);
    expected_proof(proof, task);
    return memcmp(proof, e.proof, sizeof proof) == 0;
}

/* ---- work ---- */

static void twenty_tasks_are_proved(void **state) {
    (void)state;
    begin((struct device_spec){.workers = 2, .pendings = 3, .options = "start_ms=2,delay_ms=1"});
    for (uint64_t task = 1; task <= 20; task++) {
        if (task > 5) device_testing_wait(&device, EVENT_PROVED, (unsigned)task - 5);
        prove(task);
    }
    device_testing_wait(&device, EVENT_PROVED, 20);
    assert_int_equal(device_testing_count(&device, EVENT_STARTED), 20);
    for (uint64_t task = 1; task <= 20; task++)
        assert_true(proof_is_right(task));
    device_link_evict(device.link, circuit);
    const struct device_event e = device_testing_wait(&device, EVENT_EVICTED, 1);
    assert_string_equal(e.circuit_id, circuit);
    prove(21); /* the circuit is gone */
    assert_int_equal(device_testing_wait(&device, EVENT_FAILED, 1).error.code, CUZK_INTERNAL);
    device_testing_deinit(&device);
    assert_true(device.n_progress >= 40); /* a start and a finish each */
    struct device_event lost;
    assert_true(device_testing_find(&device, EVENT_LOST, 0, &lost));
    assert_int_equal(lost.error.code, CUZK_DEVICE_LOST);
}

static void loads_say_what_they_loaded(void **state) {
    (void)state;
    uint8_t digest[SHA256_BYTES];
    begin((struct device_spec){.workers = 1});
    const struct device_event e = device_testing_wait(&device, EVENT_LOADED, 1);
    sha256(digest, circuit, strlen(circuit));
    assert_memory_equal(e.vkey.bytes, digest, sizeof digest);
    assert_true(e.development);
    device_link_load(device.link, "porep-4k", NULL); /* the default folder */
    device_link_load(device.link, circuit, "/nowhere");
    device_testing_wait(&device, EVENT_LOADED, 3);
    char path[2000];
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    device_link_load(device.link, "porep-8m", path);
    const struct device_event f = device_testing_wait(&device, EVENT_LOAD_FAILED, 1);
    assert_int_equal(f.error.code, CUZK_USAGE);
    assert_string_equal(f.circuit_id, "porep-8m");
    device_testing_deinit(&device);
}

static void failures_are_events(void **state) {
    (void)state;
    device_testing_init(&device, (struct device_spec){.options = "refuse_load=1"}, true);
    device_link_load(device.link, circuit, "/nowhere");
    const struct device_event e = device_testing_wait(&device, EVENT_LOAD_FAILED, 1);
    assert_int_equal(e.error.code, CUZK_PARAM_MISSING);
    assert_string_equal(e.error.where, "/nowhere");
    device_testing_deinit(&device);

    begin((struct device_spec){.workers = 1, .options = "fail_at=1,invalid_at=2"});
    prove(1);
    assert_int_equal(device_testing_wait(&device, EVENT_FAILED, 1).task, 1);
    prove(2);
    device_testing_wait(&device, EVENT_PROVED, 1);
    assert_false(proof_is_right(2));
    prove(3);
    device_testing_wait(&device, EVENT_PROVED, 2);
    assert_true(proof_is_right(3));
    device_testing_deinit(&device);
}

static void tasks_can_be_cancelled(void **state) {
    (void)state;
    begin((struct device_spec){.workers = 1, .pendings = 1, .options = "start_ms=20000"});
    prove(1);
    prove(2); /* waits behind the first */
    device_link_cancel(device.link, 2);
    device_testing_wait(&device, EVENT_FAILED, 1);
    device_link_cancel(device.link, 1);
    device_testing_wait(&device, EVENT_FAILED, 2);
    device_link_cancel(device.link, 1); /* too late: nothing */
    for (uint64_t task = 1; task <= 2; task++) {
        struct device_event e;
        assert_true(device_testing_find(&device, EVENT_FAILED, task, &e));
        assert_int_equal(e.error.code, CUZK_CANCELLED);
    }
    device_testing_deinit(&device);
}

static void the_state_is_measured(void **state) {
    (void)state;
    const size_t large = 16 << 20, leak = 20 << 20;
    struct device_state s, before;
    struct slab slab;
    begin((struct device_spec){
        .workers = 1, .options = "leak_kib=20480", .ping_timeout_ns = 4000ull * MS});
    device_link_state(device.link, &before);
    assert_true(before.up && !before.lost && before.tasks == 0);
    assert_true(before.pid > 0 && before.rss_bytes > 0);
    assert_string_equal(before.backend, "fake");
    assert_string_equal(before.name, "fake (1 workers)");
    device_testing_slab(&slab, 99, large);
    memset(slab.ptr, 1, large);
    const struct device_task t = {.task = 1, .circuit_id = circuit, .witness = &slab};
    device_link_prove(device.link, &t);
    device_testing_wait(&device, EVENT_PROVED, 1);
    device_link_state(device.link, &s);
    assert_true(s.shared_bytes >= large && s.shared_bytes < large + (1 << 20));
    assert_true(s.rss_bytes >= before.rss_bytes + large + leak - (1 << 20));
    assert_true(s.peak_rss_bytes >= s.rss_bytes - (1 << 20));
    assert_int_equal(s.tasks, 0);
    device_link_drop_slab(device.link, slab.id);
    device_testing_slab_close(&slab);
    prove(2); /* after the drop */
    device_testing_wait(&device, EVENT_PROVED, 2);
    device_link_state(device.link, &s);
    assert_true(s.shared_bytes < 1 << 20);
    device_link_kill(device.link);
    device_testing_wait(&device, EVENT_LOST, 1);
    device_link_state(device.link, &s);
    assert_true(s.lost && !s.up && s.rss_bytes == 0);
    device_testing_deinit(&device);
}

/* More slabs than a device may know: the oldest are forgotten and sent again. */
static void many_slabs_may_come(void **state) {
    (void)state;
    begin((struct device_spec){.workers = 1, .pendings = 3});
    for (uint64_t task = 1; task <= 400; task++) {
        struct slab slab = slabs[task % N_SLABS];
        if (task % 9 != 0) slab.id = 1000 + task % 300;
        const struct device_task t = {.task = task, .circuit_id = circuit, .witness = &slab};
        if (task > 4) device_testing_wait(&device, EVENT_PROVED, (unsigned)task - 4);
        device_link_prove(device.link, &t);
    }
    device_testing_wait(&device, EVENT_PROVED, 400);
    device_testing_deinit(&device);
}

/* The other backend, as far as it goes without parameters. */
static void the_processor_comes_up(void **state) {
    (void)state;
    struct device_state s;
    device_testing_init(&device, (struct device_spec){.backend = "cpu", .threads = 2}, true);
    device_link_state(device.link, &s);
    assert_string_equal(s.backend, "cpu");
    assert_non_null(strstr(s.name, "2 threads"));
    device_link_load(device.link, circuit, "/nowhere");
    const struct device_event e = device_testing_wait(&device, EVENT_LOAD_FAILED, 1);
    assert_int_equal(e.error.code, CUZK_PARAM_MISSING);
    prove(1);
    assert_int_equal(device_testing_wait(&device, EVENT_FAILED, 1).error.code, CUZK_INTERNAL);
    device_testing_deinit(&device);
}

/* ---- faults ---- */

/* Proves until the device is lost; the reason. */
static struct cuzk_error lose(const char *options, uint64_t n_tasks) {
    const struct device_spec spec = {.workers = 1,
                                     .options = options,
                                     .ping_timeout_ns = 1500ull * MS,
                                     .progress_timeout_ns = 1000ull * MS};
    begin(spec);
    for (uint64_t task = 1; task <= n_tasks; task++) {
        prove(task);
        if (task < n_tasks) device_testing_wait(&device, EVENT_PROVED, (unsigned)task);
    }
    const struct device_event e = device_testing_wait(&device, EVENT_LOST, 1);
    prove(1000); /* nothing happens any more */
    device_link_cancel(device.link, 1000);
    device_link_load(device.link, circuit, "/nowhere");
    device_link_drop_slab(device.link, 10);
    device_link_kill(device.link);
    device_testing_deinit(&device);
    assert_int_equal(device_testing_count(&device, EVENT_PROVED), n_tasks - 1);
    return e.error;
}

static void crashes_are_noticed(void **state) {
    (void)state;
    const struct cuzk_error start = lose("crash_at=7", 7);
    assert_int_equal(start.code, CUZK_DEVICE_LOST);
    assert_non_null(strstr(start.what, "signal 6"));
    assert_int_equal(lose("crash_finish_at=2", 2).code, CUZK_DEVICE_LOST);
}

static void hangs_are_noticed(void **state) {
    (void)state;
    const struct cuzk_error task = lose("hang_at=3", 3);
    assert_int_equal(task.code, CUZK_DEVICE_HANG);
    assert_non_null(strstr(task.what, "no progress of a task"));
    assert_int_equal(lose("hang_finish_at=1", 1).code, CUZK_DEVICE_HANG);
    device_testing_init(
        &device,
        (struct device_spec){.options = "load_ms=100000", .progress_timeout_ns = 500ull * MS},
        true);
    device_link_load(device.link, circuit, "/nowhere");
    const struct device_event e = device_testing_wait(&device, EVENT_LOST, 1);
    assert_int_equal(e.error.code, CUZK_DEVICE_HANG);
    device_testing_deinit(&device);
}

static void silence_is_noticed(void **state) {
    (void)state;
    begin((struct device_spec){
        .workers = 1, .options = "mute_at=2", .ping_timeout_ns = 1000ull * MS});
    prove(1);
    device_testing_wait(&device, EVENT_PROVED, 1);
    prove(2);
    const struct device_event e = device_testing_wait(&device, EVENT_LOST, 1);
    assert_int_equal(e.error.code, CUZK_DEVICE_HANG);
    assert_non_null(strstr(e.error.what, "no answer"));
    device_testing_deinit(&device);
}

static void a_busy_device_is_left_alone(void **state) {
    (void)state;
    begin((struct device_spec){.workers = 1,
                               .pendings = 2,
                               .options = "start_ms=600",
                               .progress_timeout_ns = 1500ull * MS,
                               .ping_timeout_ns = 1500ull * MS});
    for (uint64_t task = 1; task <= 3; task++) /* the last one waits longer than the timeout */
        prove(task);
    device_testing_wait(&device, EVENT_PROVED, 3);
    device_testing_deinit(&device);
}

static void lies_are_noticed(void **state) {
    (void)state;
    static const char *const lies[] = {"lie_at=4", "lie_at=4,lie=2", "lie_at=4,lie=3",
                                       "lie_at=4,lie=4"};
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        const struct cuzk_error e = lose(lies[i], 4);
        if (e.code != CUZK_DEVICE_PROTOCOL) fail_msg("%s: %s: %s", lies[i], e.where, e.what);
    }
}

static void bad_starts_are_told(void **state) {
    (void)state;
    struct device_link *link = (struct device_link *)&device;
    struct cuzk_error err;
    struct device_spec spec = {.program = "/nowhere/cuzk-device", .backend = "fake", .workers = 1};
    assert_int_equal(device_link_create(&link, &spec, NULL, NULL, &err), CUZK_DEVICE_LOST);
    assert_null(link);
    static const struct {
        const char *backend, *options;
        cuzk_status code;
    } bad[] = {{"abacus", NULL, CUZK_CONFIG},
               {"fake", "fast=1", CUZK_CONFIG},
               {"cpu", "fast=1", CUZK_CONFIG},
               {"fake", "fail_up=1", CUZK_INTERNAL}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        device_testing_init(
            &device, (struct device_spec){.backend = bad[i].backend, .options = bad[i].options},
            false);
        const struct device_event e = device_testing_wait(&device, EVENT_LOST, 1);
        assert_int_equal(e.error.code, bad[i].code);
        device_testing_deinit(&device);
        assert_int_equal(device_testing_count(&device, EVENT_UP), 0);
    }
    /* A program that is no device. */
    device_testing_init(&device, (struct device_spec){.program = "/bin/true"}, false);
    assert_int_equal(device_testing_wait(&device, EVENT_LOST, 1).error.code, CUZK_DEVICE_LOST);
    device_testing_deinit(&device);
}

/* ---- ends at any moment ---- */

static void begin_work(void) {
    const struct device_spec spec = {
        .workers = 2, .pendings = 2, .options = "load_ms=2,start_ms=2,delay_ms=2"};
    device_testing_init(&device, spec, false);
    device_link_load(device.link, circuit, "/nowhere");
}

static void kills_at_any_moment(void **state) {
    (void)state;
    for (long i = 0; i < 16; i++) {
        begin_work();
        if (i > 4) device_testing_wait(&device, EVENT_LOADED, 1);
        for (uint64_t task = 1; i > 4 && task <= 4; task++)
            prove(task);
        sleep_us(i < 5 ? i * 700 : (i - 5) * 900);
        device_link_kill(device.link);
        const struct device_event e = device_testing_wait(&device, EVENT_LOST, 1);
        assert_int_equal(e.error.code, CUZK_DEVICE_LOST);
        device_testing_deinit(&device);
    }
}

static void outer_kills_are_noticed(void **state) {
    (void)state;
    struct device_state s;
    begin_work();
    device_testing_wait(&device, EVENT_LOADED, 1);
    prove(1);
    device_link_state(device.link, &s);
    kill(s.pid, SIGTERM); /* of a service manager: not for the device to decide */
    device_testing_wait(&device, EVENT_PROVED, 1);
    kill(s.pid, SIGKILL);
    const struct device_event e = device_testing_wait(&device, EVENT_LOST, 1);
    assert_non_null(strstr(e.error.what, "signal 9"));
    device_testing_deinit(&device);
}

static void destroys_at_any_moment(void **state) {
    (void)state;
    for (long i = 0; i < 16; i++) {
        begin_work();
        if (i > 4) device_testing_wait(&device, EVENT_LOADED, 1);
        for (uint64_t task = 1; i > 4 && task <= 4; task++)
            prove(task);
        sleep_us(i < 5 ? i * 700 : (i - 5) * 900);
        device_testing_deinit(&device);
    }
}

/* One that does not hear that it shall end is killed after a second. */
static void destroys_what_is_stopped(void **state) {
    (void)state;
    struct device_state s;
    begin((struct device_spec){.workers = 1});
    device_link_state(device.link, &s);
    kill(s.pid, SIGSTOP);
    prove(1);
    device_testing_deinit(&device);
}

/* A daemon that dies takes its devices with it. */
static void no_device_outlives_the_daemon(void **state) {
    (void)state;
    int pipe_fds[2], device_pid, status;
    assert_int_equal(pipe(pipe_fds), 0);
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    const pid_t daemon_pid = fork();
    assert_true(daemon_pid >= 0);
    if (daemon_pid == 0) {
        struct device_state s;
        begin((struct device_spec){.workers = 1, .options = "start_ms=100000"});
        prove(1);
        device_testing_wait(&device, EVENT_LOADED, 1);
        device_link_state(device.link, &s);
        if (write(pipe_fds[1], &s.pid, sizeof s.pid) != sizeof s.pid) _exit(1);
        raise(SIGKILL);
    }
    assert_int_equal(read(pipe_fds[0], &device_pid, sizeof device_pid), sizeof device_pid);
    assert_int_equal(waitpid(daemon_pid, &status, 0), daemon_pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(waitpid(device_pid, &status, 0), device_pid); /* it became ours */
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    device_testing_program = argv[1];
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(twenty_tasks_are_proved),     TEST(loads_say_what_they_loaded),
        TEST(failures_are_events),         TEST(tasks_can_be_cancelled),
        TEST(the_state_is_measured),       TEST(many_slabs_may_come),
        TEST(the_processor_comes_up),      TEST(crashes_are_noticed),
        TEST(hangs_are_noticed),           TEST(silence_is_noticed),
        TEST(a_busy_device_is_left_alone), TEST(lies_are_noticed),
        TEST(bad_starts_are_told),         TEST(kills_at_any_moment),
        TEST(outer_kills_are_noticed),     TEST(destroys_at_any_moment),
        TEST(destroys_what_is_stopped),    TEST(no_device_outlives_the_daemon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
