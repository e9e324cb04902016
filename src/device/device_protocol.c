#include "device_protocol.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "error.h"
#include "utf8.h"

enum { MAGIC = 0x6b7a7563, VERSION = 1 };

static_assert(sizeof(struct device_message) <= DEVICE_MESSAGE_MAX, "messages are small");

#define BODY(member) sizeof(((struct device_message *)NULL)->body.member)

/* For each kind its name, its direction, and the bytes of its body. */
static const struct {
    const char *name;
    enum device_direction direction;
    size_t bytes;
} kinds[DEVICE_MESSAGE_KINDS] = {
    [DEVICE_CONFIGURE] = {"CONFIGURE", TO_DEVICE, BODY(configure)},
    [DEVICE_PING] = {"PING", TO_DEVICE, BODY(ping)},
    [DEVICE_LOAD] = {"LOAD", TO_DEVICE, BODY(circuit)},
    [DEVICE_EVICT] = {"EVICT", TO_DEVICE, BODY(circuit)},
    [DEVICE_SLAB] = {"SLAB", TO_DEVICE, BODY(slab)},
    [DEVICE_DROP_SLAB] = {"DROP_SLAB", TO_DEVICE, BODY(slab)},
    [DEVICE_PROVE] = {"PROVE", TO_DEVICE, BODY(prove)},
    [DEVICE_CANCEL] = {"CANCEL", TO_DEVICE, BODY(cancel)},
    [DEVICE_QUIT] = {"QUIT", TO_DEVICE, 0},
    [DEVICE_UP] = {"UP", FROM_DEVICE, BODY(up)},
    [DEVICE_FATAL] = {"FATAL", FROM_DEVICE, BODY(failure)},
    [DEVICE_PONG] = {"PONG", FROM_DEVICE, BODY(pong)},
    [DEVICE_LOADED] = {"LOADED", FROM_DEVICE, BODY(report)},
    [DEVICE_LOAD_FAILED] = {"LOAD_FAILED", FROM_DEVICE, BODY(failure)},
    [DEVICE_EVICTED] = {"EVICTED", FROM_DEVICE, BODY(report)},
    [DEVICE_PROGRESS] = {"PROGRESS", FROM_DEVICE, BODY(progress)},
    [DEVICE_STARTED] = {"STARTED", FROM_DEVICE, BODY(started)},
    [DEVICE_PROVED] = {"PROVED", FROM_DEVICE, BODY(proved)},
    [DEVICE_FAILED] = {"FAILED", FROM_DEVICE, BODY(failure)},
};

const char *device_message_name(unsigned kind) {
    return kind > 0 && kind < DEVICE_MESSAGE_KINDS ? kinds[kind].name : "unknown";
}

void device_message_init(struct device_message *m, enum device_message_kind kind) {
    memset(m, 0, sizeof *m);
    m->head = (struct device_head){
        .magic = MAGIC,
        .version = VERSION,
        .kind = (uint16_t)kind,
        .bytes = (uint32_t)(sizeof m->head + kinds[kind].bytes),
    };
}

static bool is_control(char c) {
    return (unsigned char)c < ' ' || c == 0x7f;
}

bool device_text_set(char *out, size_t out_bytes, const char *text) {
    memset(out, 0, out_bytes);
    const size_t n = strlen(text);
    for (size_t i = 0; i < n; i++)
        if (is_control(text[i])) return false;
    if (n >= out_bytes) return false;
    memcpy(out, text, n);
    return true;
}

/* A text that may be cut, as those of an error record are, and that quotes who knows what. */
static void copy_cut(char *out, size_t out_bytes, const char *text) {
    memset(out, 0, out_bytes);
    for (size_t i = 0; i + 1 < out_bytes && text[i] != '\0'; i++)
        out[i] = is_control(text[i]) ? ' ' : text[i];
}

void device_failure_set(struct device_failure *f, const struct cuzk_error *err) {
    f->code = err->code;
    copy_cut(f->where, sizeof f->where, err->where);
    copy_cut(f->what, sizeof f->what, err->what);
    copy_cut(f->hint, sizeof f->hint, err->hint);
}

void device_failure_get(const struct device_failure *f, struct cuzk_error *err) {
    *err = (struct cuzk_error){.code = (cuzk_status)f->code};
    copy_cut(err->where, sizeof err->where, f->where);
    copy_cut(err->what, sizeof err->what, f->what);
    copy_cut(err->hint, sizeof err->hint, f->hint);
}

/* ---- checks: each returns NULL, or what is wrong ---- */

/* Printable text with its end in the field, and nothing after it. */
static bool text_good(const char *text, size_t n_bytes) {
    const char *end = memchr(text, '\0', n_bytes);
    if (end == NULL) return false;
    for (const char *c = text; c < end;) {
        const size_t n = is_control(*c) ? 0 : utf8_character_bytes(c);
        if (n == 0) return false;
        c += n;
    }
    for (const char *c = end; c < text + n_bytes; c++)
        if (*c != '\0') return false;
    return true;
}

