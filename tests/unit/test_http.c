#include "unit/test_main.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "http_server.h"
#include "json_stream.h"
#include "snapshot_fixture.h"

/* ---- a small client ---- */

static int connect_to(unsigned port) {
    const struct sockaddr_in a = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&a, sizeof a) != 0) abort();
    return fd;
}

/* Reads until the other side closes, 10 s at the latest; NULL: that time has passed. */
static char *read_all(int fd) {
    size_t n = 0, room = 1 << 16;
    char *text = malloc(room);
    if (text == NULL) abort();
    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, 10000) != 1) break;
        if (room - n < 4096 && (text = realloc(text, room *= 2)) == NULL) abort();
        const ssize_t got = recv(fd, text + n, room - n - 1, 0);
        if (got <= 0) {
            text[n] = '\0';
            return text;
        }
        n += (size_t)got;
    }
    free(text);
    return NULL;
}

static void send_text(int fd, const char *text) {
    if (send(fd, text, strlen(text), MSG_NOSIGNAL) != (ssize_t)strlen(text)) abort();
}

/* The whole answer, header and body. */
static char *ask(unsigned port, const char *method, const char *path) {
    char request[256];
    snprintf(request, sizeof request,
             "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", method, path);
    const int fd = connect_to(port);
    send_text(fd, request);
    char *answer = read_all(fd);
    close(fd);
    return answer;
}

static const char *body_of(const char *answer) {
    const char *end = strstr(answer, "\r\n\r\n");
    assert_non_null(end);
    return end + 4;
}

static int status_of(const char *answer) {
    int status = 0;
    assert_int_equal(sscanf(answer, "HTTP/1.1 %d", &status), 1);
    return status;
}

static void expect_answer(unsigned port, const char *method, const char *path, int status,
                          const char *part) {
    char *answer = ask(port, method, path);
    assert_non_null(answer);
    assert_int_equal(status_of(answer), status);
    if (strstr(answer, part) == NULL)
        fail_msg("%s %s: no \"%s\" in: %s", method, path, part, answer);
    free(answer);
}

static struct http_server *serve(struct engine *e) {
    struct http_server *s = NULL;
    struct cuzk_error err;
    const cuzk_status status = http_server_create(&s, e, "127.0.0.1:0", &err);
    if (status != CUZK_OK) fail_msg("%s", err.what);
    assert_true(http_server_port(s) > 0);
    return s;
}

/* ---- JSON as lines "path = value" ---- */

struct flat {
    FILE *out;
    unsigned depth;
    char key[16][64];
    int index[16]; /* < 0: an object */
};

static void put_path(struct flat *f) {
    fputc('\n', f->out);
    for (unsigned i = 1; i <= f->depth; i++) {
        if (f->index[i] >= 0) {
            fprintf(f->out, "[%d]", f->index[i]);
        } else {
            fprintf(f->out, "%s%s", i > 1 ? "." : "", f->key[i]);
        }
    }
    fputs(" = ", f->out);
}

static cuzk_status on_event(void *ctx, enum json_event event, const struct json_token *token) {
    struct flat *f = ctx;
    static bool in_string;
    const bool begins = event == JSON_OBJECT_BEGIN || event == JSON_ARRAY_BEGIN ||
                        event == JSON_NUMBER || event == JSON_OTHER ||
                        (!in_string && (event == JSON_STRING_PART || event == JSON_STRING_END));
    if (begins) {
        if (f->depth > 0 && f->index[f->depth] >= -1 && f->key[f->depth][0] == '\0')
            f->index[f->depth]++;
        put_path(f);
    }
    switch (event) {
    case JSON_OBJECT_BEGIN:
        f->index[++f->depth] = -2;
        f->key[f->depth][0] = '?';
        break;
    case JSON_ARRAY_BEGIN:
        f->index[++f->depth] = -1;
        f->key[f->depth][0] = '\0';
        break;
    case JSON_OBJECT_END:
    case JSON_ARRAY_END:
        f->depth--;
        break;
    case JSON_KEY:
        snprintf(f->key[f->depth], 64, "%.*s", (int)token->n, token->text);
        break;
    case JSON_NUMBER:
        if (token->is_u64) {
            fprintf(f->out, "%llu", (unsigned long long)token->value);
        } else {
            fputs("number", f->out);
        }
        break;
    case JSON_OTHER:
        fputs(token->is_null ? "null" : "bool", f->out);
        break;
    case JSON_STRING_PART:
        fwrite(token->text, 1, token->n, f->out);
        break;
    case JSON_STRING_END:
        break;
    }
    in_string = event == JSON_STRING_PART;
    return CUZK_OK;
}

