cuzk_test(test_json_stream LABEL quick SOURCES unit/test_json_stream.c ROOMS filecoin)
cuzk_test(test_base64_stream LABEL quick
  SOURCES unit/test_base64_stream.c unit/c1_text.c ROOMS filecoin)
cuzk_test(test_graph LABEL quick SOURCES unit/test_graph.c ROOMS filecoin)
cuzk_test(test_c1_decode LABEL quick SOURCES unit/test_c1_decode.c unit/c1_text.c ROOMS filecoin)
cuzk_test(test_c1_check LABEL quick SOURCES unit/test_c1_check.c unit/c1_text.c ROOMS filecoin)
set_property(TEST test_c1_check APPEND PROPERTY LABELS threads)
add_test(NAME test_c1_check_all COMMAND test_c1_check all)
set_tests_properties(test_c1_check_all PROPERTIES LABELS slow TIMEOUT 1800)
cuzk_test(test_c1_oracle LABEL oracle TIMEOUT 1800
  SOURCES unit/test_c1_oracle.c unit/c1_text.c ROOMS filecoin)
cuzk_fuzz(fuzz_c1 SOURCES fuzz/fuzz_c1.c ROOMS filecoin)
