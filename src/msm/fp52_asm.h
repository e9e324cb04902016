/*
 * Inside of the msm room: the products of vectors of fp52.h, in assembly, always two at once.
 *
 * A product has 264 multiplications, of which the processor begins two in a cycle, but Montgomery's
 * reduction is a chain: eight times from the lowest column to its quotient q, and back. Two
 * products whose instructions alternate hide each other's chain. Compilers do not keep such code in
 * the registers; written out, with multiplicands and p as memory operands, it takes 25 of 32.
 *
 * Operand scanning: step i adds a_i b to the nine columns t0 .. t8, then q p with q = -t0 / p mod
 * 2^52, which clears the low 52 bits of t0. What is above them goes to t1, and the columns move
 * down by one: the names of the next step are rotated, t0's register becoming t8. Columns stay
 * below 2^60.
 */
#ifndef MSM_FP52_ASM_H
#define MSM_FP52_ASM_H

#include "fp52.h"

/* What the code reads besides its operands, all below offset 128 of one pointer. */
struct fp52_constants {
    uint64_t p[8];
    uint64_t n0; /* -1 / p mod 2^52 */
    uint64_t mask;
};

static const struct fp52_constants fp52_constants = {
    .p = FP52_P,
    .n0 = FP52_N0,
    .mask = FP52_MASK,
};

#define FP52_LO(m, x, t) "vpmadd52luq " m ", " x ", " t "\n\t"
#define FP52_HI(m, x, t) "vpmadd52huq " m ", " x ", " t "\n\t"
#define FP52_ZERO(t)     "vpxorq " t ", " t ", " t "\n\t"

/* t += x y for a limb x and the eight limbs y in memory, `at` bytes after the operand `base`. */
#define FP52_AT(at, base, j) #at "+64*" #j "(%[" #base "])"
#define FP52_ROW(x, at, base, t0, t1, t2, t3, t4, t5, t6, t7, t8)                                  \
    FP52_LO(FP52_AT(at, base, 0), x, t0)                                                           \
    FP52_LO(FP52_AT(at, base, 1), x, t1)                                                           \
    FP52_LO(FP52_AT(at, base, 2), x, t2)                                                           \
    FP52_LO(FP52_AT(at, base, 3), x, t3)                                                           \
    FP52_LO(FP52_AT(at, base, 4), x, t4)                                                           \
    FP52_LO(FP52_AT(at, base, 5), x, t5)                                                           \
    FP52_LO(FP52_AT(at, base, 6), x, t6)                                                           \
    FP52_LO(FP52_AT(at, base, 7), x, t7)                                                           \
    FP52_HI(FP52_AT(at, base, 0), x, t1)                                                           \
    FP52_HI(FP52_AT(at, base, 1), x, t2)                                                           \
    FP52_HI(FP52_AT(at, base, 2), x, t3)                                                           \
    FP52_HI(FP52_AT(at, base, 3), x, t4)                                                           \
    FP52_HI(FP52_AT(at, base, 4), x, t5)                                                           \
    FP52_HI(FP52_AT(at, base, 5), x, t6)                                                           \
    FP52_HI(FP52_AT(at, base, 6), x, t7)                                                           \
    FP52_HI(FP52_AT(at, base, 7), x, t8)

/* q = t0 n0, t += q p, and t0's carry; c is spoilt. */
#define FP52_P_LIMB(j) "8*" #j "(%[k])%{1to8%}"
#define FP52_QUOTIENT(q, t0)                                                                       \
    FP52_ZERO(q)                                                                                   \
    FP52_LO("64(%[k])%{1to8%}", t0, q)