/* Fails unless `text` is one JSON value. */
static char *flatten(const char *text, size_t n) {
    char *lines = NULL;
    size_t lines_bytes = 0;
    struct flat f = {.out = open_memstream(&lines, &lines_bytes)};
    assert_non_null(f.out);
    struct json_stream s;
    json_init(&s, 15, on_event, &f);
    const cuzk_status fed = json_feed(&s, text, n);
    if (fed != CUZK_OK) fail_msg("%s at %llu", s.fault, (unsigned long long)s.fault_offset);
    assert_int_equal(json_finish(&s), CUZK_OK);
    fputc('\n', f.out);
    fclose(f.out);
    return lines;
}

static void expect_line(const char *lines, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void expect_line(const char *lines, const char *fmt, ...) {
    char line[256] = "\n";
    va_list list;
    va_start(list, fmt);
    vsnprintf(line + 1, sizeof line - 1, fmt, list);
    va_end(list);
    if (strstr(lines, line) == NULL) fail_msg("no line \"%s\"", line + 1);
}

static char *status_lines(const struct engine_snapshot *s, const char *not_ready) {
    size_t n = 0;
    char *json = http_status_json(s, not_ready, &n);
    assert_non_null(json);
    assert_int_equal(strlen(json), n);
    char *lines = flatten(json, n);
    free(json);
    return lines;
}

/* ---- /status ---- */

static void status_has_the_fields_of_the_interface(void **state) {
    (void)state;
    struct engine_snapshot *s = snapshot_fixture(FIXTURE_BUSY, 93.5);
    char *lines = status_lines(s, NULL);
    static const char *const starts[] = {"uptime_secs = 93\n",
                                         "synthesis.max_concurrent = 5\n",
                                         "pipelines[0].job_id = j-",
                                         "pipelines[0].proof_kind = porep\n",
                                         "pipelines[0].started_secs_ago = ",
                                         "pipelines[0].total_partitions = 10\n",
                                         "pipelines[0].partitions_done = ",
                                         "pipelines[0].partitions[9].index = 9\n",
                                         "pipelines[0].partitions[9].state = ",
                                         "pipelines[0].partitions[0].synth_ms = 3200\n",
                                         "pipelines[0].partitions[0].gpu_ms = ",
                                         "gpu_workers[0].worker_id = 0\n",
                                         "gpu_workers[3].gpu_ordinal = 1\n",
                                         "gpu_workers[0].state = proving\n",
                                         "gpu_workers[0].current_job = j-",
                                         "gpu_workers[0].current_partition = ",
                                         "gpu_workers[0].busy_secs = ",
                                         "allocations.srs[0].circuit_id = porep-32g\n",
                                         "allocations.srs[0].bytes = ",
                                         "allocations.srs[0].last_used_secs_ago = ",
                                         "allocations.srs[0].evictable = bool\n",
                                         "allocations.pce[0].circuit_id = porep-32g\n",
                                         "allocations.pce[0].bytes = ",
                                         "allocations.pce[0].last_used_secs_ago = ",
                                         "allocations.pce[0].evictable = bool\n",
                                         "counters.completed_by_kind.porep = ",
                                         "counters.failed_by_kind.winning = 0\n",
                                         "ready = bool\n",
                                         "not_ready = \n",
                                         "plan.terms[0].bytes = ",
                                         "budget.limited_by = ",
                                         "devices[1].condition = up\n",
                                         "recent_jobs[0].phases.total_secs = ",
                                         "memory.classes[8].class = other\n"};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        expect_line(lines, "%s", starts[i]);

    expect_line(lines, "memory.total_bytes = %llu\n", (unsigned long long)s->ledger.limit);
    expect_line(lines, "memory.used_bytes = %llu\n", (unsigned long long)s->ledger.reserved_total);
    expect_line(lines, "memory.available_bytes = %llu\n",
                (unsigned long long)(s->ledger.limit - s->ledger.reserved_total));
    expect_line(lines, "synthesis.active = %u\n", s->flow.stage[FLOW_SYNTHESIS]);
    expect_line(lines, "counters.total_completed = %llu\n",
                (unsigned long long)s->completed[ENGINE_KIND_POREP]);
    expect_line(lines, "counters.total_failed = %llu\n",
                (unsigned long long)s->failed[ENGINE_KIND_POREP]);
    expect_line(lines, "counters.queue_depth = %u\n", s->queued[ENGINE_KIND_POREP]);
    expect_line(lines, "buffers.synth_in_flight = %u\n", s->flow.stage[FLOW_SYNTHESIS]);
    expect_line(lines, "buffers.provers_in_flight = %u\n", s->flow.stage[FLOW_START]);
    expect_line(lines, "buffers.aux_in_flight = %u\n", s->flow.witnesses);
    expect_line(lines, "buffers.shells_in_flight = %u\n", s->flow.stage[FLOW_READY]);
    expect_line(lines, "buffers.pending_handles = %u\n", s->flow.stage[FLOW_FINISH]);
    free(lines);
    engine_snapshot_free(s);
}

static void partitions_have_the_states_of_the_interface(void **state) {
    (void)state;
    static const struct {
        enum flow_stage stage;
        const char *name;
    } cases[] = {{FLOW_PENDING, "pending"},  {FLOW_SYNTHESIS, "synthesizing"},
                 {FLOW_READY, "synth_done"}, {FLOW_START, "gpu"},
                 {FLOW_FINISH, "gpu"},       {FLOW_VERIFY, "gpu"},
                 {FLOW_DONE, "done"},        {FLOW_DROPPED, "failed"}};
    struct engine_snapshot *s = snapshot_fixture(FIXTURE_BUSY, 42);
    for (unsigned i = 0; i < 8; i++)
        s->jobs[0].partitions[i] = (struct engine_partition_view){.stage = cases[i].stage};
    char *lines = status_lines(s, NULL);
    for (unsigned i = 0; i < 8; i++) {
        expect_line(lines, "pipelines[0].partitions[%u].state = %s\n", i, cases[i].name);
        expect_line(lines, "pipelines[0].partitions[%u].synth_ms = null\n", i);
    }
    free(lines);
    engine_snapshot_free(s);
}

static void an_empty_engine_has_lists_and_nulls(void **state) {
    (void)state;
    struct engine_snapshot *s = snapshot_fixture(FIXTURE_EMPTY, 0.2);
    char *lines = status_lines(s, "no device");
    expect_line(lines, "pipelines = \n");
    expect_line(lines, "plan = null\n");
    expect_line(lines, "synthesis.max_concurrent = 0\n");
    expect_line(lines, "not_ready = no device\n");
    free(lines);
    engine_snapshot_free(s);
}

static void an_idle_worker_has_no_job(void **state) {
    (void)state;
    struct engine_snapshot *s = snapshot_fixture(FIXTURE_BUSY, 42);
    memset(&s->workers[2], 0, sizeof s->workers[2]);
    char *lines = status_lines(s, NULL);
    expect_line(lines, "gpu_workers[2].state = idle\n");
    expect_line(lines, "gpu_workers[2].current_job = null\n");
    expect_line(lines, "gpu_workers[2].current_partition = null\n");
    free(lines);
    engine_snapshot_free(s);
}

/* A thousand jobs: those that run are listed, the answer stays small, the rest is counted. */
static void many_jobs_are_cut_and_counted(void **state) {
    (void)state;
    struct engine_snapshot *s = snapshot_fixture(FIXTURE_EMPTY, 5);
    s->n_jobs = 1000;
    s->jobs = calloc(s->n_jobs, sizeof *s->jobs);
    assert_non_null(s->jobs);
    for (unsigned i = 0; i < s->n_jobs; i++) {
        snprintf(s->jobs[i].job_id, sizeof s->jobs[i].job_id, "job-%u", i);
        s->jobs[i].n_partitions = 16;
        s->jobs[i].kind = ENGINE_KIND_POREP;
        s->jobs[i].running = i == 999;
    }
    size_t n = 0;
    char *json = http_status_json(s, NULL, &n);
    assert_non_null(json);
    assert_true(n < 700000);
    char *lines = flatten(json, n);
    expect_line(lines, "pipelines[0].job_id = job-999\n");
    expect_line(lines, "pipelines[1].job_id = job-0\n");
    expect_line(lines, "pipelines[92].job_id = job-91\n");
    expect_line(lines, "pipelines_left_out = 907\n");
    free(lines);
    free(json);
    engine_snapshot_free(s);
}

/* ---- the server ---- */

static void every_page_answers(void **state) {
    (void)state;
    struct engine e = {.scene = FIXTURE_BUSY, .seconds = 60};
    struct http_server *s = serve(&e);
    const unsigned port = http_server_port(s);
    expect_answer(port, "GET", "/healthz", 200, "\r\n\r\nok\n");
    expect_answer(port, "GET", "/readyz", 200, "\r\n\r\nready\n");
    expect_answer(port, "GET", "/", 200, "Content-Type: text/html; charset=utf-8\r\n");
    expect_answer(port, "GET", "/", 200, "script-src 'sha256-");
    expect_answer(port, "GET", "/", 200, "style-src 'sha256-");
    expect_answer(port, "GET", "/", 200, "</html>\n");
    expect_answer(port, "GET", "/metrics", 200, "Content-Type: text/plain; version=0.0.4");
    expect_answer(port, "GET", "/metrics", 200, "\n# TYPE cuzk_proofs_completed_total counter\n");
    expect_answer(port, "GET", "/status?pretty", 200, "Content-Type: application/json\r\n");
    char *answer = ask(port, "GET", "/status");
    char *lines = flatten(body_of(answer), strlen(body_of(answer)));
    expect_line(lines, "uptime_secs = 60\n");
    free(lines);
    free(answer);
    http_server_destroy(s);
}

static void every_answer_has_the_security_headers(void **state) {
    (void)state;
    static const char *const paths[] = {"/", "/status", "/metrics", "/healthz", "/readyz", "/no"};
    static const char *const headers[] = {"\r\nX-Content-Type-Options: nosniff\r\n",
                                          "\r\nX-Frame-Options: DENY\r\n",
                                          "\r\nReferrer-Policy: no-referrer\r\n",
                                          "\r\nCache-Control: no-store\r\n",
                                          "\r\nCross-Origin-Resource-Policy: same-origin\r\n",
                                          "\r\nContent-Security-Policy: default-src 'none'; "};
    struct engine e = {.scene = FIXTURE_BUSY, .seconds = 60};
    struct http_server *s = serve(&e);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        char *answer = ask(http_server_port(s), "GET", paths[i]);
        for (size_t k = 0; k < sizeof headers / sizeof headers[0]; k++)
            assert_non_null(strstr(answer, headers[k]));
        assert_null(strstr(answer, "unsafe-inline"));
        free(answer);
    }
    http_server_destroy(s);
}

