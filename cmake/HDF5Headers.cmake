# headrace::hdf5_headers: HDF5's public and plug-in headers, and nothing to link.
#
# Found in HDF5_ROOT, by pkg-config or by h5cc when those are 1.14 or newer; fetched by package name
# otherwise. The headers are copied beside our own serial H5pubconf.h, so that no target ever sees
# mpi.h through them. HEADRACE_HDF5_VERSION tells the version of the headers.
include_guard(GLOBAL)

set(HDF5_ROOT "$ENV{HDF5_ROOT}" CACHE PATH "Prefix of an installed HDF5, 1.14 or newer")

# Sets `version` to that of the headers in `folder`; to an empty string when they are too old.
function(headrace_hdf5_version folder version)
  set(numbers "")
  if(EXISTS "${folder}/H5public.h" AND EXISTS "${folder}/H5VLconnector.h")
    foreach(part MAJOR MINOR RELEASE)
      file(STRINGS "${folder}/H5public.h" line REGEX "^#define H5_VERS_${part} " LIMIT_COUNT 1)
      string(REGEX REPLACE "^#define H5_VERS_${part} +([0-9]+).*" "\\1" number "${line}")
      list(APPEND numbers ${number})
    endforeach()
  endif()
  list(JOIN numbers "." joined)
  if(joined VERSION_LESS 1.14)
    set(joined "")
  endif()
  set(${version} "${joined}" PARENT_SCOPE)
endfunction()

# The folders where this machine may have an installed HDF5's headers.
function(headrace_hdf5_installed folders)
  set(commands "")
  find_program(HEADRACE_PKG_CONFIG NAMES pkg-config pkgconf)
  find_program(HEADRACE_H5CC NAMES h5cc h5pcc)
  if(HEADRACE_PKG_CONFIG)
    list(APPEND commands "${HEADRACE_PKG_CONFIG} --cflags-only-I hdf5")
  endif()
  if(HEADRACE_H5CC)
    list(APPEND commands "${HEADRACE_H5CC} -show")
  endif()
  set(found "")
  foreach(command IN LISTS commands)
    separate_arguments(command UNIX_COMMAND "${command}")
    execute_process(COMMAND ${command} OUTPUT_VARIABLE output ERROR_QUIET)
    string(REGEX MATCHALL "-I[^ \n]+" options "${output}")
    list(TRANSFORM options REPLACE "^-I" "")
    list(APPEND found ${options})
  endforeach()
  set(${folders} "${found};/usr/local/include;/usr/include" PARENT_SCOPE)
endfunction()

# Headers by package name, without installing anything: from the crate, or else from Debian 13.
function(headrace_hdf5_fetch folder)
  cmake_path(GET CMAKE_CURRENT_FUNCTION_LIST_DIR PARENT_PATH root)
  set(setup "${root}/scripts/setup")
  set(sources "${root}/build/hdf5/sources")  # shared by all build folders of a checkout
  execute_process(COMMAND "${setup}/hdf5-crate.sh" "${sources}/2.2.0" RESULT_VARIABLE failed)
  if(NOT failed)
    set(${folder} "${sources}/2.2.0/src" PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND "${setup}/debian13.py" headers "${sources}/1.14.5-headers"
    RESULT_VARIABLE failed)
  if(NOT failed)
    set(${folder} "${sources}/1.14.5-headers" PARENT_SCOPE)
  endif()
endfunction()

# Copies from `source`, an include folder or a source tree, what a plug-in may include.
function(headrace_hdf5_stage source destination)
  file(GLOB headers "${source}/hdf5.h" "${source}/H5*public.h" "${source}/H5*develop.h"
    "${source}/H5VLconnector*.h" "${source}/H5VLnative.h" "${source}/H5VLpassthru.h"
    "${source}/H5PLextern.h" "${source}/H5api_adpt.h" "${source}/H5encode.h"
    "${source}/H5Epubgen.h" "${source}/H5overflow.h" "${source}/H5version.h")
  foreach(driver core direct family hdfs ioc log mirror mpi mpio multi onion ros3 s3comms sec2
      splitter stdio subfiling windows)
    file(GLOB found "${source}/H5FD${driver}.h" "${source}/H5FDsubfiling/H5FD${driver}.h")
    list(APPEND headers ${found})
  endforeach()
  list(APPEND headers "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/hdf5-serial/H5pubconf.h")
  file(MAKE_DIRECTORY "${destination}")
  foreach(header IN LISTS headers)
    get_filename_component(name "${header}" NAME)
    # Unchanged files keep their times, or every configuration would rebuild everything.
    file(COPY_FILE "${header}" "${destination}/${name}" ONLY_IF_DIFFERENT)
  endforeach()
endfunction()

# Sets `folder` and `version` to those of the first candidate with good headers.
function(headrace_hdf5_first candidates folder version)
  foreach(candidate IN LISTS candidates)
    headrace_hdf5_version("${candidate}" found)
    if(found)
      set(${folder} "${candidate}" PARENT_SCOPE)
      set(${version} "${found}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${version} "" PARENT_SCOPE)
endfunction()

if(HDF5_ROOT)
  set(headrace_hdf5_folders "${HDF5_ROOT}/include" "${HDF5_ROOT}/include/hdf5/serial")
else()
  headrace_hdf5_installed(headrace_hdf5_folders)
endif()
headrace_hdf5_first("${headrace_hdf5_folders}" headrace_hdf5_folder HEADRACE_HDF5_VERSION)
if(HDF5_ROOT AND NOT HEADRACE_HDF5_VERSION)
  message(FATAL_ERROR "HDF5_ROOT is ${HDF5_ROOT}, but HDF5 1.14 or newer is not installed there.")
elseif(NOT HEADRACE_HDF5_VERSION)
  # Kept, or a build folder would be compiled anew as soon as there is a cargo.
  if(NOT EXISTS "${HEADRACE_HDF5_FETCHED}")
    headrace_hdf5_fetch(headrace_hdf5_folders)
    set(HEADRACE_HDF5_FETCHED "${headrace_hdf5_folders}" CACHE INTERNAL "Fetched headers of HDF5")
  endif()
  headrace_hdf5_first("${HEADRACE_HDF5_FETCHED}" headrace_hdf5_folder HEADRACE_HDF5_VERSION)
endif()
if(NOT HEADRACE_HDF5_VERSION)
  message(FATAL_ERROR "Headrace needs the headers of HDF5 1.14 or newer (not a built library):\n"
    "  * install them and set HDF5_ROOT to their prefix, or have pkg-config or h5cc find them; or\n"
    "  * install cargo 1.70 or newer, for the crate hdf5-metno-src; or\n"
    "  * on Debian, let apt-get and python3 reach the package archive, for libhdf5-dev.")
endif()
message(STATUS "HDF5 headers: ${HEADRACE_HDF5_VERSION} from ${headrace_hdf5_folder}")

set(headrace_hdf5_staged "${CMAKE_CURRENT_BINARY_DIR}/hdf5-headers/${HEADRACE_HDF5_VERSION}")
headrace_hdf5_stage("${headrace_hdf5_folder}" "${headrace_hdf5_staged}")
add_library(headrace_hdf5_headers INTERFACE)
add_library(headrace::hdf5_headers ALIAS headrace_hdf5_headers)
target_include_directories(headrace_hdf5_headers SYSTEM INTERFACE "${headrace_hdf5_staged}")
