/* The group laws of G2; pairs of all points of the subgroup of order 13. */
#include "unit/test_main.h"

#include "unit/point_vectors.h"

#define GROUP       g2
#define COORD       fp2
#define SMALL_ORDER 13

static void small_point(g2_affine *out) {
    point2_from_hex(out, G2_ORDER_13);
}

static void outside_point(g2_affine *out) {
    point2_from_hex(out, G2_OUTSIDE);
}

#include "unit/group_testing_impl.h"

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addition_is_complete_in_a_small_subgroup),
        cmocka_unit_test(infinity_is_neutral_whatever_its_coordinates),
        cmocka_unit_test(multiples_of_the_generator),
        cmocka_unit_test(many_points_become_affine_at_once),
        cmocka_unit_test(points_outside_the_group_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
