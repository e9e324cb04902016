# Each program runs twice: with the kernels of this processor, and with the portable ones.
foreach(test test_msm test_msm_sums)
  cuzk_test(${test} LABEL quick SOURCES unit/${test}.c unit/msm_testing.c ROOMS msm)
  add_test(NAME ${test}_portable COMMAND ${test})
  set_tests_properties(${test}_portable PROPERTIES
    LABELS "quick;full" TIMEOUT 300 ENVIRONMENT CUZK_CPU=portable)
endforeach()
