add_executable(bench_ntt bench_ntt.c)
target_link_libraries(bench_ntt PRIVATE cuzk_poly cuzk_options)
