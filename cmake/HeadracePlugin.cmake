# The plug-in files that HDF5 finds, one per connector or driver.

# All that a program under a layer loads or starts; with what else `headrace` needs; all that is installed.
add_custom_target(headrace_plugins)
add_custom_target(headrace_layers)
add_custom_target(headrace_package)
add_dependencies(headrace_layers headrace_plugins)
add_dependencies(headrace_package headrace_layers)

# headrace_shim(<file> VOL|VFD <HDF5 name>): a plug-in file of the core module.
function(headrace_shim file type name)
  add_library(${file} MODULE ${PROJECT_SOURCE_DIR}/src/plugin/shim.cpp)
  target_compile_definitions(${file} PRIVATE HEADRACE_PLUGIN_TYPE=H5PL_TYPE_${type}
                                             HEADRACE_PLUGIN_NAME="${name}"
                                             HEADRACE_PLUGIN_MODULE="../libheadrace_core.so")
  target_link_libraries(${file} PRIVATE headrace_base)
  headrace_plugin_properties(${file})
  add_dependencies(${file} headrace_core)
  install(TARGETS ${file} LIBRARY DESTINATION lib/plugins)
endfunction()

# headrace_plugin(<file> VOL|VFD <HDF5 name> <source>...): a plug-in that is its own module. Its
# sources define headrace::layers().
function(headrace_plugin file type name)
  add_library(${file} MODULE ${PROJECT_SOURCE_DIR}/src/plugin/shim.cpp ${ARGN})
  target_compile_definitions(${file} PRIVATE HEADRACE_PLUGIN_TYPE=H5PL_TYPE_${type}
                                             HEADRACE_PLUGIN_NAME="${name}")
  target_link_libraries(${file} PRIVATE headrace_module)
  headrace_plugin_properties(${file})
endfunction()

function(headrace_plugin_properties file)
  add_dependencies(headrace_plugins ${file})
  headrace_loaded_for_good(${file})
  target_precompile_headers(${file} REUSE_FROM headrace_engine)
  set_target_properties(${file} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${HEADRACE_PLUGIN_DIR})
endfunction()

# HDF5 closes plug-ins whose name it was not looking for, but their code and state must stay. A
# module calls its own functions, whatever else in the process has the same names, and offers those of
# its codecs to nobody.
function(headrace_loaded_for_good target)
  target_link_options(${target} PRIVATE -Wl,-z,nodelete -Wl,-Bsymbolic -Wl,--exclude-libs,ALL)
endfunction()