#define TEXT_GOOD(field) text_good(field, sizeof(field))

static const char *check_id(const char id[CIRCUIT_ID_BYTES], bool wanted) {
    if (!text_good(id, CIRCUIT_ID_BYTES)) return "the circuit's id is no text";
    if ((id[0] != '\0') != wanted) return wanted ? "a circuit's id is missing" : "a circuit's id";
    return NULL;
}

static const char *check_configure(const struct device_configure *c) {
    if (!TEXT_GOOD(c->backend) || c->backend[0] == '\0') return "the backend is no text";
    if (!TEXT_GOOD(c->options)) return "the options are no text";
    if (c->workers == 0 || c->workers > DEVICE_MAX_TASKS ||
        c->pendings > DEVICE_MAX_TASKS - c->workers)
        return "the numbers of workers and pendings";
    if (c->threads == 0 || c->threads > DEVICE_MAX_THREADS) return "the number of threads";
    return c->zero != 0 ? "padding" : NULL;
}

static const char *check_circuit(const struct device_circuit_request *c, bool load) {
    if (!TEXT_GOOD(c->path)) return "the path is no text";
    if ((c->path[0] != '\0') != load) return "the path";
    return check_id(c->circuit_id, true);
}

static const char *check_slab(const struct device_slab *s, bool announced) {
    if (s->slab_id == 0) return "the slab's number";
    return (s->bytes != 0) != announced || s->bytes > INT64_MAX ? "the slab's size" : NULL;
}

static const char *check_prove(const struct device_prove *p) {
    if (p->task == 0) return "the task's number";
    if (p->slab_id == 0 || p->witness_bytes == 0) return "the witness";
    if (p->fixed_blinding > 1 || p->zero != 0) return "a flag";
    return check_id(p->circuit_id, true);
}

static const char *check_seconds(double s) {
    return isfinite(s) && s >= 0 ? NULL : "a time";
}

static const char *check_timings(const struct device_seconds *s) {
    const struct prover_timings *p = &s->prover;
    const double all[] = {s->queue, p->evaluate, p->transform, p->msm_h,    p->msm_l,
                          p->msm_a, p->msm_b_g1, p->start,     p->msm_b_g2, p->finish};
    static_assert(sizeof all == sizeof *s, "every time is looked at");
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (check_seconds(all[i]) != NULL) return check_seconds(all[i]);
    return NULL;
}

static const char *check_up(const struct device_up *u) {
    if (!TEXT_GOOD(u->name) || u->name[0] == '\0') return "the name is no text";
    return TEXT_GOOD(u->backend) && u->backend[0] != '\0' ? NULL : "the backend is no text";
}

static const char *check_pong(const struct device_pong *p) {
    for (int c = 0; c < MEM_CLASSES; c++)
        if (p->class_bytes[c] > INT64_MAX || p->class_high_water[c] > INT64_MAX)
            return "a number of bytes";
    return NULL;
}

static const char *check_report(const struct device_circuit_report *r) {
    if (r->srs_bytes > INT64_MAX || r->matrices_bytes > INT64_MAX) return "a number of bytes";
    if (check_seconds(r->seconds) != NULL) return check_seconds(r->seconds);
    if (r->development > 1 || r->zero != 0) return "a flag";
    return check_id(r->circuit_id, true);
}

static const char *check_progress(const struct device_progress *p) {
    if (!TEXT_GOOD(p->phase) || p->phase[0] == '\0') return "the phase is no text";
    if (p->total != 0 && p->done > p->total) return "more is done than there is";
    return check_id(p->circuit_id, p->task == 0);
}

static const char *check_failure(const struct device_failure *f, unsigned kind) {
    if (f->code == CUZK_OK || f->code >= CUZK_STATUS_COUNT) return "the code";
    if (!TEXT_GOOD(f->where) || !TEXT_GOOD(f->what) || !TEXT_GOOD(f->hint))
        return "the error's text is none";
    if ((f->task != 0) != (kind == DEVICE_FAILED)) return "the task's number";
    if (f->zero != 0) return "padding";
    return check_id(f->circuit_id, kind == DEVICE_LOAD_FAILED);
}

static const char *check_body(const struct device_message *m) {
    switch ((enum device_message_kind)m->head.kind) {
    case DEVICE_CONFIGURE:
        return check_configure(&m->body.configure);
    case DEVICE_LOAD:
        return check_circuit(&m->body.circuit, true);
    case DEVICE_EVICT:
        return check_circuit(&m->body.circuit, false);
    case DEVICE_SLAB:
        return check_slab(&m->body.slab, true);
    case DEVICE_DROP_SLAB:
        return check_slab(&m->body.slab, false);
    case DEVICE_PROVE:
        return check_prove(&m->body.prove);
    case DEVICE_CANCEL:
        return m->body.cancel.task != 0 ? NULL : "the task's number";
    case DEVICE_UP:
        return check_up(&m->body.up);
    case DEVICE_PONG:
        return check_pong(&m->body.pong);
    case DEVICE_LOADED:
    case DEVICE_EVICTED:
        return check_report(&m->body.report);
    case DEVICE_PROGRESS:
        return check_progress(&m->body.progress);
    case DEVICE_STARTED:
        if (m->body.started.task == 0) return "the task's number";
        return check_timings(&m->body.started.seconds);
    case DEVICE_PROVED:
        if (m->body.proved.task == 0) return "the task's number";
        return check_timings(&m->body.proved.seconds);
    case DEVICE_FATAL:
    case DEVICE_LOAD_FAILED:
    case DEVICE_FAILED:
        return check_failure(&m->body.failure, m->head.kind);
    case DEVICE_PING:
    case DEVICE_QUIT:
    case DEVICE_MESSAGE_KINDS:
        break;
    }
    return NULL;
}

