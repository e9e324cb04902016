#include "rpc_status.h"

#include <stdio.h>
#include <string.h>

grpc_status_code rpc_status_code(cuzk_status status) {
    switch (status) {
    case CUZK_OK:
        return GRPC_STATUS_OK;
    case CUZK_CANCELLED:
        return GRPC_STATUS_CANCELLED;
    case CUZK_DEADLINE:
        return GRPC_STATUS_DEADLINE_EXCEEDED;
    case CUZK_JOB_UNKNOWN:
        return GRPC_STATUS_NOT_FOUND;

    /* Repeating it does not help before less is asked, or others have ended. */
    case CUZK_BUDGET:
    case CUZK_BUDGET_BUSY:
    case CUZK_QUEUE_FULL:
    case CUZK_MESSAGE_SIZE:
    case CUZK_NO_MEMORY:
        return GRPC_STATUS_RESOURCE_EXHAUSTED;

    /* Another daemon, or this one later, may do it. */
    case CUZK_STOPPING:
    case CUZK_NO_DEVICE:
    case CUZK_STATE:
    case CUZK_DEVICE_LOST:
    case CUZK_DEVICE_HANG:
        return GRPC_STATUS_UNAVAILABLE;

    /* An operator has to do something first. */
    case CUZK_UNSUPPORTED:
    case CUZK_NOT_SERVED:
    case CUZK_CONFIG:
        return GRPC_STATUS_FAILED_PRECONDITION;
    default:
        break;
    }
    if (status >= CUZK_PARAM_MISSING && status <= CUZK_PARAM_HEADER)
        return GRPC_STATUS_FAILED_PRECONDITION;
    switch (status_exit_code(status)) {
    case 1: /* the input */
    case 2: /* the request's words */
        return GRPC_STATUS_INVALID_ARGUMENT;
    case 3: /* the daemon's surroundings: files, addresses */
        return GRPC_STATUS_FAILED_PRECONDITION;
    default:
        return GRPC_STATUS_INTERNAL;
    }
}

const char *rpc_status_name(int code) {
    static const char *const names[] = {
        "OK",
        "CANCELLED",
        "UNKNOWN",
        "INVALID_ARGUMENT",
        "DEADLINE_EXCEEDED",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "PERMISSION_DENIED",
        "RESOURCE_EXHAUSTED",
        "FAILED_PRECONDITION",
        "ABORTED",
        "OUT_OF_RANGE",
        "UNIMPLEMENTED",
        "INTERNAL",
        "UNAVAILABLE",
        "DATA_LOSS",
        "UNAUTHENTICATED",
    };
    const int n = (int)(sizeof names / sizeof names[0]);
    return code >= 0 && code < n ? names[code] : "UNKNOWN";
}

/* The code that a text of ours begins with; *rest is then what follows. CUZK_OK: none. */
static cuzk_status own_code(const char *text, const char **rest) {
    static const char prefix[] = "CUZK-E-";
    if (strncmp(text, prefix, sizeof prefix - 1) != 0) return CUZK_OK;
    const char *name = text + sizeof prefix - 1;
    const char *colon = strchr(name, ':');
    if (colon == NULL) return CUZK_OK;
    for (int i = 1; i < CUZK_STATUS_COUNT; i++) {
        const char *known = status_name((cuzk_status)i);
        if (strlen(known) != (size_t)(colon - name) || memcmp(known, name, strlen(known)) != 0)
            continue;
        *rest = colon + 1 + (colon[1] == ' ');
        return (cuzk_status)i;
    }
    return CUZK_OK;
}

/* Where a long text may go on in the record's next part: at one of its own separators. */
static size_t split_at(const char *text, size_t longest) {
    const size_t n = strlen(text);
    if (n <= longest) return n;
    for (size_t i = longest; i > 0; i--)
        if (text[i] == ':' && text[i + 1] == ' ') return i;
    return longest;
}

cuzk_status rpc_status_to_error(struct cuzk_error *err, const char *method, int code,
                                const char *text, size_t text_bytes) {
    char copy[1024], where[64];
    snprintf(copy, sizeof copy, "%.*s", (int)(text_bytes < 1000 ? text_bytes : 1000), text);
    snprintf(where, sizeof where, "%s (%s)", method, rpc_status_name(code));
    const char *rest = copy;
    const cuzk_status own = own_code(copy, &rest);
    if (own != CUZK_OK) {
        const size_t first = split_at(rest, sizeof err->what - 1);
        const char *more = rest + first;
        while (*more == ':' || *more == ' ')
            more++;
        return error_set(err, own, where, *more != 0 ? more : NULL, "%.*s", (int)first, rest);
    }
    if (code == GRPC_STATUS_CANCELLED)
        return error_set(err, CUZK_CANCELLED, where, NULL, "the call was dropped");
    if (code == GRPC_STATUS_DEADLINE_EXCEEDED)
        return error_set(err, CUZK_DEADLINE, where, NULL, "no answer came in time");
    return error_set(err, CUZK_CONNECT, where, "see that the daemon runs and listens there",
                     "%.300s", *copy != 0 ? copy : "no answer came");
}