#define FP52_REDUCE(q, c, t0, t1, t2, t3, t4, t5, t6, t7, t8)                                      \
    FP52_LO(FP52_P_LIMB(0), q, t0)                                                                 \
    FP52_LO(FP52_P_LIMB(1), q, t1)                                                                 \
    FP52_HI(FP52_P_LIMB(0), q, t1)                                                                 \
    "vpsrlq $52, " t0 ", " c                                                                       \
    "\n\t"                                                                                         \
    "vpaddq " c ", " t1 ", " t1 "\n\t" FP52_LO(FP52_P_LIMB(2), q, t2)                              \
        FP52_LO(FP52_P_LIMB(3), q, t3) FP52_LO(FP52_P_LIMB(4), q, t4)                              \
            FP52_LO(FP52_P_LIMB(5), q, t5) FP52_LO(FP52_P_LIMB(6), q, t6)                          \
                FP52_LO(FP52_P_LIMB(7), q, t7) FP52_HI(FP52_P_LIMB(1), q, t2)                      \
                    FP52_HI(FP52_P_LIMB(2), q, t3) FP52_HI(FP52_P_LIMB(3), q, t4)                  \
                        FP52_HI(FP52_P_LIMB(4), q, t5) FP52_HI(FP52_P_LIMB(5), q, t6)              \
                            FP52_HI(FP52_P_LIMB(6), q, t7) FP52_HI(FP52_P_LIMB(7), q, t8)

/* The columns' registers: X for the first product, Y for the second. */
#define FP52_X0 "%%zmm0"
#define FP52_X1 "%%zmm1"
#define FP52_X2 "%%zmm2"
#define FP52_X3 "%%zmm3"
#define FP52_X4 "%%zmm4"
#define FP52_X5 "%%zmm5"
#define FP52_X6 "%%zmm6"
#define FP52_X7 "%%zmm7"
#define FP52_X8 "%%zmm8"
#define FP52_Y0 "%%zmm9"
#define FP52_Y1 "%%zmm10"
#define FP52_Y2 "%%zmm11"
#define FP52_Y3 "%%zmm12"
#define FP52_Y4 "%%zmm13"
#define FP52_Y5 "%%zmm14"
#define FP52_Y6 "%%zmm15"
#define FP52_Y7 "%%zmm16"
#define FP52_Y8 "%%zmm17"

#define FP52_LOAD_A(at, i, x) "vmovdqu64 " #at "+64*" #i "(%[a]), " x "\n\t"

/* Step i of two independent products: a b of the first halves and of the second ones. */
#define FP52_MUL_STEP(i, x0, x1, x2, x3, x4, x5, x6, x7, x8, y0, y1, y2, y3, y4, y5, y6, y7, y8)   \
    FP52_LOAD_A(0, i, "%%zmm18")                                                                   \
    FP52_LOAD_A(512, i, "%%zmm19")                                                                 \
    FP52_ZERO(x8)                                                                                  \
    FP52_ZERO(y8)                                                                                  \
    FP52_ROW("%%zmm18", 0, b, x0, x1, x2, x3, x4, x5, x6, x7, x8)                                  \
    FP52_QUOTIENT("%%zmm22", x0)                                                                   \
    FP52_ROW("%%zmm19", 512, b, y0, y1, y2, y3, y4, y5, y6, y7, y8)                                \
    FP52_QUOTIENT("%%zmm23", y0)                                                                   \
    FP52_REDUCE("%%zmm22", "%%zmm24", x0, x1, x2, x3, x4, x5, x6, x7, x8)                          \
    FP52_REDUCE("%%zmm23", "%%zmm25", y0, y1, y2, y3, y4, y5, y6, y7, y8)

