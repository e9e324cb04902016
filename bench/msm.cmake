add_executable(bench_msm bench_msm.c)
target_link_libraries(bench_msm PRIVATE cuzk_msm cuzk_options)
