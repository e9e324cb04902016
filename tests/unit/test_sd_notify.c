#include "unit/test_main.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "sd_notify.h"

/* A socket as the service manager's; `name` as in NOTIFY_SOCKET. */
static int manager_socket(const char *name) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s", name);
    if (name[0] == '@') at.sun_path[0] = '\0';
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))),
                     0);
    return fd;
}

static void check_delivery(const char *name) {
    char got[100] = {0};
    const int fd = manager_socket(name);
    setenv("NOTIFY_SOCKET", name, 1);
    assert_true(sd_notify_send("READY=1\nSTATUS=ready"));
    assert_int_equal(recv(fd, got, sizeof got - 1, 0), 20);
    assert_string_equal(got, "READY=1\nSTATUS=ready");
    close(fd);
    assert_false(sd_notify_send("WATCHDOG=1"));
}

static void messages_arrive_whole(void **state) {
    (void)state;
    char folder[] = "/tmp/sd_notify_XXXXXX", name[100];
    assert_non_null(mkdtemp(folder));
    snprintf(name, sizeof name, "%s/notify", folder);
    check_delivery(name);
    unlink(name);
    rmdir(folder);
    snprintf(name, sizeof name, "@cuzk-test-%d", (int)getpid());
    check_delivery(name);
}

static void nothing_is_sent_where_nobody_is_named(void **state) {
    (void)state;
    char long_name[200];
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[0] = '/';
    long_name[sizeof long_name - 1] = '\0';
    unsetenv("NOTIFY_SOCKET");
    assert_false(sd_notify_send("READY=1"));
    setenv("NOTIFY_SOCKET", "relative", 1);
    assert_false(sd_notify_send("READY=1"));
    setenv("NOTIFY_SOCKET", long_name, 1);
    assert_false(sd_notify_send("READY=1"));
}

/* A manager that does not read must not stop the daemon. */
static void a_full_socket_does_not_block(void **state) {
    (void)state;
    char name[100];
    snprintf(name, sizeof name, "@cuzk-full-%d", (int)getpid());
    const int fd = manager_socket(name);
    setenv("NOTIFY_SOCKET", name, 1);
    unsigned sent = 0;
    while (sent < 100000 && sd_notify_send("WATCHDOG=1"))
        sent++;
    assert_in_range(sent, 1, 99999);
    close(fd);
}

static void the_watchdog_is_read_with_its_process(void **state) {
    (void)state;
    char pid[20];
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    assert_int_equal(sd_notify_watchdog_ns(), 0);
    setenv("WATCHDOG_USEC", "30000000", 1);
    assert_int_equal(sd_notify_watchdog_ns(), (uint64_t)30000000000);
    setenv("WATCHDOG_PID", "1", 1);
    assert_int_equal(sd_notify_watchdog_ns(), 0);
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    setenv("WATCHDOG_PID", pid, 1);
    assert_int_equal(sd_notify_watchdog_ns(), (uint64_t)30000000000);
    setenv("WATCHDOG_USEC", "soon", 1);
    assert_int_equal(sd_notify_watchdog_ns(), 0);
    setenv("WATCHDOG_USEC", "18446744073709551615", 1);
    assert_int_equal(sd_notify_watchdog_ns(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_arrive_whole),
        cmocka_unit_test(nothing_is_sent_where_nobody_is_named),
        cmocka_unit_test(a_full_socket_does_not_block),
        cmocka_unit_test(the_watchdog_is_read_with_its_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
