#include "unit/test_main.h"

#include "config.h"
#include "config_keys.h"
#include "config_value.h"
#include "toml_reader.h"

enum { SECOND = 1000000000 };

struct warnings {
    unsigned n;
    char text[4096];
};

static void on_warning(void *ctx, const char *text) {
    struct warnings *w = ctx;
    w->n++;
    const size_t used = strlen(w->text);
    snprintf(w->text + used, sizeof w->text - used, "%s\n", text);
}

static cuzk_status read_with(struct config *c, struct warnings *w, const char *text,
                             struct cuzk_error *err) {
    *w = (struct warnings){0};
    *err = (struct cuzk_error){0};
    return config_read_text(c, "t.toml", text, strlen(text), on_warning, w, err);
}

/* ---- what loads ---- */

/* The values of the table of keys in use, which are this daemon's defaults. */
static const char keys_in_use[] =
    "[daemon]\n"
    "listen = \"127.0.0.1:9820\"\n"
    "status_listen = \"\"\n"
    "[srs]\n"
    "param_cache = \"/var/tmp/filecoin-proof-parameters\"\n"
    "preload = []\n"
    "[memory]\n"
    "total_budget = \"auto\"\n"
    "safety_margin = \"5GiB\"\n"
    "eviction_min_idle = \"5m\"\n"
    "[gpus]\n"
    "devices = []\n"
    "gpu_threads = 0\n"
    "gpu_workers_per_device = 2\n"
    "[scheduler]\n"
    "max_batch_size = 1\n"
    "max_batch_wait_ms = 10000\n"
    "sort_by_type = true\n"
    "[synthesis]\n"
    "threads = 0\n"
    "partition_workers = 0\n"
    "[pipeline]\n"
    "enabled = true\n"
    "synthesis_lookahead = 1\n"
    "synthesis_concurrency = 1\n"
    "[logging]\n"
    "level = \"info\"\n";

static void assert_equal_text(const char *a, const char *b) {
    assert_true((a == NULL) == (b == NULL));
    if (a != NULL) assert_string_equal(a, b);
}

static void assert_same(const struct config *a, const struct config *b) {
    const struct engine_config *x = &a->engine, *y = &b->engine;
    assert_int_equal(a->rpc.n_listen, b->rpc.n_listen);
    for (unsigned i = 0; i < a->rpc.n_listen; i++)
        assert_string_equal(a->rpc.listen[i], b->rpc.listen[i]);
    assert_int_equal(a->rpc.socket_mode, b->rpc.socket_mode);
    assert_int_equal(a->rpc.max_message_bytes, b->rpc.max_message_bytes);
    assert_equal_text(a->status_listen, b->status_listen);
    assert_int_equal(a->log_level, b->log_level);
    assert_int_equal(a->log_json, b->log_json);
    assert_int_equal(a->drain_ns, b->drain_ns);
    assert_int_equal(a->require_params, b->require_params);
    assert_int_equal(x->memory_total, y->memory_total);
    assert_int_equal(x->memory_margin, y->memory_margin);
    assert_int_equal(x->evict_min_idle_ns, y->evict_min_idle_ns);
    assert_int_equal(x->n_preload, y->n_preload);
    assert_int_equal(x->n_devices, y->n_devices);
    assert_int_equal(x->devices[0].workers, y->devices[0].workers);
    assert_string_equal(x->devices[0].backend, y->devices[0].backend);
    assert_string_equal(x->devices[0].program, y->devices[0].program);
    assert_int_equal(x->partition_workers, y->partition_workers);
    assert_int_equal(x->synthesis_threads, y->synthesis_threads);
    assert_int_equal(x->device_threads, y->device_threads);
    assert_int_equal(x->max_queued_jobs, y->max_queued_jobs);
    assert_int_equal(x->keep_results, y->keep_results);
    assert_int_equal(x->keep_result_ns, y->keep_result_ns);
    assert_int_equal(x->max_message_bytes, y->max_message_bytes);
    assert_equal_text(x->state_dir, y->state_dir);
}

