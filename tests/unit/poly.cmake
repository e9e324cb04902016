cuzk_test(test_ntt LABEL quick SOURCES unit/test_ntt.c ROOMS base curve poly)
set_property(TEST test_ntt APPEND PROPERTY LABELS threads)

