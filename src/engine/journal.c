#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "journal_files.h"
#include "lock.h"

enum { SCHEMA_VERSION = 1, MAX_PARTITIONS = 4096, PATH_BYTES = 1100 };

struct journal {
    struct lock lock;
    sqlite3 *db;
    int lock_fd;
    char dir[1024];
};

/* ---- errors ---- */

static const char *hint_of(int sqlite_code, int system_code) {
    if (system_code == ENOSPC || system_code == EDQUOT || (sqlite_code & 0xff) == SQLITE_FULL)
        return "free some space on this disk";
    switch (sqlite_code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return "move the folder away and start again; the jobs in it must be submitted again";
    case SQLITE_BUSY:
        return "another program has the database open: end it";
    default:
        return "check the folder, its permissions and its disk";
    }
}

static cuzk_status sqlite_failure(const struct journal *j, const char *doing,
                                  struct cuzk_error *err) {
    const int code = sqlite3_extended_errcode(j->db);
    const int system_code = sqlite3_system_errno(j->db);
    const bool io = (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN;
    return error_set(err, CUZK_STATE, j->dir, hint_of(code, io ? system_code : 0),
                     "%s: %s%s%s (SQLite %d)", doing, sqlite3_errmsg(j->db),
                     io && system_code != 0 ? ", " : "",
                     io && system_code != 0 ? strerror(system_code) : "", code);
}

/* SQLite's report may have several lines; the first one says enough. */
static cuzk_status damaged(const struct journal *j, const char *what, struct cuzk_error *err) {
    return error_set(err, CUZK_STATE, j->dir, hint_of(SQLITE_CORRUPT, 0),
                     "the database is damaged: %.*s", (int)strcspn(what, "\n"), what);
}

static cuzk_status unknown_job(const char *job_id, struct cuzk_error *err) {
    return error_set(err, CUZK_JOB_UNKNOWN, "state folder", NULL, "there is no job %.40s for that",
                     job_id);
}

/* ---- statements ---- */

struct value {
    enum { VALUE_NUMBER, VALUE_TEXT, VALUE_BLOB } kind;
    uint64_t number; /* SQLite's integers are signed: the same bits */
    const void *data;
    size_t n;
};

static struct value number(uint64_t v) {
    return (struct value){.kind = VALUE_NUMBER, .number = v};
}

static struct value text(const char *s) {
    return (struct value){.kind = VALUE_TEXT, .data = s, .n = s != NULL ? strlen(s) : 0};
}

static struct value blob(const void *data, size_t n) {
    return (struct value){.kind = VALUE_BLOB, .data = data, .n = n};
}

static int bind(sqlite3_stmt *s, int at, const struct value *v) {
    switch (v->kind) {
    case VALUE_NUMBER:
        return sqlite3_bind_int64(s, at, (sqlite3_int64)v->number);
    case VALUE_TEXT: /* a NULL pointer is NULL there, too */
        return sqlite3_bind_text64(s, at, v->data, v->n, SQLITE_STATIC, SQLITE_UTF8);
    default:
        return sqlite3_bind_blob64(s, at, v->data, v->n, SQLITE_STATIC);
    }
}

static cuzk_status prepare(const struct journal *j, sqlite3_stmt **out, const char *sql,
                           const struct value *values, int n_values, const char *doing,
                           struct cuzk_error *err) {
    *out = NULL;
    int code = sqlite3_prepare_v2(j->db, sql, -1, out, NULL);
    for (int i = 0; code == SQLITE_OK && i < n_values; i++)
        code = bind(*out, i + 1, &values[i]);
    if (code == SQLITE_OK) return CUZK_OK;
    const cuzk_status s = sqlite_failure(j, doing, err);
    sqlite3_finalize(*out);
    *out = NULL;
    return s;
}

/* Runs a statement that changes something; it is on the disk when this returns. */
static cuzk_status change(struct journal *j, const char *sql, const struct value *values,
                          int n_values, int *n_changed, const char *doing, struct cuzk_error *err) {
    sqlite3_stmt *stmt;
    CUZK_TRY(prepare(j, &stmt, sql, values, n_values, doing, err));
    const int code = sqlite3_step(stmt);
    const cuzk_status s = code == SQLITE_DONE ? CUZK_OK : sqlite_failure(j, doing, err);
    *n_changed = sqlite3_changes(j->db);
    sqlite3_finalize(stmt);
    return s;
}

static cuzk_status execute(const struct journal *j, const char *sql, const char *doing,
                           struct cuzk_error *err) {
    if (sqlite3_exec(j->db, sql, NULL, NULL, NULL) == SQLITE_OK) return CUZK_OK;
    return sqlite_failure(j, doing, err);
}

/* The first column of the first row, as text. */
static cuzk_status ask(const struct journal *j, const char *sql, char *out, size_t out_bytes,
                       struct cuzk_error *err) {
    sqlite3_stmt *stmt;
    CUZK_TRY(prepare(j, &stmt, sql, NULL, 0, "opening", err));
    cuzk_status s = CUZK_OK;
    if (sqlite3_step(stmt) == SQLITE_ROW) {
        const unsigned char *t = sqlite3_column_text(stmt, 0);
        snprintf(out, out_bytes, "%s", t != NULL ? (const char *)t : "");
    } else {
        s = sqlite_failure(j, "opening", err);
    }
    sqlite3_finalize(stmt);
    return s;
}

/* ---- opening ---- */

static cuzk_status take_folder(struct journal *j, struct cuzk_error *err) {
    char path[PATH_BYTES];
    CUZK_TRY(journal_folder_make(j->dir, err));
    snprintf(path, sizeof path, "%s/lock", j->dir);
    j->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (j->lock_fd < 0) return journal_file_failure(path, "opening", errno, err);
    if (flock(j->lock_fd, LOCK_EX | LOCK_NB) == 0) return CUZK_OK;
    if (errno != EWOULDBLOCK) return journal_file_failure(path, "locking", errno, err);
    return error_set(err, CUZK_STATE, j->dir, "end it, or give this one a folder of its own",
                     "another daemon uses this state folder");
}

static const char create_tables[] =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE job (seq INTEGER PRIMARY KEY AUTOINCREMENT, job_id TEXT NOT NULL UNIQUE,"
    " request_id TEXT NOT NULL, payload_digest BLOB NOT NULL, proof_kind INTEGER NOT NULL,"
    " priority INTEGER NOT NULL, miner_id INTEGER NOT NULL, has_miner INTEGER NOT NULL,"
    " sector_number INTEGER NOT NULL, n_partitions INTEGER NOT NULL,"
    " submitted_unix_ms INTEGER NOT NULL, state INTEGER NOT NULL, message TEXT);"
    "CREATE TABLE partition (seq INTEGER NOT NULL REFERENCES job(seq) ON DELETE CASCADE,"
    " number INTEGER NOT NULL, proof BLOB NOT NULL, PRIMARY KEY (seq, number)) WITHOUT ROWID;"
    "PRAGMA user_version = 1;"
    "COMMIT;";

static cuzk_status open_schema(struct journal *j, struct cuzk_error *err) {
    char version[24];
    CUZK_TRY(ask(j, "PRAGMA user_version", version, sizeof version, err));
    const int v = atoi(version);
    if (v == SCHEMA_VERSION) return CUZK_OK;
    if (v != 0)
        return error_set(err, CUZK_STATE, j->dir, "use the version of cuzk that made it",
                         "its database has version %d; this program knows %d", v, SCHEMA_VERSION);
    const cuzk_status s = execute(j, create_tables, "making the tables", err);
    if (s != CUZK_OK && !sqlite3_get_autocommit(j->db))
        sqlite3_exec(j->db, "ROLLBACK", NULL, NULL, NULL);
    return s;
}

static cuzk_status open_database(struct journal *j, struct cuzk_error *err) {
    char path[PATH_BYTES], answer[200];
    snprintf(path, sizeof path, "%s/journal.sqlite3", j->dir);
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path, &j->db, flags, NULL) != SQLITE_OK) {
        if (j->db == NULL)
            return error_set(err, CUZK_NO_MEMORY, path, NULL, "no memory for SQLite");
        return sqlite_failure(j, "opening the database", err);
    }
    sqlite3_extended_result_codes(j->db, 1);
    /* One process has it, by our own lock: the index of the WAL need not be shared memory. */
    CUZK_TRY(execute(j, "PRAGMA locking_mode = EXCLUSIVE", "opening the database", err));
    CUZK_TRY(ask(j, "PRAGMA journal_mode = WAL", answer, sizeof answer, err));
    if (strcmp(answer, "wal") != 0)
        return error_set(err, CUZK_STATE, j->dir, "use a folder on a local disk",
                         "SQLite cannot keep a write-ahead log here (%.40s)", answer);
    CUZK_TRY(execute(j, "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON",
                     "opening the database", err));
    CUZK_TRY(ask(j, "PRAGMA quick_check(1)", answer, sizeof answer, err));
    static const char heading[] = "*** in database main ***\n";
    const bool headed = strncmp(answer, heading, sizeof heading - 1) == 0;
    if (strcmp(answer, "ok") != 0)
        return damaged(j, headed ? answer + sizeof heading - 1 : answer, err);
    return open_schema(j, err);
}

