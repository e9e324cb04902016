# They start the real program.
cuzk_test(test_device_link LABEL quick SOURCES unit/test_device_link.c unit/device_testing.c
  ROOMS device ARGS $<TARGET_FILE:cuzk-device>)
add_dependencies(test_device_link cuzk-device)
set_property(TEST test_device_link APPEND PROPERTY LABELS threads)
cuzk_test(test_device_cpu LABEL full TIMEOUT 900
  SOURCES unit/test_device_cpu.c unit/device_testing.c unit/partition_fixture.c
  ROOMS device ARGS $<TARGET_FILE:cuzk-device> ${CMAKE_BINARY_DIR}/integration)
add_dependencies(test_device_cpu cuzk-device)
set_tests_properties(test_device_cpu PROPERTIES FIXTURES_REQUIRED params_2k)
cuzk_fuzz(fuzz_device_protocol SOURCES fuzz/fuzz_device_protocol.c ROOMS device)
