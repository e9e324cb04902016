/*
 * The reader of the configuration. Whatever is accepted is complete and within its ranges, whatever
 * is refused says where; nothing stays allocated, and the same text gives the same answer.
 */
#include <stdlib.h>
#include <string.h>

#include "config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition) {
    if (!condition) abort();
}

static void count_warning(void *ctx, const char *text) {
    require(text[0] != '\0');
    ++*(unsigned *)ctx;
}

static void check_accepted(const struct config *c) {
    require(c->rpc.n_listen >= 1 && c->rpc.n_listen <= RPC_MAX_ADDRESSES);
    for (unsigned i = 0; i < c->rpc.n_listen; i++)
        require(strchr(c->rpc.listen[i], ':') != NULL);
    require(c->engine.n_preload <= PLAN_MAX_CIRCUITS);
    require(c->rpc.socket_mode >= 1 && c->rpc.socket_mode <= 0777);
    require(c->engine.partition_workers <= 1024 && c->engine.devices[0].workers <= 64);
    require(c->engine.max_message_bytes == c->rpc.max_message_bytes);
    require(c->engine.max_message_bytes >= 65536);
    require(c->engine.keep_results >= 1 && c->engine.max_queued_jobs >= 1);
    require(c->engine.devices[0].program != NULL);
    require((c->rpc.tls_cert == NULL) == (c->rpc.tls_key == NULL));
    require(c->status_listen == NULL || c->status_listen[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct config c;
    struct cuzk_error err = {0};
    unsigned n_warnings = 0, again = 0;
    if (data == NULL) return 0;
    const cuzk_status s = config_read_text(&c, "fuzz.toml", (const char *)data, size, count_warning,
                                           &n_warnings, &err);
    if (s == CUZK_OK) {
        check_accepted(&c);
        config_free(&c);
    } else {
        require(s == CUZK_CONFIG || s == CUZK_UNSUPPORTED);
        require(err.code == s && strncmp(err.where, "fuzz.toml", 9) == 0 && err.what[0] != '\0');
        require(c.owned == NULL);
    }
    require(config_read_text(&c, "fuzz.toml", (const char *)data, size, count_warning, &again,
                             NULL) == s);
    require(again == n_warnings);
    config_free(&c);
    return 0;
}