/* Is this the payload of a job that is open? */
static bool payload_is_wanted(void *ctx, const char *name) {
    const struct journal *j = ctx;
    const struct value id = text(name);
    sqlite3_stmt *stmt;
    if (prepare(j, &stmt, "SELECT 1 FROM job WHERE job_id = ? AND state = 0", &id, 1, "opening",
                NULL) != CUZK_OK)
        return true; /* not known: leave it */
    const bool wanted = sqlite3_step(stmt) != SQLITE_DONE;
    sqlite3_finalize(stmt);
    return wanted;
}

cuzk_status journal_open(struct journal **out, const char *dir, struct cuzk_error *err) {
    *out = NULL;
    struct journal *j = calloc(1, sizeof *j);
    if (j == NULL) return error_set(err, CUZK_NO_MEMORY, dir, NULL, "%zu bytes", sizeof *j);
    lock_init(&j->lock, LOCK_JOURNAL);
    j->lock_fd = -1;
    cuzk_status s = CUZK_OK;
    if ((size_t)snprintf(j->dir, sizeof j->dir, "%s", dir) >= sizeof j->dir)
        s = error_set(err, CUZK_STATE, dir, "give a shorter path", "the path is too long");
    if (s == CUZK_OK) s = take_folder(j, err);
    if (s == CUZK_OK) s = open_database(j, err);
    if (s == CUZK_OK) s = journal_payloads_sweep(j->dir, payload_is_wanted, j, err);
    if (s != CUZK_OK) {
        journal_close(j);
        return s;
    }
    *out = j;
    return CUZK_OK;
}

