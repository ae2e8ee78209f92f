# headrace_lmdb: LMDB's library, where it can be had.
#
# Its source as Debian 13 has it, fetched by package name, compiled in; and where that cannot be, the
# machine's library: no static one can be part of a shared one.
include_guard(GLOBAL)

option(HEADRACE_FETCH_LMDB "Fetch LMDB's source" ON)

# Shared by all build folders.
set(headrace_lmdb_source "${PROJECT_SOURCE_DIR}/build/lmdb/0.9.31")
set(headrace_no_lmdb_source TRUE)
if(HEADRACE_FETCH_LMDB)
  execute_process(COMMAND "${PROJECT_SOURCE_DIR}/scripts/setup/debian13.py" lmdb
    "${headrace_lmdb_source}" RESULT_VARIABLE headrace_no_lmdb_source)
endif()
if(NOT headrace_no_lmdb_source)
  add_library(headrace_lmdb STATIC "${headrace_lmdb_source}/mdb.c" "${headrace_lmdb_source}/midl.c")
  target_include_directories(headrace_lmdb SYSTEM PUBLIC "${headrace_lmdb_source}")
  set_target_properties(headrace_lmdb PROPERTIES POSITION_INDEPENDENT_CODE ON
                                                 COMPILE_OPTIONS "-O2;-w")
  message(STATUS "LMDB: 0.9.31 from ${headrace_lmdb_source}")
else()
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(lmdb QUIET IMPORTED_TARGET lmdb>=0.9.24)
  if(lmdb_FOUND)
    add_library(headrace_lmdb INTERFACE)
    target_link_libraries(headrace_lmdb INTERFACE PkgConfig::lmdb)
    message(STATUS "LMDB: the machine's ${lmdb_VERSION}")
  else()
    message(STATUS "LMDB: none, so no store is kept in a folder")
  endif()
endif()
