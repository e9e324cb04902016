#include "param_stamp.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "file.h"

/* The number says which checks the stamp stands for; a new one makes old stamps void. */
static const char stamp_format[] =
    "cuzk parameter stamp 1\n"
    "device %" PRIu64 " inode %" PRIu64 " bytes %" PRIu64
    "\n"
    "mtime %" PRIu64 " ctime %" PRIu64
    "\n"
    "blake2b %s\n";

enum { STAMP_BYTES_MAX = 512 };

static bool stamp_path(char *out, size_t out_bytes, const char *params_path) {
    const int n = snprintf(out, out_bytes, "%s.stamp", params_path);
    return n >= 0 && (size_t)n < out_bytes;
}

static int stamp_text(char out[STAMP_BYTES_MAX], const struct file_identity *id,
                      const char *digest) {
    return snprintf(out, STAMP_BYTES_MAX, stamp_format, id->device, id->inode, id->n_bytes,
                    id->mtime_ns, id->ctime_ns, digest);
}

/* Reads the stamp's text if it belongs to us or root and nobody else may write it. */
static bool read_trusted(const char *path, char out[STAMP_BYTES_MAX]) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return false;
    struct stat st;
    ssize_t n = -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_uid == geteuid() || st.st_uid == 0) &&
        (st.st_mode & (S_IWGRP | S_IWOTH)) == 0)
        n = read(fd, out, STAMP_BYTES_MAX - 1);
    close(fd);
    if (n < 0) return false;
    out[n] = '\0';
    return true;
}

bool param_stamp_read(struct param_stamp *out, const char *params_path,
                      const struct file_identity *identity) {
    char path[1100], text[STAMP_BYTES_MAX], expected[STAMP_BYTES_MAX];
    if (!stamp_path(path, sizeof path, params_path) || !read_trusted(path, text)) return false;
    /* The digest is the last word; with it the one text that is accepted can be written. */
    const size_t n = strlen(text);
    if (n < PARAM_DIGEST_HEX + 1 || text[n - 1] != '\n') return false;
    out->identity = *identity;
    memcpy(out->digest, text + n - 1 - PARAM_DIGEST_HEX, PARAM_DIGEST_HEX);
    out->digest[PARAM_DIGEST_HEX] = '\0';
    if (strspn(out->digest, "0123456789abcdef") != PARAM_DIGEST_HEX) return false;
    stamp_text(expected, identity, out->digest);
    return strcmp(text, expected) == 0;
}

static uint64_t wall_clock_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool param_stamp_write(const char *params_path, const struct param_stamp *stamp) {
    enum { TICK_NS = 50000000 };
    if (wall_clock_ns() < stamp->identity.ctime_ns + TICK_NS) {
        struct timespec left = {.tv_nsec = TICK_NS};
        while (nanosleep(&left, &left) != 0 && errno == EINTR) {
        }
        struct stat st; /* has it changed meanwhile? */
        if (stat(params_path, &st) != 0 ||
            (uint64_t)st.st_ctim.tv_sec * 1000000000u + (uint64_t)st.st_ctim.tv_nsec !=
                stamp->identity.ctime_ns)
            return false;
    }
    char path[1100], text[STAMP_BYTES_MAX];
    if (!stamp_path(path, sizeof path, params_path)) return false;
    const int n = stamp_text(text, &stamp->identity, stamp->digest);
    if (n <= 0 || n >= STAMP_BYTES_MAX) return false;
    struct out_file f;
    if (file_begin(&f, path, NULL) != CUZK_OK) return false;
    fchmod(fileno(f.stream), 0644); /* whatever the umask: never writable for others */
    fwrite(text, 1, (size_t)n, f.stream);
    return file_commit(&f, NULL) == CUZK_OK;
}
