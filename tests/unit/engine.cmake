cuzk_test(test_budget_source LABEL quick SOURCES unit/test_budget_source.c ROOMS engine)
cuzk_test(test_ledger LABEL quick SOURCES unit/test_ledger.c ROOMS engine)
set_property(TEST test_ledger APPEND PROPERTY LABELS threads)
