cuzk_test(test_groth16 LABEL quick SOURCES unit/test_groth16.c unit/tiny_circuit.c ROOMS groth16)
cuzk_test(test_prove_window LABEL oracle SOURCES unit/test_prove_window.c ROOMS groth16)
cuzk_test(test_params LABEL quick
  SOURCES unit/test_params.c unit/param_fixture.c unit/tiny_circuit.c ROOMS groth16)
cuzk_test(test_subgroup LABEL quick
  SOURCES unit/test_subgroup.c unit/param_fixture.c unit/tiny_circuit.c ROOMS groth16)
# With a network of its own: its table stands before the one that the room was built with.
cuzk_test(test_network_files LABEL quick
  SOURCES unit/test_network_files.c unit/tiny_circuit.c ${PROJECT_SOURCE_DIR}/src/groth16/param_names.c
  ROOMS groth16)
target_include_directories(test_network_files BEFORE PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/fake_network)
cuzk_test(test_bit_plane LABEL quick SOURCES unit/test_bit_plane.c ROOMS groth16)
cuzk_fuzz(fuzz_params SOURCES fuzz/fuzz_params.c ROOMS groth16)
cuzk_fuzz(fuzz_proof SOURCES fuzz/fuzz_proof.c ROOMS groth16)
set_property(TEST test_groth16 test_params test_subgroup APPEND PROPERTY LABELS threads)
cuzk_test(test_malloc_size LABEL quick
  SOURCES unit/test_malloc_size.c unit/partition_fixture.c unit/tiny_circuit.c ROOMS groth16)
foreach(function malloc calloc realloc aligned_alloc posix_memalign)
  target_link_options(test_malloc_size PRIVATE LINKER:--wrap=${function})
endforeach()