static void the_keys_in_use_load_with_their_values(void **state) {
    (void)state;
    struct config c, usual;
    struct warnings w;
    struct cuzk_error err;
    assert_int_equal(config_defaults(&usual, &err), CUZK_OK);
    assert_int_equal(read_with(&c, &w, keys_in_use, &err), CUZK_OK);
    assert_same(&c, &usual);
    assert_string_equal(c.engine.param_dir, "/var/tmp/filecoin-proof-parameters");
    assert_string_equal(w.text,
                        "t.toml: gpus.backend is not set: this version proves on the CPU\n");
    assert_string_equal(c.rpc.listen[0], "127.0.0.1:9820");
    assert_int_equal(c.engine.memory_margin, (uint64_t)5 << 30);
    assert_int_equal(c.engine.evict_min_idle_ns, (uint64_t)300 * SECOND);
    config_free(&c);
    config_free(&usual);
}

static void an_empty_file_is_the_defaults(void **state) {
    (void)state;
    struct config c, usual;
    struct warnings w;
    struct cuzk_error err;
    assert_int_equal(config_read(&usual, NULL, on_warning, &w, &err), CUZK_OK);
    assert_int_equal(read_with(&c, &w, "", &err), CUZK_OK);
    assert_same(&c, &usual);
    const char *program = usual.engine.devices[0].program;
    assert_true(program[0] == '/');
    assert_string_equal(strrchr(program, '/'), "/cuzk-device");
    config_free(&c);
    config_free(&usual);
}

static void every_value_arrives_in_its_place(void **state) {
    (void)state;
    static const char text[] =
        "[daemon]\n"
        "listen = [\"unix:///run/curio/cuzk.sock\", \"0.0.0.0:9820\"]\n"
        "status_listen = \"127.0.0.1:9821\"\n"
        "socket_mode = 0o600\n"
        "state_dir = \"/var/lib/cuzk\"\n"
        "drain_timeout = \"1m30s\"\n"
        "tls_cert = \"a\"\ntls_key = \"b\"\ntls_client_ca = \"c\"\n"
        "max_message = \"64MiB\"\n"
        "max_queued_jobs = 7\nkeep_results = 8\nkeep_results_for = 90\n"
        "[srs]\nparam_cache = \"/p\"\npreload = [\"porep-2k\", \"porep-32g\", \"porep-2k\"]\n"
        "require_params = true\n"
        "[memory]\ntotal_budget = \"44GiB\"\nsafety_margin = 1000\neviction_min_idle = \"10m\"\n"
        "[gpus]\nbackend = \"cpu\"\ndevice_program = \"/d\"\ngpu_threads = 32\n"
        "gpu_workers_per_device = 3\n"
        "[scheduler]\nage_after = 9\n"
        "[synthesis]\nthreads = 4\npartition_workers = 12\n"
        "[logging]\nlevel = \"debug\"\nformat = \"json\"\n";
    struct config c;
    struct warnings w;
    struct cuzk_error err;
    assert_int_equal(read_with(&c, &w, text, &err), CUZK_OK);
    assert_string_equal(w.text, "");
    const struct engine_config *e = &c.engine;
    assert_int_equal(c.rpc.n_listen, 2);
    assert_string_equal(c.rpc.listen[0], "unix:///run/curio/cuzk.sock");
    assert_string_equal(c.rpc.listen[1], "0.0.0.0:9820");
    assert_string_equal(c.status_listen, "127.0.0.1:9821");
    assert_int_equal(c.rpc.socket_mode, 0600);
    assert_string_equal(e->state_dir, "/var/lib/cuzk");
    assert_int_equal(c.drain_ns, (uint64_t)90 * SECOND);
    assert_string_equal(c.rpc.tls_cert, "a");
    assert_string_equal(c.rpc.tls_key, "b");
    assert_string_equal(c.rpc.tls_client_ca, "c");
    assert_int_equal(c.rpc.max_message_bytes, 64 << 20);
    assert_int_equal(e->max_message_bytes, 64 << 20);
    assert_int_equal(e->max_queued_jobs, 7);
    assert_int_equal(e->age_after, 9);
    assert_int_equal(e->keep_results, 8);
    assert_int_equal(e->keep_result_ns, (uint64_t)90 * SECOND);
    assert_string_equal(e->param_dir, "/p");
    assert_int_equal(e->n_preload, 2);
    assert_string_equal(e->preload[1], "porep-32g");
    assert_true(c.require_params);
    assert_int_equal(e->memory_total, (uint64_t)44 << 30);
    assert_int_equal(e->memory_margin, 1000);
    assert_int_equal(e->evict_min_idle_ns, (uint64_t)600 * SECOND);
    assert_string_equal(e->devices[0].program, "/d");
    assert_int_equal(e->device_threads, 32);
    assert_int_equal(e->devices[0].workers, 3);
    assert_int_equal(e->synthesis_threads, 4);
    assert_int_equal(e->partition_workers, 12);
    assert_int_equal(c.log_level, LOG_LEVEL_DEBUG);
    assert_true(c.log_json);
    config_free(&c);
}

