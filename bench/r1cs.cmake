add_executable(bench_r1cs bench_r1cs.c)
target_link_libraries(bench_r1cs PRIVATE cuzk_circuit cuzk_options)
