#include "bench_request.h"

#include <string.h>

#include "c1.h"
#include "file.h"

enum { MAX_FILE_BYTES = 1 << 30, HASH_BYTES = 32 };

size_t bench_request_options(struct bench_request *r, struct option_spec *options, size_t n) {
    const struct option_spec shared[BENCH_REQUEST_OPTIONS - 1] = {
        {"t|type", OPTION_STRING, &r->type, "TYPE", "porep, snap, wpost or winning", true},
        {"c1", OPTION_STRING, &r->c1, "FILE", "the C1 file (porep)", .required = false},
        {"vanilla", OPTION_STRING, &r->vanilla, "FILE",
         "vanilla proofs: a JSON array of base64, or one raw proof", .required = false},
        {"registered-proof", OPTION_U64, &r->registered_proof, "N",
         "its number (default: from the C1 file)", .required = false},
        {"sector-num", OPTION_U64, &r->sector_number, "N", "the sector's number (default 1)",
         .required = false},
        {"miner-id", OPTION_U64, &r->miner_id, "N", "the miner's actor id (default 1000)",
         .required = false},
        {"randomness", OPTION_STRING, &r->randomness, "HEX", "32 bytes (wpost, winning)",
         .required = false},
        {"comm-r-old", OPTION_STRING, &r->comm_r_old, "HEX", "32 bytes (snap)", .required = false},
        {"comm-r-new", OPTION_STRING, &r->comm_r_new, "HEX", "32 bytes (snap)", .required = false},
        {"comm-d-new", OPTION_STRING, &r->comm_d_new, "HEX", "32 bytes (snap)", .required = false},
    };
    memcpy(options + n, shared, sizeof shared);
    return n + sizeof shared / sizeof shared[0];
}

static cuzk_status find_kind(enum engine_kind *out, const char *type, struct cuzk_error *err) {
    for (int k = ENGINE_KIND_POREP; k < ENGINE_KINDS; k++)
        if (strcmp(type, engine_kind_name((enum engine_kind)k)) == 0) {
            *out = (enum engine_kind)k;
            return CUZK_OK;
        }
    return error_set(err, CUZK_USAGE, "--type", "give porep, snap, wpost or winning",
                     "'%s' is no type of proof", type);
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

static cuzk_status read_hex(struct rpc_bytes *out, uint8_t value[HASH_BYTES], const char *option,
                            const char *hex, struct cuzk_error *err) {
    if (hex == NULL) return CUZK_OK;
    bool ok = strlen(hex) == 2 * HASH_BYTES;
    for (size_t i = 0; ok && i < HASH_BYTES; i++) {
        const int high = hex_digit(hex[2 * i]), low = hex_digit(hex[2 * i + 1]);
        ok = high >= 0 && low >= 0;
        value[i] = (uint8_t)(high << 4 | low);
    }
    if (!ok)
        return error_set(err, CUZK_USAGE, option, "give 64 hexadecimal digits",
                         "'%s' is not 32 bytes in hexadecimal", hex);
    *out = (struct rpc_bytes){value, HASH_BYTES};
    return CUZK_OK;
}

/* The present daemon's clients always send 34359738368; ours says what the file says. */
static cuzk_status fill_from_c1(struct bench_request *r, struct cuzk_error *err) {
    struct c1 *c1;
    CUZK_TRY(
        c1_decode_memory(&c1, r->submit.vanilla_proof.bytes, r->submit.vanilla_proof.n, NULL, err));
    const struct registered_seal *seal = c1_registered(c1);
    r->submit.sector_size = seal->sector_bytes;
    if (!r->registered_proof.given && seal->number != SEAL_NO_NUMBER)
        r->submit.registered_proof = (uint64_t)seal->number;
    if (!r->sector_number.given && !c1_sector_number(c1, &r->submit.sector_number))
        r->submit.sector_number = 1;
    c1_destroy(c1);
    return CUZK_OK;
}

cuzk_status bench_request_load(struct bench_request *r, struct cuzk_error *err) {
    struct rpc_submit *s = &r->submit;
    CUZK_TRY(find_kind(&s->kind, r->type, err));
    s->registered_proof = r->registered_proof.value;
    s->sector_number = r->sector_number.given ? r->sector_number.value : 1;
    s->miner_id = r->miner_id.given ? r->miner_id.value : 1000;
    s->partition_index = (uint32_t)r->partition.value;
    CUZK_TRY(read_hex(&s->randomness, r->values[0], "--randomness", r->randomness, err));
    CUZK_TRY(read_hex(&s->comm_r_old, r->values[1], "--comm-r-old", r->comm_r_old, err));
    CUZK_TRY(read_hex(&s->comm_r_new, r->values[2], "--comm-r-new", r->comm_r_new, err));
    CUZK_TRY(read_hex(&s->comm_d_new, r->values[3], "--comm-d-new", r->comm_d_new, err));
    const bool porep = s->kind == ENGINE_KIND_POREP;
    const char *path = porep ? r->c1 : r->vanilla;
    if (path == NULL)
        return error_set(err, CUZK_USAGE, NULL, "see --help", "%s is missing",
                         porep ? "--c1" : "--vanilla");
    size_t n = 0;
    CUZK_TRY(file_read(&r->file, &n, path, MAX_FILE_BYTES, err));
    s->vanilla_proof = (struct rpc_bytes){r->file.ptr, n};
    return porep ? fill_from_c1(r, err) : CUZK_OK;
}

void bench_request_free(struct bench_request *r) {
    mem_give(&r->file);
}