/* ---- what loads with a warning ---- */

static void what_means_nothing_here_warns_and_names_the_replacement(void **state) {
    (void)state;
    static const struct {
        const char *text, *warning;
    } cases[] = {
        {"[memory]\npinned_budget = \"50GiB\"",
         "t.toml:2:17: memory.pinned_budget is obsolete and has no effect: memory.total_budget is "
         "the one budget\n"},
        {"[memory]\nworking_memory_budget = 1", "memory.working_memory_budget is obsolete"},
        {"[pipeline]\nslot_size = 3",
         "pipeline.slot_size is obsolete and has no effect: "
         "synthesis.partition_workers"},
        {"[pipeline]\nmax_parallel_synthesis = 3", "synthesis.partition_workers says"},
        {"[pipeline]\nmax_gpu_queue_depth = 8", "synthesis.partition_workers bounds"},
        {"[pipeline]\nenabled = false",
         "t.toml:2:11: pipeline.enabled has no effect: for one partition at a time set "
         "synthesis.partition_workers and gpus.gpu_workers_per_device to 1\n"},
        {"[pipeline]\nsynthesis_lookahead = 2", "pipeline.synthesis_lookahead has no effect"},
        {"[pipeline]\nsynthesis_concurrency = 2", "pipeline.synthesis_concurrency has no effect"},
        {"[scheduler]\nmax_batch_size = 2", "scheduler.max_batch_size has no effect"},
        {"[scheduler]\nmax_batch_wait_ms = 0", "scheduler.max_batch_wait_ms has no effect"},
        {"[scheduler]\nsort_by_type = false", "scheduler.sort_by_type has no effect"},
        {"[srs]\npreload = [\"winning-32g\"]", "srs.preload: winning-32g is left out"},
        {"gpus.devices = [0]", "t.toml:1:16: gpus.devices has no effect with backend = \"cpu\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct config c;
        struct warnings w;
        struct cuzk_error err;
        char text[300];
        snprintf(text, sizeof text, "%s\n%s", cases[i].text,
                 strncmp(cases[i].text, "gpus.", 5) == 0 ? "gpus.backend = \"cpu\"\n"
                                                         : "[gpus]\nbackend = \"cpu\"\n");
        assert_int_equal(read_with(&c, &w, text, &err), CUZK_OK);
        assert_int_equal(w.n, 1);
        if (strstr(w.text, cases[i].warning) == NULL) fail_msg("case %zu: %s", i, w.text);
        config_free(&c);
    }
}

/* ---- what does not load ---- */

static void every_fault_is_named_with_its_place(void **state) {
    (void)state;
    static const struct {
        const char *text, *where, *what, *hint;
        cuzk_status status;
    } cases[] = {
        {"[memory]\ntotal_budgt = 1", "t.toml:2:15", "no key 'memory.total_budgt'",
         "nearest key is memory.total_budget", CUZK_CONFIG},
        {"[daemon]\nlisten_addr = \"x\"", "t.toml:2:15", "no key 'daemon.listen_addr'",
         "nearest key is daemon.", CUZK_CONFIG},
        {"[daemon]\nparam_cache = \"x\"", "t.toml:2", "no key 'daemon.param_cache'",
         "nearest key is srs.param_cache", CUZK_CONFIG},
        {"lissten = \"x:1\"", "t.toml:1", "no key 'lissten'", "nearest key is daemon.listen",
         CUZK_CONFIG},
        {"\n[memroy]\n", "t.toml:2", "no key 'memroy'", "the nearest key is", CUZK_CONFIG},
        {"memory = 3", "t.toml:1:10", "memory is an integer; a section", "", CUZK_CONFIG},
        {"[[memory]]\n", "t.toml:1", "memory is an array; a section", "", CUZK_CONFIG},
        {"[daemon]\nlisten = 9820", "t.toml:2:10", "daemon.listen is an integer; a string", "",
         CUZK_CONFIG},
        {"[daemon]\nlisten = \"\"", "t.toml:2:10", "is no address: ''", "127.0.0.1:9820",
         CUZK_CONFIG},
        {"[daemon]\nlisten = []", "t.toml:2:10", "is an empty array", "", CUZK_CONFIG},
        {"[daemon]\nlisten = [\"a:1\", 2]", "t.toml:2:18", "has an integer as element 1", "",
         CUZK_CONFIG},
        {"[daemon]\nlisten = [\"a:1\", \"a:2\", \"a:3\", \"a:4\", \"a:5\"]", "t.toml:2:39",
         "more than 4 addresses", "", CUZK_CONFIG},
        {"[daemon]\nsocket_mode = \"0888\"", "t.toml:2:15", "is no mode", "0660", CUZK_CONFIG},
        {"[daemon]\nsocket_mode = 0", "t.toml:2:15", "lets nobody connect", "", CUZK_CONFIG},
        {"[daemon]\nsocket_mode = 660", "t.toml:2:15", "is no mode of a socket: 0o1224", "",
         CUZK_CONFIG},
        {"[daemon]\nmax_message = \"2GiB\"", "t.toml:2:15", "out of range: 65536 to 1073741824",
         "doc/configuration.md", CUZK_CONFIG},
        {"[daemon]\nkeep_results = 0", "t.toml:2:16", "out of range: 1 to 1000000", "",
         CUZK_CONFIG},
        {"[daemon]\ndrain_timeout = \"8d\"", "t.toml:2:17", "out of range: 0 to 604800 seconds", "",
         CUZK_CONFIG},
        {"[daemon]\ndrain_timeout = -1", "t.toml:2:17", "out of range", "", CUZK_CONFIG},
        {"[daemon]\ndrain_timeout = \"soon\"", "t.toml:2:17", "is no time: 'soon'", "\"5m\"",
         CUZK_CONFIG},
        {"[daemon]\ntls_cert = \"x\"", "t.toml", "tls_cert is set without daemon.tls_key", "both",
         CUZK_CONFIG},
        {"[daemon]\ntls_key = \"x\"", "t.toml", "tls_key is set without daemon.tls_cert", "both",
         CUZK_CONFIG},
        {"[daemon]\ntls_client_ca = \"x\"", "t.toml", "without a certificate", "tls_key",
         CUZK_CONFIG},
        {"[daemon]\nstate_dir = \"a\\u0000b\"", "t.toml:2:13", "has a NUL", "", CUZK_CONFIG},
        {"[srs]\npreload = \"porep-2k\"", "t.toml:2:11", "a string; an array of circuit ids", "",
         CUZK_CONFIG},
        {"[srs]\npreload = [\"porep-3k\"]", "t.toml:2:12", "names no circuit: 'porep-3k'",
         "porep-2k", CUZK_CONFIG},
        {"[srs]\nrequire_params = \"yes\"", "t.toml:2:18", "a string; true or false", "",
         CUZK_CONFIG},
        {"[memory]\ntotal_budget = \"44 GiBs\"", "t.toml:2:16", "is no size", "44GiB", CUZK_CONFIG},
        {"[memory]\ntotal_budget = \"1MiB\"", "t.toml:2:16", "out of range", "", CUZK_CONFIG},
        {"[memory]\ntotal_budget = 0", "t.toml:2:16", "out of range", "", CUZK_CONFIG},
        {"[memory]\nsafety_margin = \"auto\"", "t.toml:2:17", "is no size", "", CUZK_CONFIG},
        {"[memory]\nsafety_margin = 1.5", "t.toml:2:17", "a number with a point", "", CUZK_CONFIG},
        {"[gpus]\nbackend = \"cuda\"", "t.toml:2:11", "this version has the backend cpu only",
         "backend = \"cpu\"", CUZK_UNSUPPORTED},
        {"[gpus]\nbackend = \"fake\"", "t.toml:2:11", "is no backend: 'fake'", "", CUZK_CONFIG},
        {"[gpus]\ndevices = [0]", "t.toml:2:11", "does not fall back to it unasked",
         "backend = \"cpu\"", CUZK_UNSUPPORTED},
        {"[gpus]\ndevices = [true]", "t.toml:2:12", "element 0", "", CUZK_CONFIG},
        {"[synthesis]\nthreads = 5000", "t.toml:2:11", "out of range: 0 to 1024", "", CUZK_CONFIG},
        {"[synthesis]\npartition_workers = -3", "t.toml:2:21", "out of range", "", CUZK_CONFIG},
        {"[logging]\nlevel = \"loud\"", "t.toml:2:9", "is no level: 'loud'", "trace", CUZK_CONFIG},
        {"[logging]\nformat = \"xml\"", "t.toml:2:10", "is no format", "json", CUZK_CONFIG},
        {"[logging]\nlevel = 1979-05-27", "t.toml:2:9", "a date or time", "", CUZK_CONFIG},
        {"[logging\n", "t.toml:1:9", "this is no TOML", "", CUZK_CONFIG},
        {"a = 1\na = 2\n", "t.toml:2:5", "this is no TOML", "", CUZK_CONFIG},
        {"[logging]\nlevel = \"in\xff\"\n", "t.toml:2", "this is no TOML", "", CUZK_CONFIG},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct config c;
        struct warnings w;
        struct cuzk_error err;
        const cuzk_status s = read_with(&c, &w, cases[i].text, &err);
        if (s != cases[i].status ||
            strncmp(err.where, cases[i].where, strlen(cases[i].where)) != 0 ||
            strstr(err.what, cases[i].what) == NULL || strstr(err.hint, cases[i].hint) == NULL)
            fail_msg("case %zu (%s): %s: %s: %s: %s", i, cases[i].text, status_name(s), err.where,
                     err.what, err.hint);
        assert_null(c.owned);
    }
}

static void a_missing_or_endless_file_is_refused(void **state) {
    (void)state;
    struct config c;
    struct cuzk_error err;
    assert_int_equal(config_read(&c, "/no/such/file.toml", NULL, NULL, &err), CUZK_FILE_OPEN);
    assert_int_equal(config_read(&c, "/proc/self/exe", NULL, NULL, &err), CUZK_INPUT_SIZE);
    assert_null(c.owned);
}

/* ---- the table, the example file and the document ---- */

static char *read_whole(const char *path) {
    FILE *f = fopen(path, "rb");
    if (f == NULL) fail_msg("no file %s", path);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

static void the_example_file_has_every_key_with_its_default(void **state) {
    (void)state;
    struct config c, usual;
    struct warnings w = {0};
    struct cuzk_error err = {0};
    assert_int_equal(config_defaults(&usual, &err), CUZK_OK);
    if (config_read(&c, CUZK_DOC "/../packaging/cuzk.toml", on_warning, &w, &err) != CUZK_OK)
        fail_msg("%s: %s", err.where, err.what);
    assert_string_equal(w.text, "");
    assert_same(&c, &usual);
    assert_null(c.engine.param_dir);
    config_free(&c);
    config_free(&usual);

    char *text = read_whole(CUZK_DOC "/../packaging/cuzk.toml");
    for (size_t i = 0; i < n_config_keys; i++) {
        if (config_keys[i].form == CONFIG_OBSOLETE) continue;
        char line[120];
        snprintf(line, sizeof line, "%s = ", strchr(config_keys[i].name, '.') + 1);
        if (strstr(text, line) == NULL) fail_msg("%s is missing", config_keys[i].name);
    }
    /* The lines that are commented out are right as well. */
    for (char *p = text; (p = strstr(p, "\n# ")) != NULL; p++) {
        const size_t name = strspn(p + 3, "abcdefghijklmnopqrstuvwxyz_");
        if (name > 0 && strncmp(p + 3 + name, " = ", 3) == 0) memset(p + 1, ' ', 2);
    }
    assert_int_equal(config_read_text(&c, "t", text, strlen(text), on_warning, &w, &err), CUZK_OK);
    assert_string_equal(c.engine.state_dir, "/var/lib/cuzk");
    assert_string_equal(c.rpc.tls_client_ca, "/etc/cuzk/clients.crt");
    config_free(&c);
    free(text);
}

static void the_document_has_every_key(void **state) {
    (void)state;
    char *text = read_whole(CUZK_DOC "/configuration.md");
    for (size_t i = 0; i < n_config_keys; i++) {
        char quoted[120];
        snprintf(quoted, sizeof quoted, "`%s`", config_keys[i].name);
        if (strstr(text, quoted) == NULL) fail_msg("%s is missing", quoted);
    }
    free(text);
}

/* ---- parts ---- */

static void sizes_and_times_are_read_exactly(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
        bool good;
    } sizes[] =
        {
            {"44GiB", (uint64_t)44 << 30, true},
            {"1.5 GiB", (uint64_t)3 << 29, true},
            {" 500MB ", 500000000, true},
            {"1048576", 1048576, true},
            {"2K", 2048, true},
            {"18446744073709551615", UINT64_MAX, true},
            {"18446744073709551616", 0, false},
            {"17179869184GiB", 0, false},
            {"", 0, false},
            {"GiB", 0, false},
            {"-1GiB", 0, false},
            {"1.GiB", 0, false},
            {"1gib", 0, false},
            {"1GiB 2", 0, false},
        },
      times[] = {
          {"5m", (uint64_t)300 * SECOND, true},
          {"1h30m", (uint64_t)5400 * SECOND, true},
          {"1h 30m", (uint64_t)5400 * SECOND, true},
          {"250ms", 250000000, true},
          {"0.5s", 500000000, true},
          {"300", (uint64_t)300 * SECOND, true},
          {"2d", (uint64_t)172800 * SECOND, true},
          {"1h30", 0, false},
          {"5 years", 0, false},
          {"", 0, false},
          {"m", 0, false},
          {"5m-", 0, false},
          {"18446744073709551615s", 0, false},
      };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint64_t value = 0;
        assert_int_equal(size_parse(&value, sizes[i].text), sizes[i].good);
        if (sizes[i].good) assert_int_equal(value, sizes[i].value);
    }
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        uint64_t value = 0;
        assert_int_equal(duration_parse(&value, times[i].text), times[i].good);
        if (times[i].good) assert_int_equal(value, times[i].value);
    }
}