/* Step i of a0 b0 + a1 c (first) and a0 b1 + a1 b0 (second). */
#define FP52_DOT_STEP(i, x0, x1, x2, x3, x4, x5, x6, x7, x8, y0, y1, y2, y3, y4, y5, y6, y7, y8)   \
    FP52_LOAD_A(0, i, "%%zmm18")                                                                   \
    FP52_LOAD_A(512, i, "%%zmm19")                                                                 \
    FP52_ZERO(x8)                                                                                  \
    FP52_ZERO(y8)                                                                                  \
    FP52_ROW("%%zmm18", 0, b, x0, x1, x2, x3, x4, x5, x6, x7, x8)                                  \
    FP52_ROW("%%zmm18", 512, b, y0, y1, y2, y3, y4, y5, y6, y7, y8)                                \
    FP52_ROW("%%zmm19", 0, c, x0, x1, x2, x3, x4, x5, x6, x7, x8)                                  \
    FP52_QUOTIENT("%%zmm22", x0)                                                                   \
    FP52_ROW("%%zmm19", 0, b, y0, y1, y2, y3, y4, y5, y6, y7, y8)                                  \
    FP52_QUOTIENT("%%zmm23", y0)                                                                   \
    FP52_REDUCE("%%zmm22", "%%zmm24", x0, x1, x2, x3, x4, x5, x6, x7, x8)                          \
    FP52_REDUCE("%%zmm23", "%%zmm25", y0, y1, y2, y3, y4, y5, y6, y7, y8)

#define FP52_ALL_STEPS(STEP)                                                                       \
    FP52_CLEAR(FP52_X0, FP52_X1, FP52_X2, FP52_X3, FP52_X4, FP52_X5, FP52_X6, FP52_X7)             \
    FP52_CLEAR(FP52_Y0, FP52_Y1, FP52_Y2, FP52_Y3, FP52_Y4, FP52_Y5, FP52_Y6, FP52_Y7)             \
    STEP(0, FP52_X0, FP52_X1, FP52_X2, FP52_X3, FP52_X4, FP52_X5, FP52_X6, FP52_X7, FP52_X8,       \
         FP52_Y0, FP52_Y1, FP52_Y2, FP52_Y3, FP52_Y4, FP52_Y5, FP52_Y6, FP52_Y7, FP52_Y8)          \
    STEP(1, FP52_X1, FP52_X2, FP52_X3, FP52_X4, FP52_X5, FP52_X6, FP52_X7, FP52_X8, FP52_X0,       \
         FP52_Y1, FP52_Y2, FP52_Y3, FP52_Y4, FP52_Y5, FP52_Y6, FP52_Y7, FP52_Y8, FP52_Y0)          \
    STEP(2, FP52_X2, FP52_X3, FP52_X4, FP52_X5, FP52_X6, FP52_X7, FP52_X8, FP52_X0, FP52_X1,       \
         FP52_Y2, FP52_Y3, FP52_Y4, FP52_Y5, FP52_Y6, FP52_Y7, FP52_Y8, FP52_Y0, FP52_Y1)          \
    STEP(3, FP52_X3, FP52_X4, FP52_X5, FP52_X6, FP52_X7, FP52_X8, FP52_X0, FP52_X1, FP52_X2,       \
         FP52_Y3, FP52_Y4, FP52_Y5, FP52_Y6, FP52_Y7, FP52_Y8, FP52_Y0, FP52_Y1, FP52_Y2)          \
    STEP(4, FP52_X4, FP52_X5, FP52_X6, FP52_X7, FP52_X8, FP52_X0, FP52_X1, FP52_X2, FP52_X3,       \
         FP52_Y4, FP52_Y5, FP52_Y6, FP52_Y7, FP52_Y8, FP52_Y0, FP52_Y1, FP52_Y2, FP52_Y3)          \
    STEP(5, FP52_X5, FP52_X6, FP52_X7, FP52_X8, FP52_X0, FP52_X1, FP52_X2, FP52_X3, FP52_X4,       \
         FP52_Y5, FP52_Y6, FP52_Y7, FP52_Y8, FP52_Y0, FP52_Y1, FP52_Y2, FP52_Y3, FP52_Y4)          \
    STEP(6, FP52_X6, FP52_X7, FP52_X8, FP52_X0, FP52_X1, FP52_X2, FP52_X3, FP52_X4, FP52_X5,       \
         FP52_Y6, FP52_Y7, FP52_Y8, FP52_Y0, FP52_Y1, FP52_Y2, FP52_Y3, FP52_Y4, FP52_Y5)          \
    STEP(7, FP52_X7, FP52_X8, FP52_X0, FP52_X1, FP52_X2, FP52_X3, FP52_X4, FP52_X5, FP52_X6,       \
         FP52_Y7, FP52_Y8, FP52_Y0, FP52_Y1, FP52_Y2, FP52_Y3, FP52_Y4, FP52_Y5, FP52_Y6)          \
    "vpbroadcastq 72(%[k]), %%zmm26\n\t" FP52_FINISH(0, FP52_X8, FP52_X0, FP52_X1, FP52_X2,        \
                                                     FP52_X3, FP52_X4, FP52_X5, FP52_X6)           \
        FP52_FINISH(512, FP52_Y8, FP52_Y0, FP52_Y1, FP52_Y2, FP52_Y3, FP52_Y4, FP52_Y5, FP52_Y6)

