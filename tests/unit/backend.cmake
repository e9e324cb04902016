cuzk_test(test_backend LABEL quick SOURCES unit/test_backend.c ROOMS backend)
set_property(TEST test_backend APPEND PROPERTY LABELS threads)
