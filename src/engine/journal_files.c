#include "journal_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 1200 };

cuzk_status journal_file_failure(const char *path, const char *doing, int system_code,
                                 struct cuzk_error *err) {
    const char *hint = system_code == ENOSPC || system_code == EDQUOT || system_code == EFBIG
                           ? "free some space on this disk"
                           : "check the folder, its permissions and its disk";
    return error_set(err, CUZK_STATE, path, hint, "%s: %s", doing, strerror(system_code));
}

static cuzk_status make_folder(const char *path, struct cuzk_error *err) {
    if (mkdir(path, 0700) == 0) return CUZK_OK;
    const int code = errno;
    struct stat st;
    if (code == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) return CUZK_OK;
    return journal_file_failure(path, "making the folder", code == EEXIST ? ENOTDIR : code, err);
}

static void payload_folder(char out[PATH_BYTES], const char *dir) {
    snprintf(out, PATH_BYTES, "%s/payload", dir);
}

static void payload_file(char out[PATH_BYTES], const char *dir, const char *job_id,
                         const char *suffix) {
    snprintf(out, PATH_BYTES, "%s/payload/%s%s", dir, job_id, suffix);
}

/* Names in it are on the disk. */
static cuzk_status sync_folder(const char *path, struct cuzk_error *err) {
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return journal_file_failure(path, "opening", errno, err);
    const int code = fsync(fd) == 0 ? 0 : errno;
    close(fd);
    return code == 0 ? CUZK_OK : journal_file_failure(path, "writing", code, err);
}

cuzk_status journal_folder_make(const char *dir, struct cuzk_error *err) {
    char payloads[PATH_BYTES];
    payload_folder(payloads, dir);
    CUZK_TRY(make_folder(dir, err));
    CUZK_TRY(make_folder(payloads, err));
    return sync_folder(dir, err);
}

static int write_all(int fd, const char *data, size_t n) {
    while (n > 0) {
        const ssize_t done = write(fd, data, n);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return errno;
        data += done;
        n -= (size_t)done;
    }
    return fsync(fd) == 0 ? 0 : errno;
}

cuzk_status journal_payload_write(const char *dir, const char *job_id, const void *payload,
                                  size_t n, struct cuzk_error *err) {
    char path[PATH_BYTES], unfinished[PATH_BYTES], folder[PATH_BYTES];
    payload_folder(folder, dir);
    payload_file(path, dir, job_id, "");
    payload_file(unfinished, dir, job_id, ".part");
    const int fd = open(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return journal_file_failure(path, "making the file", errno, err);
    int code = write_all(fd, payload, n);
    if (close(fd) != 0 && code == 0) code = errno;
    if (code == 0 && rename(unfinished, path) != 0) code = errno;
    if (code != 0) {
        unlink(unfinished);
        return journal_file_failure(path, "writing the payload", code, err);
    }
    const cuzk_status s = sync_folder(folder, err);
    if (s != CUZK_OK) unlink(path);
    return s;
}

void journal_payload_remove(const char *dir, const char *job_id) {
    char path[PATH_BYTES];
    payload_file(path, dir, job_id, "");
    unlink(path);
}

char *journal_payload_path(const char *dir, const char *job_id) {
    char path[PATH_BYTES];
    payload_file(path, dir, job_id, "");
    return strdup(path);
}

cuzk_status journal_payloads_sweep(const char *dir, bool (*wanted)(void *ctx, const char *name),
                                   void *ctx, struct cuzk_error *err) {
    char folder[PATH_BYTES];
    payload_folder(folder, dir);
    DIR *d = opendir(folder);
    if (d == NULL) return journal_file_failure(folder, "opening", errno, err);
    const struct dirent *entry;
    while ((entry = readdir(d)) != NULL) {
        if (entry->d_name[0] == '.' || wanted(ctx, entry->d_name)) continue;
        unlinkat(dirfd(d), entry->d_name, 0);
    }
    closedir(d);
    return CUZK_OK;
}