static void other_paths_and_methods_are_refused(void **state) {
    (void)state;
    struct engine e = {.scene = FIXTURE_BUSY, .seconds = 60};
    struct http_server *s = serve(&e);
    const unsigned port = http_server_port(s);
    static const char *const missing[] = {"/status/", "/../etc/passwd", "/favicon.ico", "//",
                                          "/STATUS"};
    for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++)
        expect_answer(port, "GET", missing[i], 404, "not found; there are /, /status");
    static const char *const methods[] = {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "BREW"};
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        expect_answer(port, methods[i], "/status", 405, "\r\nAllow: GET, HEAD\r\n");
        expect_answer(port, methods[i], "/no", 405, "only GET and HEAD are served here\n");
    }
    http_server_destroy(s);
}

static void head_is_get_without_its_body(void **state) {
    (void)state;
    struct engine e = {.scene = FIXTURE_BUSY, .seconds = 60};
    struct http_server *s = serve(&e);
    static const char *const paths[] = {"/", "/status", "/metrics", "/healthz", "/no"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        char *get = ask(http_server_port(s), "GET", paths[i]);
        char *head = ask(http_server_port(s), "HEAD", paths[i]);
        assert_int_equal(status_of(head), status_of(get));
        assert_string_equal(body_of(head), "");
        char length[64];
        snprintf(length, sizeof length, "\r\nContent-Length: %zu\r\n", strlen(body_of(get)));
        assert_non_null(strstr(get, length));
        assert_non_null(strstr(head, length));
        free(get);
        free(head);
    }
    http_server_destroy(s);
}

