/*
 * The layout of a parameter file (bellperson's), and what its first bytes and its counts say.
 *
 *     alpha_g1 beta_g1 beta_g2 gamma_g2 delta_g1 delta_g2, n, ic[n]     the verifying key
 *     n, h[n]   n, l[n]   n, a[n]   n, b_g1[n]   n, b_g2[n]
 *
 * Counts are u32 big-endian; points are uncompressed, 96 bytes in G1, 192 in G2. A file of the
 * suffix .vk holds the first line only. doc/params.md has the details.
 */
#ifndef GROTH16_PARAM_LAYOUT_H
#define GROTH16_PARAM_LAYOUT_H

#include "param_source.h"
#include "r1cs.h"

enum param_section {
    SECTION_IC,
    SECTION_H,
    SECTION_L,
    SECTION_A,
    SECTION_B_G1,
    SECTION_B_G2,
    PARAM_SECTIONS
};

/* Bytes before the count of ic: three points in G1, three in G2. */
enum { VKEY_FIXED_BYTES = 3 * 96 + 3 * 192 };

struct param_layout {
    uint32_t count[PARAM_SECTIONS];  /* points */
    uint64_t offset[PARAM_SECTIONS]; /* of the section's first point */
    uint64_t vkey_bytes;             /* the first line's length */
    uint64_t file_bytes;             /* the whole file's length */
};

const char *param_section_name(enum param_section section); /* "ic", "h", … */
unsigned param_point_bytes(enum param_section section);

/* Offsets and lengths from the counts. */
void param_layout_place(struct param_layout *layout);

/* What a circuit's file has. */
void param_layout_of_circuit(struct param_layout *out, const struct r1cs_stats *circuit);

/*
 * Reads the counts, each at the place that the ones before give, and holds the length that follows
 * against the source's, before any point is read. With `circuit` (may be NULL) each count must be
 * the circuit's.
 * Errors: PARAM_ZERO, PARAM_HTML (the first bytes), PARAM_TRUNC (shorter or longer than it should
 * be, with both lengths), PARAM_HEADER (no system has such counts), PARAM_CIRCUIT, FILE_READ.
 */
CUZK_NODISCARD cuzk_status param_layout_read(struct param_layout *out,
                                             const struct param_source *src,
                                             const struct r1cs_stats *circuit,
                                             struct cuzk_error *err);

/* The same for a .vk file: only count[SECTION_IC] and vkey_bytes are filled. n_inputs 0: any. */
CUZK_NODISCARD cuzk_status vkey_layout_read(struct param_layout *out,
                                            const struct param_source *src, uint32_t n_inputs,
                                            struct cuzk_error *err);

#endif
