cuzk_test(test_poseidon LABEL quick SOURCES unit/test_poseidon.c ROOMS circuit)
cuzk_test(test_por LABEL quick SOURCES unit/test_por.c ROOMS circuit)

# The derivation in the documentation is a program that checks itself.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME doc_poseidon COMMAND Python3::Interpreter
    ${PROJECT_SOURCE_DIR}/tests/doc/run_markdown.py ${PROJECT_SOURCE_DIR}/doc/poseidon.md)
  set_tests_properties(doc_poseidon PROPERTIES LABELS "quick;full" TIMEOUT 300)
endif()
