# headrace_zstd: Zstd's library, linked statically.
#
# The machine's when it is 1.5.7 or newer: those before encode a tenth slower. Else that release, built
# from source that is fetched by package name; and where it cannot be fetched, the machine's after all.
include_guard(GLOBAL)
find_package(PkgConfig REQUIRED)

option(HEADRACE_FETCH_ZSTD "Fetch and build Zstd 1.5.7 where the machine's is older" ON)

pkg_check_modules(libzstd QUIET libzstd>=1.4)
set(headrace_zstd_source "${PROJECT_SOURCE_DIR}/build/zstd/1.5.7")  # shared by all build folders
set(headrace_zstd_failed TRUE)
if(HEADRACE_FETCH_ZSTD AND libzstd_VERSION VERSION_LESS 1.5.7)
  execute_process(COMMAND "${PROJECT_SOURCE_DIR}/scripts/setup/zstd-crate.sh"
    "${headrace_zstd_source}" RESULT_VARIABLE headrace_zstd_failed)
endif()

if(NOT headrace_zstd_failed)
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
  message(FATAL_ERROR "Headrace needs libzstd 1.4 or newer, or cargo 1.70 or newer to fetch it.")
endif()
message(STATUS "Zstd: ${libzstd_VERSION}")
