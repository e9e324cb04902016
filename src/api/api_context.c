#include <stdlib.h>

#include "api_internal.h"
#include "error.h"

#ifndef CUZK_VERSION
#error "CUZK_VERSION comes from the build"
#endif

const char *cuzk_version(void) {
    return CUZK_VERSION;
}

int cuzk_error_format(const struct cuzk_error *err, char *out, size_t out_bytes) {
    return error_format(err, out, out_bytes);
}

cuzk_status cuzk_context_create(cuzk_context **out, const struct cuzk_context_options *options,
                                struct cuzk_error *err) {
    *out = NULL;
    cuzk_context *ctx = calloc(1, sizeof *ctx);
    if (ctx == NULL)
        return error_set(err, CUZK_NO_MEMORY, "context", NULL, "no memory for a context");
    const cuzk_status s = pool_create(&ctx->pool, options != NULL ? options->threads : 0, err);
    if (s != CUZK_OK) {
        free(ctx);
        return s;
    }
    ctx->progress.cancel = &ctx->cancel;
    if (options != NULL) {
        ctx->progress.report = options->progress;
        ctx->progress.ctx = options->progress_user;
    }
    *out = ctx;
    return CUZK_OK;
}

void cuzk_context_destroy(cuzk_context *ctx) {
    if (ctx == NULL) return;
    pool_destroy(ctx->pool);
    free(ctx);
}

void cuzk_context_cancel(cuzk_context *ctx) {
    atomic_store(&ctx->cancel, true);
}
