#include "rpc_codec.h"

#include <stdlib.h>
#include <string.h>

#include "cuzk.pb-c.h"
#include "rpc_wire.h"

/* Numbers that are the same on both sides are passed on as they are. */
_Static_assert((int)CUZK__V1__PROOF_KIND__POREP_SEAL_COMMIT == (int)ENGINE_KIND_POREP &&
                   (int)CUZK__V1__PROOF_KIND__SNAP_DEALS_UPDATE == (int)ENGINE_KIND_SNAP &&
                   (int)CUZK__V1__PROOF_KIND__WINDOW_POST_PARTITION ==
                       (int)ENGINE_KIND_WINDOW_POST &&
                   (int)CUZK__V1__PROOF_KIND__WINNING_POST == (int)ENGINE_KIND_WINNING_POST,
               "kinds");
_Static_assert((int)CUZK__V1__PRIORITY__LOW == (int)FLOW_LOW &&
                   (int)CUZK__V1__PRIORITY__CRITICAL == (int)FLOW_CRITICAL,
               "priorities");

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Where the two large fields stand among the rules. */
enum { RULE_PROOF, RULE_PROOFS };

static const struct wire_rule submit_rules[] = {
    [RULE_PROOF] = {10, WIRE_CUT, 0, "vanilla_proof"},
    [RULE_PROOFS] = {11, WIRE_CUTS, 0, "vanilla_proofs"},
    {1, WIRE_TEXT, WIRE_MOST_TEXT, "request_id"},
    {2, WIRE_NUMBER, ENGINE_KIND_WINNING_POST, "proof_kind"},
    {3, WIRE_NUMBER, UINT64_MAX, "sector_size"},
    {4, WIRE_NUMBER, UINT64_MAX, "registered_proof"},
    {5, WIRE_NUMBER, FLOW_CRITICAL, "priority"},
    {20, WIRE_NUMBER, UINT64_MAX, "sector_number"},
    {21, WIRE_NUMBER, UINT64_MAX, "miner_id"},
    {22, WIRE_HASH, 0, "randomness"},
    {23, WIRE_NUMBER, UINT32_MAX, "partition_index"},
    {30, WIRE_HASH, 0, "comm_r_old"},
    {31, WIRE_HASH, 0, "comm_r_new"},
    {32, WIRE_HASH, 0, "comm_d_new"},
};
_Static_assert(COUNT(submit_rules) <= WIRE_MAX_RULES, "rules");

/* Reads by the rules and unpacks what they leave. *out is freed with free_unpacked(). */
static cuzk_status unpack(ProtobufCMessage **out, const ProtobufCMessageDescriptor *descriptor,
                          const void *bytes, size_t n, const struct wire_rule *rules,
                          size_t n_rules, struct wire_cut *cuts, struct cuzk_error *err) {
    *out = NULL;
    const size_t most = n < WIRE_SMALL_BYTES ? n : WIRE_SMALL_BYTES;
    uint8_t *small = malloc(most > 0 ? most : 1);
    if (small == NULL) return error_set(err, CUZK_NO_MEMORY, NULL, NULL, "no memory for a request");
    size_t small_bytes;
    cuzk_status status = wire_read(bytes, n, rules, n_rules, cuts, small, &small_bytes, err);
    if (status == CUZK_OK) {
        *out = protobuf_c_message_unpack(descriptor, NULL, small_bytes, small);
        if (*out == NULL)
            status = error_set(err, CUZK_MESSAGE_FORM, NULL, "send a message of cuzk.proto",
                               "the message cannot be unpacked");
    }
    free(small);
    return status;
}

static void free_unpacked(void *message) {
    if (message != NULL) protobuf_c_message_free_unpacked(message, NULL);
}

/* ---- SubmitProof, Prove ---- */

/* The payload of a kind: PoRep has one file, the others have one proof or several. */
static cuzk_status choose_payload(struct engine_request *r, const struct wire_cut *cuts,
                                  struct cuzk_error *err) {
    const struct wire_cut *one = &cuts[RULE_PROOF], *many = &cuts[RULE_PROOFS];
    if (r->kind == ENGINE_KIND_NONE)
        return error_set(err, CUZK_FIELD_MISSING, "proof_kind", "name the kind of proof",
                         "is unspecified");
    if (r->kind == ENGINE_KIND_POREP && many->count > 0)
        return error_set(err, CUZK_REQUEST, "vanilla_proofs",
                         "send the C1 file as vanilla_proof alone",
                         "has %zu proofs, but a PoRep request has none there", many->count);
    const struct wire_cut *payload = one->n > 0 || many->count == 0 ? one : many;
    if (payload->n == 0)
        return error_set(err, CUZK_FIELD_MISSING, "vanilla_proof",
                         r->kind == ENGINE_KIND_POREP ? "send the C1 file" : NULL, "is empty");
    r->payload = payload->bytes;
    r->payload_bytes = payload->n;
    return CUZK_OK;
}

