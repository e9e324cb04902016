#include "device_fake.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "device_runner.h"
#include "error.h"

enum lie { LIE_NO_MESSAGE = 1, LIE_UNKNOWN_TASK, LIE_EARLY, LIE_TWICE };

struct fake {
    unsigned load_ms, start_ms, delay_ms;
    unsigned refuse_load, fail_up, fail_at, invalid_at, crash_at, crash_finish_at, hang_at,
        hang_finish_at, mute_at, lie_at, lie, leak_kib;
    int socket;
    _Atomic unsigned starts, finishes;
    atomic_bool mute;
    _Atomic(void *) leaked; /* the last block; each points to the one before */
};

/* What start leaves for finish. */
struct fake_pending {
    uint8_t digest[SHA256_BYTES];
    bool invalid;
};

void fake_witness_digest(uint8_t digest[SHA256_BYTES], const void *witness, size_t n_bytes) {
    sha256(digest, witness, n_bytes);
}

void fake_proof(uint8_t proof[PROOF_BYTES], uint64_t task, const uint8_t digest[SHA256_BYTES]) {
    static const char label[15] = "cuzk fake proof"; /* without a NUL */
    uint8_t text[sizeof label + 1 + 8 + SHA256_BYTES];
    memcpy(text, label, sizeof label);
    for (size_t i = 0; i < 8; i++)
        text[sizeof label + 1 + i] = (uint8_t)(task >> 8 * i);
    memcpy(text + sizeof label + 9, digest, SHA256_BYTES);
    for (uint8_t i = 0; i < PROOF_BYTES / SHA256_BYTES; i++) {
        text[sizeof label] = i;
        sha256(proof + i * SHA256_BYTES, text, sizeof text);
    }
    proof[0] = 0;
}

/* ---- options ---- */

static cuzk_status set_option(struct fake *f, const char *word, size_t n, struct cuzk_error *err) {
    const struct {
        const char *name;
        unsigned *value;
    } all[] = {
        {"load_ms", &f->load_ms},
        {"start_ms", &f->start_ms},
        {"delay_ms", &f->delay_ms},
        {"refuse_load", &f->refuse_load},
        {"fail_up", &f->fail_up},
        {"fail_at", &f->fail_at},
        {"invalid_at", &f->invalid_at},
        {"crash_at", &f->crash_at},
        {"crash_finish_at", &f->crash_finish_at},
        {"hang_at", &f->hang_at},
        {"hang_finish_at", &f->hang_finish_at},
        {"mute_at", &f->mute_at},
        {"lie_at", &f->lie_at},
        {"lie", &f->lie},
        {"leak_kib", &f->leak_kib},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const size_t name = strlen(all[i].name);
        if (n <= name + 1 || n > name + 9 || memcmp(word, all[i].name, name) != 0 ||
            word[name] != '=' || strspn(word + name + 1, "0123456789") != n - name - 1)
            continue;
        *all[i].value = (unsigned)strtoul(word + name + 1, NULL, 10);
        return CUZK_OK;
    }
    return error_set(err, CUZK_CONFIG, "options of the fake device", "see device_fake.h",
                     "\"%.*s\" is no option", (int)n, word);
}

static cuzk_status parse(struct fake *f, const char *text, struct cuzk_error *err) {
    f->lie = LIE_NO_MESSAGE;
    while (*text != '\0') {
        const size_t n = strcspn(text, ",");
        CUZK_TRY(set_option(f, text, n, err));
        text += n + (text[n] == ',');
    }
    return CUZK_OK;
}

static cuzk_status fake_create(void **self, const struct runner_config *config,
                               char name[DEVICE_NAME_BYTES], struct cuzk_error *err) {
    struct fake *f = calloc(1, sizeof *f);
    *self = f;
    if (f == NULL) return error_set(err, CUZK_NO_MEMORY, "fake", NULL, "no memory for it");
    CUZK_TRY(parse(f, config->options, err));
    f->socket = config->socket;
    snprintf(name, DEVICE_NAME_BYTES, "fake (%u workers)", config->workers);
    if (f->fail_up != 0)
        return error_set(err, CUZK_INTERNAL, "self-test", NULL, "it fails, as it was told to");
    const struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core); /* its crashes are of no interest */
    return CUZK_OK;
}

/* ---- behaviour ---- */