static void what_is_missing_is_said(void **state) {
    (void)state;
    struct engine e = {.scene = FIXTURE_EMPTY, .seconds = 1};
    struct http_server *s = serve(&e);
    const unsigned port = http_server_port(s);
    expect_answer(port, "GET", "/readyz", 503, "not ready: porep-32g is loading, and no device");
    expect_answer(port, "GET", "/healthz", 200, "ok\n");
    expect_answer(port, "GET", "/status", 200, "\"not_ready\": \"porep-32g is loading");
    usleep(120000);
    e.no_memory = true;
    expect_answer(port, "GET", "/status", 503, "CUZK-E-NO-MEMORY: engine: none is left");
    expect_answer(port, "GET", "/metrics", 503, "CUZK-E-NO-MEMORY");
    expect_answer(port, "GET", "/", 200, "</html>");
    e.no_memory = false;
    expect_answer(port, "GET", "/status", 200, "uptime_secs");
    http_server_destroy(s);
}

static void hostile_text_stays_text(void **state) {
    (void)state;
    struct engine e = {.scene = FIXTURE_BUSY, .seconds = 60};
    strcpy(e.hostile, "\"}\n</script>\\ \x01 \xff\xfe x");
    struct http_server *s = serve(&e);
    char *answer = ask(http_server_port(s), "GET", "/status");
    char *lines = flatten(body_of(answer), strlen(body_of(answer)));
    expect_line(lines, "pipelines[0].request_id = \"}\n</script>\\ \x01 ?? x\n");
    free(lines);
    free(answer);
    expect_answer(http_server_port(s), "GET", "/metrics", 200,
                  "name=\"\\\"}\\n</script>\\\\ \x01 ?? x\"} 1\n");
    http_server_destroy(s);
}