static void distances_are_the_fewest_edits(void **state) {
    (void)state;
    assert_int_equal(edit_distance("", ""), 0);
    assert_int_equal(edit_distance("kitten", "sitting"), 3);
    assert_int_equal(edit_distance("", "abc"), 3);
    assert_int_equal(edit_distance("abc", "acb"), 2);
    assert_string_equal(config_key_nearest("memory.totalbudget")->name, "memory.total_budget");
    assert_string_equal(config_key_nearest("loging.levl")->name, "logging.level");
}

struct seen {
    unsigned n;
    char text[1000];
};

static cuzk_status note_value(void *ctx, const struct toml_value *v, struct cuzk_error *err) {
    (void)err;
    struct seen *s = ctx;
    const size_t used = strlen(s->text);
    s->n++;
    snprintf(s->text + used, sizeof s->text - used, "%s[%d]=%d@%s\n", v->key, v->index,
             (int)v->type, v->where);
    return s->n == 100 ? CUZK_CANCELLED : CUZK_OK;
}

static void values_come_in_the_order_of_the_file(void **state) {
    (void)state;
    static const char text[] = "[z]\nb = 1\na = [\"x\", [2]]\n[c.d]\n'e f' = true\n";
    struct seen s = {0};
    struct cuzk_error err;
    assert_int_equal(toml_read("n", text, strlen(text), note_value, &s, &err), CUZK_OK);
    assert_string_equal(s.text,
                        "z[-1]=6@n:1:1\n"
                        "z.b[-1]=1@n:2:5\n"
                        "z.a[-1]=5@n:3:5\n"
                        "z.a[0]=0@n:3:6\n"
                        "z.a[1]=5@n:3:11\n"
                        "c[-1]=6@n:4:1\n"
                        "c.d[-1]=6@n:4:1\n"
                        "c.d.e f[-1]=3@n:5:9\n");
    s.n = 99;
    assert_int_equal(toml_read("n", text, strlen(text), note_value, &s, &err), CUZK_CANCELLED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_keys_in_use_load_with_their_values),
        cmocka_unit_test(an_empty_file_is_the_defaults),
        cmocka_unit_test(every_value_arrives_in_its_place),
        cmocka_unit_test(what_means_nothing_here_warns_and_names_the_replacement),
        cmocka_unit_test(every_fault_is_named_with_its_place),
        cmocka_unit_test(a_missing_or_endless_file_is_refused),
        cmocka_unit_test(the_example_file_has_every_key_with_its_default),
        cmocka_unit_test(the_document_has_every_key),
        cmocka_unit_test(sizes_and_times_are_read_exactly),
        cmocka_unit_test(distances_are_the_fewest_edits),
        cmocka_unit_test(values_come_in_the_order_of_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