cuzk_status rpc_decode_submit(struct rpc_decoded_submit *out, const void *bytes, size_t n,
                              bool prove, struct cuzk_error *err) {
    static const struct wire_rule prove_rules[] = {{1, WIRE_CUT, 0, "submit"}};
    struct wire_cut cuts[COUNT(submit_rules)];
    ProtobufCMessage *message;
    *out = (struct rpc_decoded_submit){0};
    if (prove) {
        uint8_t none[1];
        size_t none_bytes;
        CUZK_TRY(wire_read(bytes, n, prove_rules, 1, cuts, none, &none_bytes, err));
        if (cuts[0].count == 0)
            return error_set(err, CUZK_FIELD_MISSING, "submit", NULL, "the request is empty");
        bytes = cuts[0].bytes;
        n = cuts[0].n;
    }
    CUZK_TRY(unpack(&message, &cuzk__v1__submit_proof_request__descriptor, bytes, n, submit_rules,
                    COUNT(submit_rules), cuts, err));
    const Cuzk__V1__SubmitProofRequest *m = (const Cuzk__V1__SubmitProofRequest *)message;
    struct engine_request request = {
        .request_id = m->request_id,
        .kind = (enum engine_kind)m->proof_kind,
        .sector_size = m->sector_size,
        .registered_proof = m->registered_proof,
        .sector_number = m->sector_number,
        .miner_id = m->miner_id,
        .priority = (int)m->priority,
    };
    const cuzk_status status = choose_payload(&request, cuts, err);
    if (status != CUZK_OK) {
        free_unpacked(message);
        return status;
    }
    out->request = request;
    out->message = message;
    return CUZK_OK;
}

void rpc_decoded_submit_clear(struct rpc_decoded_submit *d) {
    free_unpacked(d->message);
    *d = (struct rpc_decoded_submit){0};
}

/* ---- the small requests ---- */

static cuzk_status take_job_id(struct rpc_decoded_job *out, const char *id,
                               struct cuzk_error *err) {
    if (*id == 0) return error_set(err, CUZK_FIELD_MISSING, "job_id", NULL, "is empty");
    if (strlen(id) >= sizeof out->job_id)
        return error_set(err, CUZK_JOB_UNKNOWN, NULL, NULL, "there is no job %.60s…", id);
    memcpy(out->job_id, id, strlen(id) + 1);
    return CUZK_OK;
}

cuzk_status rpc_decode_await(struct rpc_decoded_job *out, const void *bytes, size_t n,
                             struct cuzk_error *err) {
    static const struct wire_rule rules[] = {
        {1, WIRE_TEXT, WIRE_MOST_TEXT, "job_id"},
        {2, WIRE_NUMBER, UINT64_MAX, "timeout_ms"},
    };
    struct wire_cut cuts[COUNT(rules)];
    ProtobufCMessage *message;
    *out = (struct rpc_decoded_job){0};
    CUZK_TRY(unpack(&message, &cuzk__v1__await_proof_request__descriptor, bytes, n, rules,
                    COUNT(rules), cuts, err));
    const Cuzk__V1__AwaitProofRequest *m = (const Cuzk__V1__AwaitProofRequest *)message;
    out->timeout_ms = m->timeout_ms;
    const cuzk_status status = take_job_id(out, m->job_id, err);
    free_unpacked(message);
    return status;
}

cuzk_status rpc_decode_cancel(struct rpc_decoded_job *out, const void *bytes, size_t n,
                              struct cuzk_error *err) {
    static const struct wire_rule rules[] = {{1, WIRE_TEXT, WIRE_MOST_TEXT, "job_id"}};
    struct wire_cut cuts[COUNT(rules)];
    ProtobufCMessage *message;
    *out = (struct rpc_decoded_job){0};
    CUZK_TRY(unpack(&message, &cuzk__v1__cancel_proof_request__descriptor, bytes, n, rules,
                    COUNT(rules), cuts, err));
    const cuzk_status status =
        take_job_id(out, ((const Cuzk__V1__CancelProofRequest *)message)->job_id, err);
    free_unpacked(message);
    return status;
}

cuzk_status rpc_decode_circuit(struct rpc_decoded_circuit *out, const void *bytes, size_t n,
                               struct cuzk_error *err) {
    /* Both requests have this one field. */
    static const struct wire_rule rules[] = {{1, WIRE_TEXT, CIRCUIT_ID_BYTES - 1, "circuit_id"}};
    struct wire_cut cuts[COUNT(rules)];
    ProtobufCMessage *message;
    *out = (struct rpc_decoded_circuit){0};
    CUZK_TRY(unpack(&message, &cuzk__v1__preload_srs_request__descriptor, bytes, n, rules,
                    COUNT(rules), cuts, err));
    const char *id = ((const Cuzk__V1__PreloadSrsRequest *)message)->circuit_id;
    cuzk_status status = CUZK_OK;
    if (*id == 0)
        status = error_set(err, CUZK_FIELD_MISSING, "circuit_id", "name a circuit, as porep-32g",
                           "is empty");
    else
        memcpy(out->circuit_id, id, strlen(id) + 1);
    free_unpacked(message);
    return status;
}

cuzk_status rpc_decode_empty(const void *bytes, size_t n, struct cuzk_error *err) {
    uint8_t none[1];
    size_t none_bytes;
    return wire_read(bytes, n, NULL, 0, NULL, none, &none_bytes, err);
}
