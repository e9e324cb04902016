# blst: the system's library if there is one, else the one that tools/setup unpacked and built
# under .deps/blst. The imported target is `blst::blst`.
set(CUZK_BLST_DIR ${PROJECT_SOURCE_DIR}/.deps/blst CACHE PATH "Where tools/setup put blst")
find_path(BLST_INCLUDE_DIR blst_aux.h HINTS ${CUZK_BLST_DIR}/bindings PATH_SUFFIXES blst)
find_library(BLST_LIBRARY NAMES blst libblst.a HINTS ${CUZK_BLST_DIR})
if(NOT BLST_INCLUDE_DIR OR NOT BLST_LIBRARY)
  message(FATAL_ERROR "blst was not found. Run tools/setup, which fetches and builds it.")
endif()
add_library(blst::blst UNKNOWN IMPORTED)
set_target_properties(blst::blst PROPERTIES
  IMPORTED_LOCATION ${BLST_LIBRARY}
  INTERFACE_INCLUDE_DIRECTORIES ${BLST_INCLUDE_DIR})