void journal_close(struct journal *j) {
    if (j == NULL) return;
    sqlite3_close(j->db);
    if (j->lock_fd >= 0) close(j->lock_fd);
    lock_destroy(&j->lock);
    free(j);
}

/* ---- records ---- */

static bool is_job_id(const char *id) {
    const size_t n = strnlen(id, JOURNAL_ID_BYTES);
    return n > 0 && n < JOURNAL_ID_BYTES &&
           strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == n;
}

static cuzk_status insert_job(struct journal *j, const struct journal_job *job,
                              struct cuzk_error *err) {
    const struct value values[] = {
        text(job->job_id),
        text(job->request_id != NULL ? job->request_id : ""),
        blob(job->payload_digest, sizeof job->payload_digest),
        number(job->proof_kind),
        number(job->priority),
        number(job->miner_id),
        number(job->has_miner),
        number(job->sector_number),
        number(job->n_partitions),
        number((uint64_t)job->submitted_unix_ms),
    };
    int n;
    return change(j,
                  "INSERT INTO job (job_id, request_id, payload_digest, proof_kind, priority,"
                  " miner_id, has_miner, sector_number, n_partitions, submitted_unix_ms, state)"
                  " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
                  values, sizeof values / sizeof values[0], &n, "recording a job", err);
}

static cuzk_status check_new(const struct journal *j, const char *job_id, struct cuzk_error *err) {
    const struct value id = text(job_id);
    sqlite3_stmt *stmt;
    CUZK_TRY(
        prepare(j, &stmt, "SELECT 1 FROM job WHERE job_id = ?", &id, 1, "recording a job", err));
    const int code = sqlite3_step(stmt);
    cuzk_status s = CUZK_OK;
    if (code == SQLITE_ROW)
        s = error_set(err, CUZK_INTERNAL, "journal", "report this", "there is a job %.40s", job_id);
    else if (code != SQLITE_DONE)
        s = sqlite_failure(j, "recording a job", err);
    sqlite3_finalize(stmt);
    return s;
}

/* The payload first: a row without its payload could not be taken up. */
static cuzk_status accept_new(struct journal *j, const struct journal_job *job, const void *payload,
                              size_t payload_bytes, struct cuzk_error *err) {
    CUZK_TRY(check_new(j, job->job_id, err));
    CUZK_TRY(journal_payload_write(j->dir, job->job_id, payload, payload_bytes, err));
    const cuzk_status s = insert_job(j, job, err);
    if (s != CUZK_OK) journal_payload_remove(j->dir, job->job_id);
    return s;
}

