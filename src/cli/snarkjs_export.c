#include "snarkjs_export.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "file.h"
#include "json_out.h"

enum { FP_BYTES = 48, DECIMAL_MAX = 128 };

/* Decimal text of n big-endian bytes (n <= 48): long division by 10^9, digits from the right. */
static void decimal(char out[DECIMAL_MAX], const uint8_t *bytes, size_t n) {
    uint8_t rest[FP_BYTES];
    assert(n <= sizeof rest);
    memcpy(rest, bytes, n);
    char digits[DECIMAL_MAX];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    bool zero = false;
    while (!zero) {
        uint64_t remainder = 0;
        zero = true;
        for (size_t i = 0; i < n; i++) {
            const uint64_t v = remainder << 8 | rest[i];
            rest[i] = (uint8_t)(v / 1000000000);
            remainder = v % 1000000000;
            zero = zero && rest[i] == 0;
        }
        for (int k = 0; k < 9; k++, remainder /= 10)
            digits[--at] = (char)('0' + remainder % 10);
    }
    const char *first = digits + at;
    while (first[0] == '0' && first[1] != '\0')
        first++;
    memcpy(out, first, strlen(first) + 1);
}

static void write_coordinate(struct json_out *j, const char *key, const uint8_t bytes[FP_BYTES]) {
    char text[DECIMAL_MAX];
    decimal(text, bytes, FP_BYTES);
    json_string(j, key, text);
}

static void write_g1(struct json_out *j, const char *key, const g1_affine *p) {
    uint8_t bytes[G1_BYTES];
    g1_encode(bytes, p);
    json_array_begin(j, key);
    write_coordinate(j, NULL, bytes);
    write_coordinate(j, NULL, bytes + FP_BYTES);
    json_string(j, NULL, "1");
    json_array_end(j);
}

/* The encoding has c1 before c0; snarkjs wants c0 first. */
static void write_fp2(struct json_out *j, const uint8_t bytes[2 * FP_BYTES]) {
    json_array_begin(j, NULL);
    write_coordinate(j, NULL, bytes + FP_BYTES);
    write_coordinate(j, NULL, bytes);
    json_array_end(j);
}

static void write_g2(struct json_out *j, const char *key, const g2_affine *p) {
    uint8_t bytes[G2_BYTES];
    g2_encode(bytes, p);
    json_array_begin(j, key);
    write_fp2(j, bytes);
    write_fp2(j, bytes + 2 * FP_BYTES);
    json_array_begin(j, NULL);
    json_string(j, NULL, "1");
    json_string(j, NULL, "0");
    json_array_end(j);
    json_array_end(j);
}

static void write_kind(struct json_out *j) {
    json_string(j, "protocol", "groth16");
    json_string(j, "curve", "bls12381");
}

static cuzk_status begin(struct out_file *f, struct json_out *j, const char *dir, const char *name,
                         struct cuzk_error *err) {
    char path[1024];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, name) >= sizeof path)
        return error_set(err, CUZK_FILE_WRITE, dir, "give a shorter path", "the path is too long");
    CUZK_TRY(file_begin(f, path, err));
    json_begin(j, f->stream);
    return CUZK_OK;
}

static cuzk_status write_key(const char *dir, const struct vkey *vk, struct cuzk_error *err) {
    struct out_file f;
    struct json_out j;
    CUZK_TRY(begin(&f, &j, dir, "verification_key.json", err));
    json_object_begin(&j, NULL);
    write_kind(&j);
    json_u64(&j, "nPublic", vk->n_ic - 1);
    write_g1(&j, "vk_alpha_1", &vk->alpha_g1);
    write_g2(&j, "vk_beta_2", &vk->beta_g2);
    write_g2(&j, "vk_gamma_2", &vk->gamma_g2);
    write_g2(&j, "vk_delta_2", &vk->delta_g2);
    json_array_begin(&j, "IC");
    for (uint32_t i = 0; i < vk->n_ic; i++)
        write_g1(&j, NULL, &vk->ic[i]);
    json_array_end(&j);
    json_object_end(&j);
    json_end(&j);
    return file_commit(&f, err);
}

static cuzk_status write_inputs(const char *dir, const fr *inputs, size_t n,
                                struct cuzk_error *err) {
    struct out_file f;
    struct json_out j;
    CUZK_TRY(begin(&f, &j, dir, "public.json", err));
    json_array_begin(&j, NULL);
    for (size_t i = 0; i < n; i++) {
        uint8_t little[32], big[32];
        fr_to_bytes(little, &inputs[i]);
        for (int k = 0; k < 32; k++)
            big[k] = little[31 - k];
        char text[DECIMAL_MAX];
        decimal(text, big, sizeof big);
        json_string(&j, NULL, text);
    }
    json_array_end(&j);
    json_end(&j);
    return file_commit(&f, err);
}

static cuzk_status write_proof(const char *dir, const uint8_t proof[192], struct cuzk_error *err) {
    g1_affine a, c;
    g2_affine b;
    if (g1_decompress(&a, proof) != POINT_GOOD || g2_decompress(&b, proof + 48) != POINT_GOOD ||
        g1_decompress(&c, proof + 144) != POINT_GOOD)
        return error_set(err, CUZK_PROOF_ENCODING, NULL, "make the proof again",
                         "A, B or C is no point of the group");
    struct out_file f;
    struct json_out j;
    CUZK_TRY(begin(&f, &j, dir, "proof.json", err));
    json_object_begin(&j, NULL);
    write_g1(&j, "pi_a", &a);
    write_g2(&j, "pi_b", &b);
    write_g1(&j, "pi_c", &c);
    write_kind(&j);
    json_object_end(&j);
    json_end(&j);
    return file_commit(&f, err);
}

cuzk_status snarkjs_export(const char *dir, const struct vkey *vk, const uint8_t proof[192],
                           const fr *inputs, size_t n_inputs, struct cuzk_error *err) {
    assert(n_inputs + 1 == vk->n_ic);
    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        return error_set(err, CUZK_FILE_WRITE, dir, "check the path and its permissions", "%s",
                         strerror(errno));
    CUZK_TRY(write_proof(dir, proof, err));
    CUZK_TRY(write_inputs(dir, inputs, n_inputs, err));
    return write_key(dir, vk, err);
}