#define FP52_CLEAR(t0, t1, t2, t3, t4, t5, t6, t7)                                                 \
    FP52_ZERO(t0)                                                                                  \
    FP52_ZERO(t1)                                                                                  \
    FP52_ZERO(t2)                                                                                  \
    FP52_ZERO(t3)                                                                                  \
    FP52_ZERO(t4)                                                                                  \
    FP52_ZERO(t5)                                                                                  \
    FP52_ZERO(t6)                                                                                  \
    FP52_ZERO(t7)

/* Carries t into u and stores it as limb j, `at` bytes after out. */
#define FP52_STORE(at, j, t) "vmovdqu64 " t ", " #at "+64*" #j "(%[out])\n\t"
#define FP52_CARRY(at, j, t, u)                                                                    \
    "vpsrlq $52, " t                                                                               \
    ", %%zmm24\n\t"                                                                                \
    "vpandq %%zmm26, " t ", " t                                                                    \
    "\n\t"                                                                                         \
    "vpaddq %%zmm24, " u ", " u "\n\t" FP52_STORE(at, j, t)
#define FP52_FINISH(at, t0, t1, t2, t3, t4, t5, t6, t7)                                            \
    FP52_CARRY(at, 0, t0, t1)                                                                      \
    FP52_CARRY(at, 1, t1, t2)                                                                      \
    FP52_CARRY(at, 2, t2, t3)                                                                      \
    FP52_CARRY(at, 3, t3, t4)                                                                      \
    FP52_CARRY(at, 4, t4, t5)                                                                      \
    FP52_CARRY(at, 5, t5, t6)                                                                      \
    FP52_CARRY(at, 6, t6, t7)                                                                      \
    FP52_STORE(at, 7, t7)

#define FP52_CLOBBERS                                                                              \
    "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",      \
        "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19",  \
        "xmm22", "xmm23", "xmm24", "xmm25", "xmm26"

/* out[i] = a[i] b[i] / 2^416 for i = 0, 1. out may be a or b. */
static __attribute__((noinline, unused)) void fp52_mul_two(fp52 out[2], const fp52 a[2],
                                                           const fp52 b[2]) {
    __asm__ volatile(FP52_ALL_STEPS(FP52_MUL_STEP)
                     :
                     : [out] "r"(out), [a] "r"(a), [b] "r"(b), [k] "r"(&fp52_constants)
                     : FP52_CLOBBERS);
}

/* out[0] = (a[0] b[0] + a[1] c) / 2^416, out[1] = (a[0] b[1] + a[1] b[0]) / 2^416. */
static __attribute__((noinline, unused)) void fp52_dot_two(fp52 out[2], const fp52 a[2],
                                                           const fp52 b[2], const fp52 *c) {
    __asm__ volatile(FP52_ALL_STEPS(FP52_DOT_STEP)
                     :
                     : [out] "r"(out), [a] "r"(a), [b] "r"(b), [c] "r"(c), [k] "r"(&fp52_constants)
                     : FP52_CLOBBERS);
}

#endif
