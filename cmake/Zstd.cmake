# headrace_zstd: Zstd's library, linked statically.
#
# The machine's when it is 1.5.7 or newer: those before encode a tenth slower. Else Debian 13's, or the
# source of that release, both fetched by package name; and where neither can be, the machine's after all.
include_guard(GLOBAL)
find_package(PkgConfig REQUIRED)

option(HEADRACE_FETCH_ZSTD "Fetch Zstd 1.5.7 where the machine's is older" ON)

pkg_check_modules(libzstd QUIET libzstd>=1.4)
# Shared by all build folders.
set(headrace_zstd_library "${PROJECT_SOURCE_DIR}/build/zstd/debian13")
set(headrace_zstd_source "${PROJECT_SOURCE_DIR}/build/zstd/1.5.7")
set(headrace_zstd_no_library TRUE)
set(headrace_zstd_no_source TRUE)
if(HEADRACE_FETCH_ZSTD AND libzstd_VERSION VERSION_LESS 1.5.7)
  execute_process(COMMAND "${PROJECT_SOURCE_DIR}/scripts/setup/debian13.py" zstd
    "${headrace_zstd_library}" RESULT_VARIABLE headrace_zstd_no_library)
  if(headrace_zstd_no_library)
    execute_process(COMMAND "${PROJECT_SOURCE_DIR}/scripts/setup/zstd-crate.sh"
      "${headrace_zstd_source}" RESULT_VARIABLE headrace_zstd_no_source)
  endif()
endif()

if(NOT headrace_zstd_no_library)
  set(libzstd_VERSION "Debian 13's in ${headrace_zstd_library}")
  add_library(headrace_zstd INTERFACE)
  target_include_directories(headrace_zstd SYSTEM INTERFACE "${headrace_zstd_library}/include")
  target_link_libraries(headrace_zstd INTERFACE "${headrace_zstd_library}/lib/libzstd.a")
elseif(NOT headrace_zstd_no_source)
  enable_language(ASM)
  set(libzstd_VERSION "1.5.7 from ${headrace_zstd_source}")
  file(GLOB headrace_zstd_files "${headrace_zstd_source}/lib/common/*.c"
    "${headrace_zstd_source}/lib/compress/*.c" "${headrace_zstd_source}/lib/decompress/*.[cS]")
  add_library(headrace_zstd STATIC ${headrace_zstd_files})
  target_include_directories(headrace_zstd SYSTEM INTERFACE "${headrace_zstd_source}/lib")
  # In place of ours: optimised in every build, under no sanitizer, without warnings.
  set_target_properties(headrace_zstd PROPERTIES COMPILE_OPTIONS "-O3;-w")
elseif(libzstd_FOUND)
  find_library(libzstd_ARCHIVE NAMES libzstd.a HINTS ${libzstd_LIBRARY_DIRS} REQUIRED)
  add_library(headrace_zstd INTERFACE)
  target_include_directories(headrace_zstd INTERFACE ${libzstd_INCLUDE_DIRS})
  target_link_libraries(headrace_zstd INTERFACE ${libzstd_ARCHIVE})
else()
  message(FATAL_ERROR "Headrace needs libzstd 1.4 or newer, or one that can be fetched: by apt-get from "
    "Debian 13, or by cargo 1.70 or newer.")
endif()
message(STATUS "Zstd: ${libzstd_VERSION}")
