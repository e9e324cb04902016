#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static cuzk_status open_error(const char *path, struct cuzk_error *err) {
    return error_set(err, CUZK_FILE_OPEN, path, "check the path and its permissions", "%s",
                     strerror(errno));
}

cuzk_status file_pread(int fd, void *out, size_t n, uint64_t offset, const char *path,
                       struct cuzk_error *err) {
    size_t done = 0;
    while (done < n) {
        const ssize_t got = pread(fd, (char *)out + done, n - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return error_set(err, CUZK_FILE_READ, path, "check the disk", "%s", strerror(errno));
        if (got == 0)
            return error_set(err, CUZK_FILE_READ, path, "fetch or write the file again",
                             "the file ends at byte %llu, %zu bytes were expected from %llu",
                             (unsigned long long)(offset + done), n, (unsigned long long)offset);
        done += (size_t)got;
    }
    return CUZK_OK;
}

cuzk_status file_read(struct mem_block *out, size_t *n_bytes, const char *path, size_t limit,
                      struct cuzk_error *err) {
    *out = (struct mem_block){0};
    /* O_NONBLOCK: a pipe without a writer is to be refused, not waited for. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return open_error(path, err);
    struct stat st;
    cuzk_status s = CUZK_OK;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        s = error_set(err, CUZK_FILE_READ, path, "name a file", "it is not a regular file");
    } else if ((uint64_t)st.st_size > limit) {
        s = error_set(err, CUZK_INPUT_SIZE, path, "is this the right file?",
                      "%llu bytes, more than the limit of %zu", (unsigned long long)st.st_size,
                      limit);
    } else {
        *n_bytes = (size_t)st.st_size;
        s = mem_take(out, *n_bytes, MEM_INPUT, err);
        if (s == CUZK_OK) s = file_pread(fd, out->ptr, *n_bytes, 0, path, err);
        if (s != CUZK_OK) mem_give(out);
    }
    close(fd);
    return s;
}

static cuzk_status write_error(const char *path, struct cuzk_error *err) {
    return error_set(err, CUZK_FILE_WRITE, path, "check the folder, its permissions and free space",
                     "%s", strerror(errno));
}

cuzk_status file_begin(struct out_file *f, const char *path, struct cuzk_error *err) {
    f->stream = NULL;
    f->temporary[0] = '\0';
    if ((size_t)snprintf(f->path, sizeof f->path, "%s", path) >= sizeof f->path) {
        errno = ENAMETOOLONG;
        return write_error(path, err);
    }
    /* The rename would replace a device or a pipe, and could not replace a folder. */
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return error_set(err, CUZK_FILE_WRITE, path, "name a file", "it is not a regular file");
    snprintf(f->temporary, sizeof f->temporary, "%s.part-XXXXXX", path);
    const int fd = mkostemp(f->temporary, O_CLOEXEC);
    if (fd < 0) {
        f->temporary[0] = '\0';
        return write_error(path, err);
    }
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
    f->stream = fdopen(fd, "wb");
    if (f->stream == NULL) {
        const cuzk_status s = write_error(path, err);
        close(fd);
        file_abandon(f);
        return s;
    }
    return CUZK_OK;
}

cuzk_status file_commit(struct out_file *f, struct cuzk_error *err) {
    bool ok = !ferror(f->stream) && fflush(f->stream) == 0 && fsync(fileno(f->stream)) == 0;
    const int saved = errno;
    ok = fclose(f->stream) == 0 && ok;
    f->stream = NULL;
    if (!ok) errno = saved != 0 ? saved : EIO;
    if (ok && rename(f->temporary, f->path) == 0) {
        f->temporary[0] = '\0';
        return CUZK_OK;
    }
    const cuzk_status s = write_error(f->path, err);
    file_abandon(f);
    return s;
}

void file_abandon(struct out_file *f) {
    if (f->stream != NULL) fclose(f->stream);
    f->stream = NULL;
    if (f->temporary[0] != '\0') unlink(f->temporary);
    f->temporary[0] = '\0';
}

cuzk_status file_write(const char *path, const void *data, size_t n, struct cuzk_error *err) {
    struct out_file f;
    CUZK_TRY(file_begin(&f, path, err));
    fwrite(data, 1, n, f.stream);
    return file_commit(&f, err);
}
