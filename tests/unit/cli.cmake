# Integration tests: the real programs on real files. tests/integration/NAME.sh BIN SOURCE WORK ...
set(integration_work ${CMAKE_BINARY_DIR}/integration)
function(cuzk_integration name)
  cmake_parse_arguments(I "" "SCRIPT;TIMEOUT" "LABELS;ARGS;NEEDS;GIVES" ${ARGN})
  if(NOT I_SCRIPT)
    set(I_SCRIPT ${name})
  endif()
  add_test(NAME ${name} COMMAND ${PROJECT_SOURCE_DIR}/tests/integration/${I_SCRIPT}.sh
    ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${PROJECT_SOURCE_DIR} ${integration_work} ${I_ARGS})
  set_tests_properties(${name} PROPERTIES LABELS "${I_LABELS}" SKIP_RETURN_CODE 77
    TIMEOUT ${I_TIMEOUT} FIXTURES_REQUIRED "${I_NEEDS}" FIXTURES_SETUP "${I_GIVES}")
endfunction()

cuzk_integration(cli_usage LABELS quick full TIMEOUT 120)
cuzk_integration(cli_plan LABELS quick full TIMEOUT 120)
cuzk_integration(daemon_test LABELS full TIMEOUT 300)
cuzk_integration(cli_sector LABELS quick full TIMEOUT 300)
cuzk_integration(params_2k SCRIPT make_params ARGS porep-2k LABELS full TIMEOUT 900 GIVES params_2k)
cuzk_integration(params_16k SCRIPT make_params ARGS porep-16k LABELS oracle TIMEOUT 900
  GIVES params_16k)
cuzk_integration(cli_prove LABELS full TIMEOUT 900 NEEDS params_2k)
cuzk_integration(daemon_drain LABELS full TIMEOUT 900 NEEDS params_2k)
cuzk_integration(example ARGS ${CMAKE_BINARY_DIR} LABELS full TIMEOUT 900 NEEDS params_2k)
cuzk_integration(snarkjs LABELS full TIMEOUT 900 NEEDS params_2k)
cuzk_integration(oracle_proofs LABELS oracle TIMEOUT 1800 NEEDS params_2k)
cuzk_integration(oracle_16k LABELS oracle TIMEOUT 900 NEEDS params_16k)

cuzk_test(test_config LABEL quick SOURCES unit/test_config.c ROOMS config)
cuzk_test(test_sd_notify LABEL quick SOURCES unit/test_sd_notify.c ROOMS config)
cuzk_fuzz(fuzz_config SOURCES fuzz/fuzz_config.c ROOMS config)

# The daemon with a fake device, for tests only; the programs have no way to it.
add_executable(cuzk-daemon-fake support/daemon_fake.c)
target_link_libraries(cuzk-daemon-fake PRIVATE cuzk_service cuzk_options)
cuzk_integration(daemon_proofs LABELS full TIMEOUT 900 NEEDS params_2k)
cuzk_integration(daemon_soak LABELS full TIMEOUT 600 NEEDS params_2k ARGS 1000)
cuzk_integration(daemon_kill LABELS full TIMEOUT 600 NEEDS params_2k)
cuzk_integration(daemon_cgroup LABELS full TIMEOUT 600 NEEDS params_2k)
