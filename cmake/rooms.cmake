# A room is one folder of src/ and one static library. It sees the headers of the rooms that it
# names in ROOMS (and, through them, of those above); an include of any other room does not
# compile, because no include path leads there.
add_library(cuzk_options INTERFACE)
target_compile_options(cuzk_options INTERFACE
  -Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes
  -Wvla -Wundef -Wwrite-strings -Wimplicit-fallthrough -fno-common)
target_compile_definitions(cuzk_options INTERFACE _GNU_SOURCE)
target_link_libraries(cuzk_options INTERFACE Threads::Threads)
if(CUZK_WERROR)
  target_compile_options(cuzk_options INTERFACE -Werror)
endif()
if(CUZK_SANITIZE)
  target_compile_options(cuzk_options INTERFACE
    -fsanitize=${CUZK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(cuzk_options INTERFACE -fsanitize=${CUZK_SANITIZE})
endif()
if(CUZK_FUZZ)
  target_compile_options(cuzk_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
target_include_directories(cuzk_options INTERFACE ${PROJECT_SOURCE_DIR}/include)

# cuzk_room(NAME SOURCES a.c b.c [ROOMS base curve ...] [LIBS ...])
function(cuzk_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;ROOMS;LIBS" ${ARGN})
  add_library(cuzk_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(cuzk_${name} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  list(TRANSFORM ROOM_ROOMS PREPEND cuzk_)
  target_link_libraries(cuzk_${name} PUBLIC ${ROOM_ROOMS} ${ROOM_LIBS} PRIVATE cuzk_options)
  target_include_directories(cuzk_${name} PUBLIC ${PROJECT_SOURCE_DIR}/include)
endfunction()
