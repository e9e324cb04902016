cuzk_test(test_word LABEL quick SOURCES unit/test_word.c unit/gadget_check.c ROOMS circuit)
cuzk_test(test_sha256_circuit LABEL quick
  SOURCES unit/test_sha256_circuit.c unit/gadget_check.c ROOMS circuit)
cuzk_test(test_porep LABEL quick
  SOURCES unit/test_porep.c unit/golden.c unit/partition_fixture.c ROOMS circuit)
cuzk_test(test_porep_sizes LABEL full SOURCES unit/test_porep_sizes.c unit/golden.c ROOMS circuit
  ARGS 4KiB 16KiB 32KiB 8MiB 512MiB)
add_test(NAME test_porep_large COMMAND test_porep_sizes 32GiB 64GiB)
set_tests_properties(test_porep_large PROPERTIES LABELS slow TIMEOUT 1800)
set_property(TEST test_porep APPEND PROPERTY LABELS threads)
if(TARGET cuzk_filecoin)
  cuzk_test(test_porep_oracle LABEL oracle TIMEOUT 1800
    SOURCES unit/test_porep_oracle.c unit/golden.c ROOMS circuit filecoin)
endif()