static cuzk_status wait_ms(unsigned ms, const struct progress *progress, struct cuzk_error *err) {
    for (unsigned i = 0; i < ms && !progress_cancelled(progress); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    if (progress_cancelled(progress))
        return error_set(err, CUZK_CANCELLED, NULL, NULL, "the proof was cancelled");
    return CUZK_OK;
}

static void hang(void) {
    for (;;)
        pause();
}

static void leak(struct fake *f) {
    if (f->leak_kib == 0) return;
    void **block = malloc((size_t)f->leak_kib * 1024);
    if (block == NULL) return;
    memset(block, 0xa5, (size_t)f->leak_kib * 1024);
    *block = atomic_exchange(&f->leaked, block);
}

static void send_proof(const struct fake *f, uint64_t task) {
    struct device_message m;
    device_message_init(&m, DEVICE_PROVED);
    m.body.proved.task = task;
    device_send(f->socket, &m, -1, true);
}

static void tell_lie(const struct fake *f, uint64_t task) {
    struct device_message m;
    switch (f->lie) {
    case LIE_UNKNOWN_TASK:
        send_proof(f, ~task);
        break;
    case LIE_EARLY:
        send_proof(f, task);
        break;
    case LIE_TWICE: /* the second one comes as usual */
        device_message_init(&m, DEVICE_STARTED);
        m.body.started.task = task;
        device_send(f->socket, &m, -1, true);
        break;
    default:
        send(f->socket, "this is no message", 18, MSG_NOSIGNAL);
    }
}

static cuzk_status fake_load(void *self, struct runner_circuit *out, const char *circuit_id,
                             const char *path, const struct progress *progress,
                             struct cuzk_error *err) {
    struct fake *f = self;
    CUZK_TRY(wait_ms(f->load_ms, progress, err));
    if (f->refuse_load != 0)
        return error_set(err, CUZK_PARAM_MISSING, path, NULL,
                         "the fake device was told to load nothing");
    *out = (struct runner_circuit){.development = true};
    sha256(out->vkey_digest, circuit_id, strlen(circuit_id));
    return CUZK_OK;
}

static void fake_evict(void *self, void *circuit) {
    (void)self;
    (void)circuit;
}

static cuzk_status fake_start(void *self, struct runner_task *task, struct cuzk_error *err) {
    struct fake *f = self;
    const unsigned n = atomic_fetch_add(&f->starts, 1) + 1;
    leak(f);
    if (n == f->mute_at) atomic_store(&f->mute, true);
    if (n == f->hang_at || n == f->mute_at) hang();
    if (n == f->crash_at) abort();
    if (n == f->lie_at) tell_lie(f, task->task);
    if (n == f->fail_at) return error_set(err, CUZK_NO_MEMORY, "fake", NULL, "it was told to fail");
    CUZK_TRY(wait_ms(f->start_ms, task->progress, err));
    struct fake_pending *pending = malloc(sizeof *pending);
    if (pending == NULL) return error_set(err, CUZK_NO_MEMORY, "fake", NULL, "no pending proof");
    fake_witness_digest(pending->digest, task->witness, task->witness_bytes);
    pending->invalid = n == f->invalid_at;
    task->pending = pending;
    task->timings.start = f->start_ms * 1e-3;
    return CUZK_OK;
}

static cuzk_status fake_finish(void *self, struct runner_task *task, uint8_t proof[PROOF_BYTES],
                               struct cuzk_error *err) {
    struct fake *f = self;
    struct fake_pending *pending = task->pending;
    const unsigned n = atomic_fetch_add(&f->finishes, 1) + 1;
    if (n == f->hang_finish_at) hang();
    if (n == f->crash_finish_at) abort();
    CUZK_TRY(wait_ms(f->delay_ms, task->progress, err));
    if (pending->invalid) pending->digest[0] ^= 1;
    fake_proof(proof, task->task, pending->digest);
    task->timings.finish = f->delay_ms * 1e-3;
    return CUZK_OK;
}

static void fake_drop(void *self, struct runner_task *task) {
    (void)self;
    free(task->pending);
    task->pending = NULL;
}

static bool fake_answers(void *self) {
    const struct fake *f = self;
    return !atomic_load(&f->mute);
}

const struct runner runner_fake = {
    .name = "fake",
    .create = fake_create,
    .load = fake_load,
    .evict = fake_evict,
    .start = fake_start,
    .finish = fake_finish,
    .drop = fake_drop,
    .answers = fake_answers,
};
