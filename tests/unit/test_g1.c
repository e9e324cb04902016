/* The group laws of G1; pairs of all points of the subgroups of order 3 and 11. */
#include "unit/test_main.h"

#include "unit/point_vectors.h"

#define GROUP       g1
#define COORD       fp
#define SMALL_ORDER 11

static void small_point(g1_affine *out) {
    point_from_hex(out, G1_ORDER_11);
}

static void outside_point(g1_affine *out) {
    point_from_hex(out, G1_OUTSIDE);
}

#include "unit/group_testing_impl.h"

/* (0, 2), its negative and infinity: x = 0 makes some shortcuts of doubling fail. */
static void the_points_of_order_three(void **state) {
    (void)state;
    g1_affine m[3];
    memset(m, 0, sizeof m);
    point_from_hex(&m[1], G1_ORDER_3);
    plain_add(&m[2], &m[1], &m[1]);
    assert_true(fp_is_zero(&m[2].x));
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            g1 a, b, c;
            g1_from_affine(&a, &m[i]);
            g1_from_affine(&b, &m[k]);
            rescale(&a, &g1_generator.x);
            g1_add(&c, &a, &b);
            assert_point(&c, &m[(i + k) % 3]);
            g1_add_affine(&c, &a, &m[k]);
            assert_point(&c, &m[(i + k) % 3]);
            g1_double(&c, &a);
            assert_point(&c, &m[2 * i % 3]);
        }
        assert_int_equal(g1_in_group(&m[i]), i == 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addition_is_complete_in_a_small_subgroup),
        cmocka_unit_test(the_points_of_order_three),
        cmocka_unit_test(infinity_is_neutral_whatever_its_coordinates),
        cmocka_unit_test(multiples_of_the_generator),
        cmocka_unit_test(many_points_become_affine_at_once),
        cmocka_unit_test(points_outside_the_group_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
