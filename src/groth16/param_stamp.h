/*
 * A stamp: a small file `PARAMS.stamp` beside a parameter file that says that this very file was
 * checked, so that digest and group check need not be repeated.
 *
 * A stamp names device, inode, length, mtime and ctime (both in nanoseconds) of the file that was
 * checked; it holds only while all of them are the file's. It is believed only if it is a regular
 * file, owned by the user who reads it or by root, and writable by its owner alone. Whoever can
 * write such a file could as well replace this program; doc/params.md says what that means.
 */
#ifndef GROTH16_PARAM_STAMP_H
#define GROTH16_PARAM_STAMP_H

#include <stdbool.h>

#include "param_names.h"

struct param_stamp {
    struct file_identity identity;
    char digest[PARAM_DIGEST_HEX + 1];
};

/* Is there a valid stamp for the file of this identity? Anything else than that is no. */
bool param_stamp_read(struct param_stamp *out, const char *params_path,
                      const struct file_identity *identity);

/*
 * Writes the stamp, whole or not at all. A file that was changed less than a tick of the file
 * system's clock ago is waited for (50 ms), since a second change could then leave no trace.
 * Returns false when it cannot be written: that is no error, the next load checks again.
 */
bool param_stamp_write(const char *params_path, const struct param_stamp *stamp);

#endif