static cuzk_status bad_message(const char *name, const char *fault, struct cuzk_error *err) {
    return error_set(err, CUZK_DEVICE_PROTOCOL, name, "report this", "%s", fault);
}

cuzk_status device_message_decode(struct device_message *out, const void *data, size_t n_bytes,
                                  enum device_direction direction, struct cuzk_error *err) {
    const struct device_head *head = &out->head;
    if (n_bytes < sizeof *head || n_bytes > sizeof *out)
        return bad_message("message", "its length is of no message", err);
    memset(out, 0, sizeof *out);
    memcpy(out, data, n_bytes);
    if (head->magic != MAGIC || head->zero != 0)
        return bad_message("message", "its first bytes are not a message's", err);
    if (head->version != VERSION)
        return error_set(err, CUZK_DEVICE_PROTOCOL, "message",
                         "install daemon and device of one build",
                         "the version is %u instead of %u", head->version, VERSION);
    if (head->kind == 0 || head->kind >= DEVICE_MESSAGE_KINDS)
        return bad_message("message", "its kind is unknown", err);
    if (kinds[head->kind].direction != direction)
        return bad_message(kinds[head->kind].name, "it came from the wrong end", err);
    if (head->bytes != n_bytes || n_bytes != sizeof *head + kinds[head->kind].bytes)
        return bad_message(kinds[head->kind].name, "its length is not the kind's", err);
    const char *fault = check_body(out);
    return fault != NULL ? bad_message(kinds[head->kind].name, fault, err) : CUZK_OK;
}

/* ---- the socket ---- */

enum { MAX_FDS = 4 }; /* that are received, so as to be closed */

/* Every descriptor that came; returns how many. */
static int take_fds(const struct msghdr *h, int fds[MAX_FDS]) {
    int n = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c != NULL;
         c = CMSG_NXTHDR((struct msghdr *)(uintptr_t)h, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
        const int here = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        for (int i = 0; i < here && n < MAX_FDS; i++)
            memcpy(&fds[n++], CMSG_DATA(c) + (size_t)i * sizeof(int), sizeof(int));
    }
    return n;
}

cuzk_status device_receive(int socket, struct device_message *out, int *fd,
                           enum device_receipt *receipt, enum device_direction direction,
                           struct cuzk_error *err) {
    uint8_t data[DEVICE_MESSAGE_MAX];
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(MAX_FDS * sizeof(int))];
    } control;
    struct iovec io = {.iov_base = data, .iov_len = sizeof data};
    struct msghdr h = {.msg_iov = &io,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof control.bytes};
    *fd = -1;
    *receipt = RECEIVED_NOTHING;
    const ssize_t n = recvmsg(socket, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return CUZK_OK;
    if (n <= 0) { /* nobody sends an empty packet: a reset or the end */
        *receipt = RECEIVED_END;
        return CUZK_OK;
    }
    *receipt = RECEIVED;
    int fds[MAX_FDS];
    const int n_fds = take_fds(&h, fds);
    cuzk_status s = (h.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0
                        ? bad_message("message", "it is too long", err)
                        : device_message_decode(out, data, (size_t)n, direction, err);
    if (s == CUZK_OK && n_fds != (out->head.kind == DEVICE_SLAB ? 1 : 0))
        s = bad_message(kinds[out->head.kind].name, "the number of its descriptors", err);
    if (s == CUZK_OK && n_fds == 1) {
        *fd = fds[0];
        return CUZK_OK;
    }
    for (int i = 0; i < n_fds; i++)
        close(fds[i]);
    return s;
}

enum device_sending device_send(int socket, const struct device_message *m, int fd, bool wait) {
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.bytes = {0}};
    struct iovec io = {.iov_base = (void *)(uintptr_t)m, .iov_len = m->head.bytes};
    struct msghdr h = {.msg_iov = &io, .msg_iovlen = 1};
    if (fd >= 0) {
        h.msg_control = control.bytes;
        h.msg_controllen = sizeof control.bytes;
        struct cmsghdr *c = CMSG_FIRSTHDR(&h);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &fd, sizeof(int));
    }
    for (;;) {
        if (sendmsg(socket, &h, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT)) >= 0) return SENT;
        if (errno == EINTR) continue;
        return errno == EAGAIN || errno == ENOBUFS ? SEND_LATER : SEND_FAILED;
    }
}
