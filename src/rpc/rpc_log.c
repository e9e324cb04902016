#include "rpc_log.h"

#include <grpc/support/log.h>

#include "log.h"

/* Long ones repeat themselves. */
enum { MOST_BYTES = 400 };

static void forward(gpr_log_func_args *args) {
    const enum log_level level =
        args->severity == GPR_LOG_SEVERITY_ERROR ? LOG_LEVEL_WARN : LOG_LEVEL_DEBUG;
    log_line(level, "grpc", "%.*s", (int)MOST_BYTES, args->message);
}

void rpc_log_init(void) {
    gpr_set_log_function(forward);
}
