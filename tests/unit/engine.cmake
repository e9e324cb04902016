cuzk_test(test_budget_source LABEL quick SOURCES unit/test_budget_source.c ROOMS engine)
cuzk_test(test_journal LABEL quick SOURCES unit/test_journal.c ROOMS engine)
cuzk_test(test_plan LABEL quick SOURCES unit/test_plan.c ROOMS engine)
cuzk_test(test_ledger LABEL quick SOURCES unit/test_ledger.c ROOMS engine)
set_property(TEST test_ledger APPEND PROPERTY LABELS threads)
cuzk_test(test_flow LABEL quick SOURCES unit/test_flow.c ROOMS engine)
cuzk_test(test_flow_model LABEL quick
  SOURCES unit/test_flow_model.c unit/flow_rules.c unit/state_set.c ROOMS engine)
cuzk_test(test_metrics_text LABEL quick
  SOURCES unit/test_metrics_text.c unit/snapshot_fixture.c ROOMS engine)
# It starts the real device program, with the fake backend.
cuzk_test(test_engine LABEL quick
  SOURCES unit/test_engine.c unit/engine_fixture.c unit/c1_text.c ROOMS engine)
target_compile_definitions(test_engine PRIVATE CUZK_DEVICE="$<TARGET_FILE:cuzk-device>")
add_dependencies(test_engine cuzk-device)
set_property(TEST test_engine APPEND PROPERTY LABELS threads)
cuzk_test(test_engine_cpu LABEL full TIMEOUT 900
  SOURCES unit/test_engine_cpu.c unit/engine_fixture.c unit/c1_text.c ROOMS engine
  ARGS ${CMAKE_BINARY_DIR}/integration)
target_compile_definitions(test_engine_cpu PRIVATE CUZK_DEVICE="$<TARGET_FILE:cuzk-device>")
add_dependencies(test_engine_cpu cuzk-device)
set_tests_properties(test_engine_cpu PROPERTIES FIXTURES_REQUIRED params_2k)
