cuzk_test(test_fp LABEL quick SOURCES unit/test_fp.c ROOMS curve)

# Each program runs twice: with the kernels of this processor, and with the portable ones.
foreach(test test_msm test_msm_sums)
  cuzk_test(${test} LABEL quick SOURCES unit/${test}.c unit/msm_testing.c ROOMS msm)
  add_test(NAME ${test}_portable COMMAND ${test})
  set_tests_properties(${test}_portable PROPERTIES
    LABELS "quick;full" TIMEOUT 300 ENVIRONMENT CUZK_CPU=portable)
  set_property(TEST ${test} APPEND PROPERTY LABELS threads)
endforeach()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  cuzk_test(test_fp52 LABEL quick SOURCES unit/test_fp52.c ROOMS msm)
  target_compile_options(test_fp52 PRIVATE
    -mavx512f -mavx512vl -mavx512dq -mavx512bw -mavx512vbmi -mavx512ifma -mbmi2)
endif()