cuzk_status journal_accept(struct journal *j, const struct journal_job *job, const void *payload,
                           size_t payload_bytes, struct cuzk_error *err) {
    if (!is_job_id(job->job_id) || job->n_partitions > MAX_PARTITIONS)
        return error_set(err, CUZK_INTERNAL, "journal", "report this",
                         "the job '%.40s' of %u partitions", job->job_id, job->n_partitions);
    lock_take(&j->lock);
    const cuzk_status s = accept_new(j, job, payload, payload_bytes, err);
    lock_give(&j->lock);
    return s;
}

static cuzk_status change_job(struct journal *j, const char *sql, const struct value *values,
                              int n_values, const char *job_id, bool drop_payload,
                              const char *doing, struct cuzk_error *err) {
    int n = 0;
    lock_take(&j->lock);
    cuzk_status s = change(j, sql, values, n_values, &n, doing, err);
    if (s == CUZK_OK && n == 0) s = unknown_job(job_id, err);
    /* One that cannot be removed goes at the next opening. */
    if (s == CUZK_OK && drop_payload && is_job_id(job_id)) journal_payload_remove(j->dir, job_id);
    lock_give(&j->lock);
    return s;
}

cuzk_status journal_partition(struct journal *j, const char *job_id, unsigned partition,
                              const uint8_t proof[JOURNAL_PROOF_BYTES], struct cuzk_error *err) {
    const struct value values[] = {
        number(partition),
        blob(proof, JOURNAL_PROOF_BYTES),
        text(job_id),
        number(partition),
    };
    return change_job(
        j,
        "INSERT OR REPLACE INTO partition (seq, number, proof)"
        " SELECT seq, ?, ? FROM job WHERE job_id = ? AND state = 0 AND ? < n_partitions",
        values, 4, job_id, false, "recording a partition", err);
}

cuzk_status journal_outcome(struct journal *j, const char *job_id, enum journal_state state,
                            const char *message, struct cuzk_error *err) {
    const struct value values[] = {
        number((uint64_t)state),
        text(state == JOURNAL_FAILED ? message : NULL),
        text(job_id),
    };
    return change_job(j, "UPDATE job SET state = ?, message = ? WHERE job_id = ?", values, 3,
                      job_id, state != JOURNAL_OPEN, "recording an outcome", err);
}

cuzk_status journal_forget(struct journal *j, const char *job_id, struct cuzk_error *err) {
    const struct value id = text(job_id);
    return change_job(j, "DELETE FROM job WHERE job_id = ?", &id, 1, job_id, true, "removing a job",
                      err);
}

/* ---- replay ---- */

/* A job read into memory of its own, so that fn may call the journal. */
struct loaded {
    struct journal_entry entry;
    char *request_id, *message, *path;
    bool *done;
    uint8_t *proofs;
};

static void loaded_free(struct loaded *l) {
    free(l->request_id);
    free(l->message);
    free(l->path);
    free(l->done);
    free(l->proofs);
}

static char *column_copy(sqlite3_stmt *row, int column) {
    const unsigned char *t = sqlite3_column_text(row, column);
    return t != NULL ? strdup((const char *)t) : NULL;
}

static cuzk_status no_memory(struct cuzk_error *err) {
    return error_set(err, CUZK_NO_MEMORY, "state folder", NULL, "no memory for a job's record");
}

