# Against the shared library, as a program of somebody else.
cuzk_test(test_api LABEL full TIMEOUT 900 SOURCES unit/test_api.c ARGS ${CMAKE_BINARY_DIR}/integration)
target_link_libraries(test_api PRIVATE cuzk_shared)
set_tests_properties(test_api PROPERTIES FIXTURES_REQUIRED params_2k)
