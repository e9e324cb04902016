cuzk_test(test_http LABEL quick SOURCES unit/test_http.c unit/snapshot_fixture.c ROOMS http filecoin)
set_property(TEST test_http APPEND PROPERTY LABELS threads)

# The dashboard with a false engine behind it: for tests/browser and for work on the page.
add_executable(dashboard_stub browser/dashboard_stub.c unit/snapshot_fixture.c)
target_link_libraries(dashboard_stub PRIVATE cuzk_http cuzk_options)
target_include_directories(dashboard_stub PRIVATE ${CMAKE_CURRENT_LIST_DIR})
find_program(CUZK_NODE node)
if(CUZK_NODE)
  add_test(NAME dashboard COMMAND ${CUZK_NODE} ${PROJECT_SOURCE_DIR}/tests/browser/dashboard.mjs
    --stub $<TARGET_FILE:dashboard_stub>)
  set_tests_properties(dashboard PROPERTIES LABELS full SKIP_RETURN_CODE 77 TIMEOUT 300)
endif()
