# libgrpc is not instrumented: what it does with its own memory is not to be judged.
foreach(name test_rpc test_rpc_wire)
  cuzk_test(${name} LABEL quick ROOMS rpc
    SOURCES unit/${name}.c unit/rpc_fixture.c support/engine_stub.c)
  set_property(TEST ${name} APPEND PROPERTY LABELS threads)
  set_property(TEST ${name} APPEND PROPERTY
    ENVIRONMENT "TSAN_OPTIONS=halt_on_error=1:ignore_noninstrumented_modules=1")
endforeach()
cuzk_fuzz(fuzz_request SOURCES fuzz/fuzz_request.c ROOMS rpc)
