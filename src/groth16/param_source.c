#include "param_source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

static uint64_t to_ns(const struct timespec *t) {
    return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

static cuzk_status identity_of(int fd, const char *name, struct file_identity *out,
                               struct cuzk_error *err) {
    struct stat st;
    if (fstat(fd, &st) != 0)
        return error_set(err, CUZK_FILE_READ, name, "check the disk", "%s", strerror(errno));
    if (!S_ISREG(st.st_mode))
        return error_set(err, CUZK_FILE_READ, name, "name a file", "it is not a regular file");
    *out = (struct file_identity){
        .device = st.st_dev,
        .inode = st.st_ino,
        .n_bytes = (uint64_t)st.st_size,
        .mtime_ns = to_ns(&st.st_mtim),
        .ctime_ns = to_ns(&st.st_ctim),
    };
    return CUZK_OK;
}

cuzk_status param_source_open(struct param_source *out, const char *path, struct cuzk_error *err) {
    *out = (struct param_source){.name = path, .fd = -1};
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        const int reason = errno;
        if (reason == ENOENT || reason == ENOTDIR)
            return error_set(err, CUZK_PARAM_MISSING, path,
                             "fetch it, or make development parameters with `cuzk params setup`",
                             "there is no such file");
        return error_set(err, CUZK_FILE_OPEN, path, "check the path and its permissions", "%s",
                         strerror(reason));
    }
    const cuzk_status s = identity_of(fd, path, &out->identity, err);
    if (s != CUZK_OK) {
        close(fd);
        return s;
    }
    out->fd = fd;
    out->n_bytes = out->identity.n_bytes;
    return CUZK_OK;
}

void param_source_memory(struct param_source *out, const char *name, const uint8_t *data,
                         size_t n) {
    *out = (struct param_source){.name = name, .n_bytes = n, .data = data, .fd = -1};
}

void param_source_close(struct param_source *src) {
    if (src->fd >= 0) close(src->fd);
    src->fd = -1;
}

cuzk_status param_source_read(const struct param_source *src, void *out, size_t n, uint64_t offset,
                              struct cuzk_error *err) {
    if (src->data == NULL) return file_pread(src->fd, out, n, offset, src->name, err);
    if (offset > src->n_bytes || n > src->n_bytes - offset)
        return error_set(err, CUZK_FILE_READ, src->name, NULL,
                         "%zu bytes from %llu on are not there", n, (unsigned long long)offset);
    memcpy(out, src->data + offset, n);
    return CUZK_OK;
}

cuzk_status param_source_identity(const struct param_source *src, struct file_identity *out,
                                  struct cuzk_error *err) {
    *out = (struct file_identity){0};
    return src->data != NULL ? CUZK_OK : identity_of(src->fd, src->name, out, err);
}
