/*
 * Status codes of cuzk, and the error record that explains one.
 *
 * Every call that can fail because of its input or its environment returns a cuzk_status and takes
 * a `struct cuzk_error *` as its last argument (NULL: the caller does not want the text). The
 * record is filled only when the call fails. A caller's bug is an assertion, not a status.
 *
 * The printed form is `CUZK-E-NAME: where: what: what to do`; NAME is stable, and doc/errors.md
 * explains each one.
 */
#ifndef CUZK_STATUS_H
#define CUZK_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * X(symbol, NAME, exit code, summary). Exit codes of the command line: 1 the input or the proof is
 * not valid, 2 usage, 3 environment (parameters, memory, device), 4 internal.
 */
#define CUZK_STATUS_MAP(X)                                                                         \
    X(USAGE, "USAGE", 2, "the command or its arguments are wrong")                                 \
    X(UNSUPPORTED, "UNSUPPORTED", 2, "this kind of request is not supported")                      \
    X(CANCELLED, "CANCELLED", 3, "the work was cancelled")                                         \
    X(FILE_OPEN, "FILE-OPEN", 3, "a file could not be opened")                                     \
    X(FILE_READ, "FILE-READ", 3, "a file could not be read")                                       \
    X(FILE_WRITE, "FILE-WRITE", 3, "an output could not be written")                               \
    X(NO_MEMORY, "NO-MEMORY", 3, "memory could not be had")                                        \
    X(BUDGET, "BUDGET", 3, "the request can never fit into the memory budget")                     \
    X(BUDGET_BUSY, "BUDGET-BUSY", 3, "the request does not fit into the memory budget now")        \
    X(DEADLINE, "DEADLINE", 3, "the deadline passed before the work was done")                     \
    X(CONFIG, "CONFIG", 2, "the configuration is wrong")                                           \
    X(JOB_UNKNOWN, "JOB-UNKNOWN", 2, "there is no job of this id")                                 \
    X(MESSAGE_SIZE, "MESSAGE-SIZE", 1, "the message is larger than the limit")                     \
    X(MESSAGE_FORM, "MESSAGE-FORM", 1, "the message's bytes make no sense")                        \
    X(REQUEST, "REQUEST", 1, "the request contradicts itself or its payload")                      \
    X(STOPPING, "STOPPING", 3, "the daemon is stopping and takes no more work")                    \
    X(QUEUE_FULL, "QUEUE-FULL", 3, "too many jobs are waiting")                                    \
    X(NOT_SERVED, "NOT-SERVED", 3, "this kind of proof is not served here")                        \
    X(DEVICE_LOST, "DEVICE-LOST", 3, "the device's process ended")                                 \
    X(DEVICE_HANG, "DEVICE-HANG", 3, "the device made no progress")                                \
    X(DEVICE_PROTOCOL, "DEVICE-PROTOCOL", 4, "the device's process broke the protocol")            \
    X(NO_DEVICE, "NO-DEVICE", 3, "no device can take the work")                                    \
    X(SUSPECT, "SUSPECT", 3, "a partition was proved twice and was invalid both times")            \
    X(STATE, "STATE", 3, "the state folder cannot be used")                                        \
    X(ADDRESS_IN_USE, "ADDRESS-IN-USE", 3, "another daemon serves this address")                   \
    X(LISTEN, "LISTEN", 3, "an address cannot be listened on")                                     \
    X(CONNECT, "CONNECT", 3, "the daemon cannot be reached")                                       \
    X(RANDOMNESS, "RANDOMNESS", 3, "the system gave no randomness")                                \
    X(JSON_SYNTAX, "JSON-SYNTAX", 1, "the text is not JSON")                                       \
    X(JSON_TRUNCATED, "JSON-TRUNCATED", 1, "the JSON text ends too early")                         \
    X(JSON_DEPTH, "JSON-DEPTH", 1, "the JSON text is nested too deeply")                           \
    X(BASE64, "BASE64", 1, "the base64 text is damaged")                                           \
    X(INPUT_SIZE, "INPUT-SIZE", 1, "the input is larger than any real one")                        \
    X(FIELD_MISSING, "FIELD-MISSING", 1, "a field is missing")                                     \
    X(FIELD_TYPE, "FIELD-TYPE", 1, "a field has the wrong type or form")                           \
    X(FIELD_DUPLICATE, "FIELD-DUPLICATE", 1, "a field occurs twice")                               \
    X(FIELD_COUNT, "FIELD-COUNT", 1, "an array has the wrong number of elements")                  \
    X(FIELD_RANGE, "FIELD-RANGE", 1, "a number is out of range")                                   \
    X(HASH_LENGTH, "HASH-LENGTH", 1, "a 32-byte value has another length")                         \
    X(NOT_CANONICAL, "NOT-CANONICAL", 1, "a 32-byte value is not below the field's modulus")       \
    X(REGISTERED_PROOF, "REGISTERED-PROOF", 1, "the registered proof is unknown")                  \
    X(SECTOR_SIZE, "SECTOR-SIZE", 1, "sector size and registered proof contradict each other")     \
    X(REPLICA_ID, "REPLICA-ID", 1, "the replica id does not follow from the sector's data")        \
    X(CHALLENGE, "CHALLENGE", 1, "a challenge is not the one that the seed gives")                 \
    X(PARENT, "PARENT", 1, "a parent is not the one that the graph gives")                         \
    X(MERKLE_PATH, "MERKLE-PATH", 1, "a Merkle path does not lead to its root")                    \
    X(MERKLE_ROOT, "MERKLE-ROOT", 1, "a Merkle root is not the one that the sector commits to")    \
    X(COLUMN, "COLUMN", 1, "a column does not hash to its leaf")                                   \
    X(LABEL, "LABEL", 1, "a label does not follow from its parents")                               \
    X(ENCODING, "ENCODING", 1, "the encoded node is not data plus key")                            \
    X(COMM_R, "COMM-R", 1, "comm_r is not the hash of comm_c and comm_r_last")                     \
    X(COMM_D, "COMM-D", 1, "comm_d is not the root of the data tree")                              \
    X(UNSATISFIED, "UNSATISFIED", 1, "the witness does not satisfy the constraint system")         \
    X(PROOF_ENCODING, "PROOF-ENCODING", 1, "the proof's bytes are no group elements")              \
    X(PROOF_INVALID, "PROOF-INVALID", 1, "the proof does not verify")                              \
    X(PARAM_MISSING, "PARAM-MISSING", 3, "the parameter file is missing")                          \
    X(PARAM_TRUNC, "PARAM-TRUNC", 3, "the parameter file has the wrong size")                      \
    X(PARAM_ZERO, "PARAM-ZERO", 3, "the parameter file is full of zeros")                          \
    X(PARAM_HTML, "PARAM-HTML", 3, "the parameter file is a saved error page")                     \
    X(PARAM_CIRCUIT, "PARAM-CIRCUIT", 3, "the parameters belong to another circuit")               \
    X(PARAM_DIGEST, "PARAM-DIGEST", 3, "the parameter file is damaged: its digest is wrong")       \
    X(PARAM_SWAPPED, "PARAM-SWAPPED", 3, "the file holds another circuit's parameters")            \
    X(PARAM_POINT, "PARAM-POINT", 3, "a point in the parameter file is not on the curve")          \
    X(PARAM_SUBGROUP, "PARAM-SUBGROUP", 3, "a point in the parameter file is not in the group")    \
    X(PARAM_HEADER, "PARAM-HEADER", 3, "the parameter file's header makes no sense")               \
    X(INTERNAL, "INTERNAL", 4, "a fault in cuzk")

typedef enum cuzk_status {
    CUZK_OK = 0,
#define CUZK_X(symbol, name, code, text) CUZK_##symbol,
    CUZK_STATUS_MAP(CUZK_X)
#undef CUZK_X
        CUZK_STATUS_COUNT
} cuzk_status;

/* What went wrong, in fixed space. Every string is NUL-terminated; too long ones are cut. */
struct cuzk_error {
    cuzk_status code;
    char where[320]; /* a path in the input, a file's name, a section; may be empty */
    char what[320];  /* one sentence with the values at fault */
    char hint[320];  /* what to do; may be empty */
};

#ifdef __cplusplus
}
#endif
#endif
