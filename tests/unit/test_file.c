#include "unit/test_main.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

static char folder[64];

static const char *in_folder(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int files_in_folder(void) {
    DIR *d = opendir(folder);
    int n = 0;
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static int make_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/cuzk-test-file-XXXXXX");
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static void what_is_written_is_read(void **state) {
    (void)state;
    assert_int_equal(file_write(in_folder("a"), "hello", 5, NULL), CUZK_OK);
    struct mem_block b;
    size_t n = 0;
    assert_int_equal(file_read(&b, &n, in_folder("a"), 100, NULL), CUZK_OK);
    assert_int_equal(n, 5);
    assert_memory_equal(b.ptr, "hello", 5);
    mem_give(&b);
    assert_int_equal(files_in_folder(), 1);
    unlink(in_folder("a"));
}

static void a_file_over_the_limit_is_refused(void **state) {
    (void)state;
    assert_int_equal(file_write(in_folder("a"), "hello", 5, NULL), CUZK_OK);
    struct mem_block b;
    size_t n = 0;
    struct cuzk_error err;
    assert_int_equal(file_read(&b, &n, in_folder("a"), 4, &err), CUZK_INPUT_SIZE);
    assert_string_equal(err.where, in_folder("a"));
    assert_null(b.ptr);
    unlink(in_folder("a"));
}

static void missing_files_and_folders_are_told_apart_from_others(void **state) {
    (void)state;
    struct mem_block b;
    size_t n = 0;
    struct cuzk_error err;
    assert_int_equal(file_read(&b, &n, in_folder("none"), 10, &err), CUZK_FILE_OPEN);
    assert_non_null(strstr(err.what, "No such file"));
    assert_int_equal(file_read(&b, &n, folder, 10, &err), CUZK_FILE_READ);
}

static void an_unwritable_output_leaves_nothing(void **state) {
    (void)state;
    struct cuzk_error err;
    assert_int_equal(file_write(in_folder("no/such/folder"), "x", 1, &err), CUZK_FILE_WRITE);
    assert_int_equal(files_in_folder(), 0);
    char long_path[2000];
    memset(long_path, 'p', sizeof long_path - 1);
    long_path[sizeof long_path - 1] = '\0';
    assert_int_equal(file_write(long_path, "x", 1, &err), CUZK_FILE_WRITE);
}

/* Neither read nor written, and neither waited for nor replaced. */
static void what_is_no_regular_file_is_refused(void **state) {
    (void)state;
    struct cuzk_error err;
    struct out_file f;
    struct mem_block b;
    struct stat st;
    size_t n = 0;
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    assert_int_equal(file_read(&b, &n, in_folder("pipe"), 10, &err), CUZK_FILE_READ);
    assert_int_equal(file_begin(&f, in_folder("pipe"), &err), CUZK_FILE_WRITE);
    assert_non_null(strstr(err.what, "not a regular file"));
    assert_int_equal(file_begin(&f, folder, &err), CUZK_FILE_WRITE);
    assert_int_equal(stat(in_folder("pipe"), &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    assert_int_equal(files_in_folder(), 1);
    unlink(in_folder("pipe"));
}

static void an_abandoned_file_leaves_nothing_and_keeps_the_old_one(void **state) {
    (void)state;
    assert_int_equal(file_write(in_folder("a"), "old", 3, NULL), CUZK_OK);
    struct out_file f;
    assert_int_equal(file_begin(&f, in_folder("a"), NULL), CUZK_OK);
    fputs("new content", f.stream);
    assert_int_equal(files_in_folder(), 2);
    file_abandon(&f);
    file_abandon(&f);
    assert_int_equal(files_in_folder(), 1);
    struct mem_block b;
    size_t n = 0;
    assert_int_equal(file_read(&b, &n, in_folder("a"), 100, NULL), CUZK_OK);
    assert_int_equal(n, 3);
    mem_give(&b);
    unlink(in_folder("a"));
}

static void a_disk_that_fills_up_fails_the_commit(void **state) {
    (void)state;
    /* A limit on the file's size stands for the full disk: the write fails the same way. */
    struct rlimit old;
    getrlimit(RLIMIT_FSIZE, &old);
    struct rlimit tiny = {4096, old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    struct out_file f;
    struct cuzk_error err;
    assert_int_equal(file_begin(&f, in_folder("big"), NULL), CUZK_OK);
    setrlimit(RLIMIT_FSIZE, &tiny);
    for (int i = 0; i < 100000; i++)
        fputc('x', f.stream);
    const cuzk_status s = file_commit(&f, &err);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(s, CUZK_FILE_WRITE);
    assert_int_equal(files_in_folder(), 0);
}

static void pread_says_where_a_file_ends(void **state) {
    (void)state;
    assert_int_equal(file_write(in_folder("a"), "0123456789", 10, NULL), CUZK_OK);
    FILE *f = fopen(in_folder("a"), "rb");
    char buffer[8];
    struct cuzk_error err;
    assert_int_equal(file_pread(fileno(f), buffer, 4, 3, "a", &err), CUZK_OK);
    assert_memory_equal(buffer, "3456", 4);
    assert_int_equal(file_pread(fileno(f), buffer, 8, 5, "a", &err), CUZK_FILE_READ);
    assert_non_null(strstr(err.what, "byte 10"));
    fclose(f);
    unlink(in_folder("a"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(a_file_over_the_limit_is_refused),
        cmocka_unit_test(missing_files_and_folders_are_told_apart_from_others),
        cmocka_unit_test(an_unwritable_output_leaves_nothing),
        cmocka_unit_test(what_is_no_regular_file_is_refused),
        cmocka_unit_test(an_abandoned_file_leaves_nothing_and_keeps_the_old_one),
        cmocka_unit_test(a_disk_that_fills_up_fails_the_commit),
        cmocka_unit_test(pread_says_where_a_file_ends),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