/* Answers of the same tenth of a second come from one snapshot, of another from another. */
static void snapshots_are_shared(void **state) {
    (void)state;
    struct engine e = {.scene = FIXTURE_BUSY, .seconds = 60};
    struct http_server *s = serve(&e);
    const unsigned port = http_server_port(s);
    const uint64_t begin = clock_ns();
    for (int i = 0; i < 40; i++)
        expect_answer(port, "GET", i % 2 ? "/metrics" : "/status", 200, "");
    const unsigned most = 1 + (unsigned)((clock_ns() - begin) / 100000000u);
    assert_true(e.taken >= 1 && e.taken <= most);
    const unsigned before = e.taken;
    usleep(120000);
    expect_answer(port, "GET", "/status", 200, "");
    assert_int_equal(e.taken, before + 1);
    http_server_destroy(s);
}

struct asker {
    pthread_t thread;
    unsigned port, good;
};
static void *ask_often(void *arg) {
    static const char *const paths[] = {"/status", "/metrics", "/healthz", "/"};
    struct asker *a = arg;
    for (unsigned i = 0; i < 25; i++) {
        char *answer = ask(a->port, "GET", paths[i % 4]);
        a->good += answer != NULL && strncmp(answer, "HTTP/1.1 200 ", 13) == 0;
        free(answer);
    }
    return NULL;
}