static cuzk_status load_head(const struct journal *j, struct loaded *l, sqlite3_stmt *row,
                             struct cuzk_error *err) {
    struct journal_job *job = &l->entry.job;
    const unsigned char *id = sqlite3_column_text(row, 0);
    const sqlite3_int64 n = sqlite3_column_int64(row, 8), state = sqlite3_column_int64(row, 10);
    if (id == NULL || !is_job_id((const char *)id)) return damaged(j, "a job's id", err);
    if (sqlite3_column_bytes(row, 2) != JOURNAL_DIGEST_BYTES || n < 0 || n > MAX_PARTITIONS ||
        state < JOURNAL_OPEN || state > JOURNAL_CANCELLED)
        return damaged(j, (const char *)id, err);
    snprintf(job->job_id, sizeof job->job_id, "%s", (const char *)id);
    memcpy(job->payload_digest, sqlite3_column_blob(row, 2), JOURNAL_DIGEST_BYTES);
    job->proof_kind = (uint32_t)sqlite3_column_int64(row, 3);
    job->priority = (uint32_t)sqlite3_column_int64(row, 4);
    job->miner_id = (uint64_t)sqlite3_column_int64(row, 5);
    job->has_miner = sqlite3_column_int64(row, 6) != 0;
    job->sector_number = (uint64_t)sqlite3_column_int64(row, 7);
    job->n_partitions = (uint32_t)n;
    job->submitted_unix_ms = sqlite3_column_int64(row, 9);
    l->entry.state = (enum journal_state)state;
    l->request_id = column_copy(row, 1);
    l->message = column_copy(row, 11);
    l->done = calloc((size_t)n + 1, sizeof *l->done);
    l->proofs = calloc((size_t)n + 1, JOURNAL_PROOF_BYTES);
    if (l->entry.state == JOURNAL_OPEN) l->path = journal_payload_path(j->dir, job->job_id);
    if (l->request_id == NULL || l->done == NULL || l->proofs == NULL ||
        (l->entry.state == JOURNAL_OPEN && l->path == NULL))
        return no_memory(err);
    job->request_id = l->request_id;
    l->entry.message = l->message;
    l->entry.done = l->done;
    l->entry.proofs = l->proofs;
    l->entry.payload_path = l->path;
    return CUZK_OK;
}

static cuzk_status load_partitions(const struct journal *j, struct loaded *l, sqlite3_int64 seq,
                                   struct cuzk_error *err) {
    const struct value key = number((uint64_t)seq);
    sqlite3_stmt *rows;
    CUZK_TRY(prepare(j, &rows, "SELECT number, proof FROM partition WHERE seq = ?", &key, 1,
                     "reading a job", err));
    cuzk_status s = CUZK_OK;
    int code;
    while (s == CUZK_OK && (code = sqlite3_step(rows)) != SQLITE_DONE) {
        const sqlite3_int64 k = code == SQLITE_ROW ? sqlite3_column_int64(rows, 0) : 0;
        if (code != SQLITE_ROW)
            s = sqlite_failure(j, "reading a job", err);
        else if (k < 0 || k >= l->entry.job.n_partitions ||
                 sqlite3_column_bytes(rows, 1) != JOURNAL_PROOF_BYTES)
            s = damaged(j, l->entry.job.job_id, err);
        else {
            memcpy(l->proofs + (size_t)k * JOURNAL_PROOF_BYTES, sqlite3_column_blob(rows, 1),
                   JOURNAL_PROOF_BYTES);
            l->done[k] = true;
        }
    }
    sqlite3_finalize(rows);
    return s;
}

/* Loads the first job after *seq; *found false: there is none. */
static cuzk_status load_next(const struct journal *j, struct loaded *l, sqlite3_int64 *seq,
                             bool *found, struct cuzk_error *err) {
    const struct value after = number((uint64_t)*seq);
    sqlite3_stmt *row;
    CUZK_TRY(prepare(j, &row,
                     "SELECT job_id, request_id, payload_digest, proof_kind, priority, miner_id,"
                     " has_miner, sector_number, n_partitions, submitted_unix_ms, state, message,"
                     " seq FROM job WHERE seq > ? ORDER BY seq LIMIT 1",
                     &after, 1, "reading a job", err));
    const int code = sqlite3_step(row);
    cuzk_status s = CUZK_OK;
    *found = code == SQLITE_ROW;
    if (*found) {
        *seq = sqlite3_column_int64(row, 12);
        s = load_head(j, l, row, err);
    } else if (code != SQLITE_DONE) {
        s = sqlite_failure(j, "reading a job", err);
    }
    sqlite3_finalize(row);
    if (*found && s == CUZK_OK) s = load_partitions(j, l, *seq, err);
    return s;
}

cuzk_status journal_replay(struct journal *j,
                           cuzk_status (*fn)(void *ctx, const struct journal_entry *e,
                                             struct cuzk_error *err),
                           void *ctx, struct cuzk_error *err) {
    sqlite3_int64 seq = 0;
    bool found = true;
    cuzk_status s = CUZK_OK;
    while (s == CUZK_OK && found) {
        struct loaded l = {0};
        lock_take(&j->lock);
        s = load_next(j, &l, &seq, &found, err);
        lock_give(&j->lock);
        if (s == CUZK_OK && found) s = fn(ctx, &l.entry, err);
        loaded_free(&l);
    }
    return s;
}
