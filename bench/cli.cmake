add_executable(bench_oracle ${PROJECT_SOURCE_DIR}/bench/bench_oracle.c)
target_link_libraries(bench_oracle PRIVATE cuzk_options)