static void many_may_ask_at_once(void **state) {
    (void)state;
    struct engine e = {.scene = FIXTURE_BUSY, .seconds = 60};
    struct http_server *s = serve(&e);
    struct asker askers[8] = {{.good = 0}};
    for (int i = 0; i < 8; i++) {
        askers[i].port = http_server_port(s);
        assert_int_equal(pthread_create(&askers[i].thread, NULL, ask_often, &askers[i]), 0);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(askers[i].thread, NULL);
        assert_int_equal(askers[i].good, 25);
    }
    http_server_destroy(s);
}

static void one_connection_serves_many_requests(void **state) {
    (void)state;
    struct engine e = {.scene = FIXTURE_BUSY, .seconds = 60};
    struct http_server *s = serve(&e);
    const int fd = connect_to(http_server_port(s));
    send_text(fd,
              "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /readyz HTTP/1.1\r\nHost: x\r\n\r\n"
              "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    char *answer = read_all(fd);
    close(fd);
    const char *first = strstr(answer, "\r\n\r\nok\n"), *second = strstr(answer, "ready\n");
    assert_true(first != NULL && second != NULL && first < second);
    assert_non_null(strstr(second, "\r\n\r\nok\n"));
    free(answer);
    http_server_destroy(s);
}

/* It sends a byte now and then, so that the line is never quiet. */
static void a_slow_client_is_cut_off(void **state) {
    (void)state;
    struct engine e = {.scene = FIXTURE_BUSY, .seconds = 60};
    struct http_server *s = NULL;
    assert_int_equal(http_server_create_timed(&s, &e, "127.0.0.1:0", 400000000u, NULL), CUZK_OK);
    const uint64_t begin = clock_ns();
    const int fd = connect_to(http_server_port(s));
    send_text(fd, "GET /status HTTP/1.1\r\nX: ");
    bool cut = false;
    while (!cut && clock_ns() - begin < 5000000000u) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        char byte;
        cut = poll(&p, 1, 40) == 1 && recv(fd, &byte, 1, 0) <= 0;
        if (!cut) cut = send(fd, "a", 1, MSG_NOSIGNAL) != 1;
    }
    assert_true(cut);
    const double took = clock_seconds_since(begin);
    assert_true(took > 0.35 && took < 4);
    close(fd);
    expect_answer(http_server_port(s), "GET", "/healthz", 200, "ok\n");
    http_server_destroy(s);
}

