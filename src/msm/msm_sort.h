/*
 * Inside of the msm room: signed digits of scalars, and the points of a range sorted by digit.
 *
 * A scalar is sum d_w 2^(c w) with -2^(c-1) <= d_w <= 2^(c-1) in all windows but the top one, whose
 * digit is not negative. d_w depends on the c bits of its window and the one bit below only
 * (Booth): d_w = low c - 1 bits + bit below - 2^(c-1) top bit. No carry passes from window to
 * window, so any worker may take any window.
 */
#ifndef MSM_SORT_H
#define MSM_SORT_H

#include "msm.h"

struct msm_window {
    unsigned shift;    /* lowest bit: index times width */
    unsigned bits;     /* width, c; for the top window all bits that are left, and one more */
    uint32_t n_digits; /* greatest |digit|: buckets are 1 .. n_digits */
};

/* Number of windows of width c that cover a scalar. */
unsigned msm_window_count(unsigned c);
struct msm_window msm_window_at(unsigned c, unsigned index);
/* The greatest n_digits of all windows of width c. */
uint32_t msm_window_max_digits(unsigned c);

/* |digit| * 2, plus 1 when the digit is negative. */
uint32_t msm_digit(const fr_words *scalar, const struct msm_window *window);

/*
 * Counting sort of n < 2^31 scalars by |digit|: entries[ends[d - 1] .. ends[d]) belong to digit d;
 * an entry is 2 i, plus 1 when point i enters negatively. Digit 0 comes first, below ends[0].
 * digits: n words of scratch; ends: n_digits + 1.
 */
void msm_sort(uint32_t *entries, uint32_t *ends, uint32_t *digits, const fr_words *scalars,
              size_t n, const struct msm_window *window);

#endif
