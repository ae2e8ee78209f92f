# headrace_lmdb_library: LMDB, where it can be had.
#
# Its source as Debian 13 has it, compiled in; and where that cannot be fetched, the machine's
# library, which a process then loads: a static one cannot be part of a module.
include_guard(GLOBAL)

# Shared by all build folders.
set(headrace_lmdb_source "${PROJECT_SOURCE_DIR}/build/lmdb/0.9.31")
execute_process(COMMAND "${PROJECT_SOURCE_DIR}/scripts/setup/debian13.py" lmdb
  "${headrace_lmdb_source}" RESULT_VARIABLE headrace_no_lmdb_source)
if(headrace_no_lmdb_source)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(lmdb QUIET IMPORTED_TARGET lmdb>=0.9.24)
  if(lmdb_FOUND)
    add_library(headrace_lmdb_library ALIAS PkgConfig::lmdb)
    message(STATUS "LMDB: the machine's ${lmdb_VERSION}")
  else()
    message(STATUS "LMDB: none, so nothing is kept in a store on this machine")
  endif()
else()
  add_library(headrace_lmdb_library STATIC "${headrace_lmdb_source}/mdb.c"
                                           "${headrace_lmdb_source}/midl.c")
  target_include_directories(headrace_lmdb_library SYSTEM PUBLIC "${headrace_lmdb_source}")
  set_target_properties(headrace_lmdb_library PROPERTIES
    POSITION_INDEPENDENT_CODE ON COMPILE_OPTIONS "-O2;-w" UNITY_BUILD OFF)
  message(STATUS "LMDB: 0.9.31 from ${headrace_lmdb_source}")
endif()