/* One that goes on asking keeps its connection beyond the time for one request. */
static void a_busy_client_is_kept(void **state) {
    (void)state;
    struct engine e = {.scene = FIXTURE_BUSY, .seconds = 60};
    struct http_server *s = NULL;
    assert_int_equal(http_server_create_timed(&s, &e, "127.0.0.1:0", 1500000000u, NULL), CUZK_OK);
    const int fd = connect_to(http_server_port(s));
    for (int i = 0; i < 10; i++) {
        char answer[2048];
        send_text(fd, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
        const ssize_t n = recv(fd, answer, sizeof answer - 1, 0);
        assert_true(n > 0);
        answer[n] = '\0';
        assert_int_equal(status_of(answer), 200);
        usleep(200000);
    }
    close(fd);
    http_server_destroy(s);
}

/* More idle connections than there are places: a new client is served all the same. */
static void idle_connections_make_room(void **state) {
    (void)state;
    enum { IDLE = 3 * HTTP_MOST_CONNECTIONS };
    struct engine e = {.scene = FIXTURE_BUSY, .seconds = 60};
    struct http_server *s = serve(&e);
    static int fds[IDLE];
    const uint64_t begin = clock_ns();
    for (int i = 0; i < IDLE; i++)
        fds[i] = connect_to(http_server_port(s));
    expect_answer(http_server_port(s), "GET", "/healthz", 200, "ok\n");
    assert_true(clock_seconds_since(begin) < 8);
    for (int i = 0; i < IDLE; i++)
        close(fds[i]);
    http_server_destroy(s);
}

static void an_oversized_header_is_refused(void **state) {
    (void)state;
    struct engine e = {.scene = FIXTURE_BUSY, .seconds = 60};
    struct http_server *s = serve(&e);
    const int fd = connect_to(http_server_port(s));
    static char big[100000];
    memset(big, 'a', sizeof big - 1);
    send_text(fd, "GET / HTTP/1.1\r\nX: ");
    (void)!send(fd, big, sizeof big - 1, MSG_NOSIGNAL);
    char *answer = read_all(fd);
    close(fd);
    assert_non_null(answer);
    assert_null(strstr(answer, " 200 "));
    free(answer);
    expect_answer(http_server_port(s), "GET", "/healthz", 200, "ok\n");
    http_server_destroy(s);
}

static void an_address_is_refused_with_its_reason(void **state) {
    (void)state;
    struct engine e = {.scene = FIXTURE_EMPTY};
    struct http_server *s = NULL;
    struct cuzk_error err;
    static const char *const bad[] = {
        "",           "x",      "localhost", "example.org:80", "127.0.0.1:65536",
        "127.0.0.1:", "::1:80", "[::1:80",   "1.2.3:4",        "127.0.0.1:-1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(http_server_create(&s, &e, bad[i], &err), CUZK_CONFIG);
        assert_null(s);
    }
    /* An address for documentation (RFC 5737): no interface of ours has it. */
    assert_int_equal(http_server_create(&s, &e, "192.0.2.1:0", &err), CUZK_LISTEN);
    assert_null(s);
    struct http_server *first = serve(&e);
    char address[32];
    snprintf(address, sizeof address, "127.0.0.1:%u", http_server_port(first));
    assert_int_equal(http_server_create(&s, &e, address, &err), CUZK_ADDRESS_IN_USE);
    assert_string_equal(err.where, address);
    assert_null(s);
    http_server_destroy(first);
    assert_int_equal(http_server_create(&s, &e, address, &err), CUZK_OK);
    http_server_destroy(s);
    http_server_destroy(NULL);
}

/* Without a host only this computer is served. */
static void the_default_is_localhost(void **state) {
    (void)state;
    struct engine e = {.scene = FIXTURE_EMPTY};
    static const char *const forms[] = {":0", "0", "localhost:0"};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct http_server *s = NULL, *other = NULL;
        assert_int_equal(http_server_create(&s, &e, forms[i], NULL), CUZK_OK);
        expect_answer(http_server_port(s), "GET", "/healthz", 200, "ok\n");
        char elsewhere[32];
        snprintf(elsewhere, sizeof elsewhere, "127.0.0.2:%u", http_server_port(s));
        assert_int_equal(http_server_create(&other, &e, elsewhere, NULL), CUZK_OK);
        http_server_destroy(other);
        http_server_destroy(s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_has_the_fields_of_the_interface),
        cmocka_unit_test(partitions_have_the_states_of_the_interface),
        cmocka_unit_test(an_empty_engine_has_lists_and_nulls),
        cmocka_unit_test(an_idle_worker_has_no_job),
        cmocka_unit_test(many_jobs_are_cut_and_counted),
        cmocka_unit_test(every_page_answers),
        cmocka_unit_test(every_answer_has_the_security_headers),
        cmocka_unit_test(other_paths_and_methods_are_refused),
        cmocka_unit_test(head_is_get_without_its_body),
        cmocka_unit_test(what_is_missing_is_said),
        cmocka_unit_test(hostile_text_stays_text),
        cmocka_unit_test(snapshots_are_shared),
        cmocka_unit_test(many_may_ask_at_once),
        cmocka_unit_test(one_connection_serves_many_requests),
        cmocka_unit_test(a_slow_client_is_cut_off),
        cmocka_unit_test(a_busy_client_is_kept),
        cmocka_unit_test(idle_connections_make_room),
        cmocka_unit_test(an_oversized_header_is_refused),
        cmocka_unit_test(an_address_is_refused_with_its_reason),
        cmocka_unit_test(the_default_is_localhost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
