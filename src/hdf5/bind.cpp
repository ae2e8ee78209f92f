// Version branches of HDF5 live in this folder only; see docs/decisions/0001-symbol-binding.md.
#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "hdf5/api.hpp"
#include "hdf5/id.hpp"

namespace headrace {

Api h5;           // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
Library library;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

namespace {

void* handle_of(const void* caller, std::string& path) {
  Dl_info info{};
  link_map* map = nullptr;
  if (dladdr1(caller, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) return nullptr;
  path = info.dli_fname;
  // The main program has an empty name: a statically linked HDF5 whose symbols are exported.
  const bool main_program = map == nullptr || map->l_name == nullptr || *map->l_name == '\0';
  if (std::error_code error; main_program)
    if (const auto file = std::filesystem::read_symlink("/proc/self/exe", error); !error)
      path = file;
  return main_program ? dlopen(nullptr, RTLD_LAZY)
                      : dlopen(map->l_name, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
}

// A handle leads on to other libraries, too.
bool same_object(const void* a, const void* b) {
  Dl_info one{};
  Dl_info other{};
  return dladdr(a, &one) != 0 && dladdr(b, &other) != 0 && one.dli_fbase == other.dli_fbase;
}

IdVariable variable(void* handle, const char* name) {
  return {static_cast<const hid_t*>(dlsym(handle, name)),
          static_cast<const hid_t*>(dlsym(RTLD_DEFAULT, name))};
}

// Where a driver's id is: a variable in 2.x, the result of an initialising function in 1.14.
struct DriverId {
  IdVariable variable;
  hid_t (*function)() = nullptr;
};

DriverId sec2;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): bound once
DriverId mpio;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): bound once

template <const DriverId* driver>
hid_t driver_id() {
  return driver->function != nullptr ? driver->function() : driver->variable.get();
}

template <typename Function>
bool finds(Function& function, void* handle, const char* name) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

std::string missing(const char* name) {
  return "the library " + library.path + " does not export " + name;
}

std::string bind_functions(void* handle) {
#define HEADRACE_H5(name) \
  if (!finds(h5.name, handle, "H5" #name)) return missing("H5" #name);
#include "hdf5/api.def"
#undef HEADRACE_H5
  return {};
}

void bind_ids(void* handle) {
  h5.error_class = variable(handle, "H5E_ERR_CLS_g");
  h5.error_major = variable(handle, "H5E_VOL_g");
  h5.error_minor = variable(handle, "H5E_CANTOPERATE_g");
  h5.transfer_list = variable(handle, "H5P_LST_DATASET_XFER_ID_g");
  h5.access_list = variable(handle, "H5P_LST_FILE_ACCESS_ID_g");
  h5.attribute_list = variable(handle, "H5P_LST_ATTRIBUTE_CREATE_ID_g");
  h5.dataset_list = variable(handle, "H5P_LST_DATASET_CREATE_ID_g");
  h5.datatype_list = variable(handle, "H5P_LST_DATATYPE_CREATE_ID_g");
  h5.file_list = variable(handle, "H5P_LST_FILE_CREATE_ID_g");
  h5.group_list = variable(handle, "H5P_LST_GROUP_CREATE_ID_g");
  h5.region_type = variable(handle, "H5T_STD_REF_DSETREG_g");
  h5.string_type = variable(handle, "H5T_C_S1_g");
  h5.default_lists = {variable(handle, "H5P_LST_LINK_ACCESS_ID_g"),
                      variable(handle, "H5P_LST_DATASET_ACCESS_ID_g"),
                      variable(handle, "H5P_LST_GROUP_ACCESS_ID_g"),
                      variable(handle, "H5P_LST_DATATYPE_ACCESS_ID_g"),
                      variable(handle, "H5P_LST_ATTRIBUTE_ACCESS_ID_g")};
}

// What the two major versions have by other names.
void bind_versions(void* handle) {
  const auto look_up = [handle](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
  };
  look_up(h5.decode_type, "H5Tdecode");
  look_up(h5.decode_type_of, "H5Tdecode2");
  look_up(h5.start_state, "H5VLstart_lib_state");
  look_up(h5.finish_state, "H5VLfinish_lib_state");
  look_up(h5.open_context, "H5VLopen_lib_context");
  look_up(h5.close_context, "H5VLclose_lib_context");
}

void bind_properties(void* handle) {
  const auto object = reinterpret_cast<decltype(h5.object_of)>(dlsym(handle, "H5I_object"));
  const auto peek = reinterpret_cast<decltype(h5.peek_property)>(dlsym(handle, "H5P_peek"));
  const auto poke = reinterpret_cast<decltype(h5.poke_property)>(dlsym(handle, "H5P_poke"));
  if (object == nullptr || peek == nullptr || poke == nullptr) return;
  h5.object_of = object;
  h5.peek_property = peek;
  h5.poke_property = poke;
}

void bind_drivers(void* handle, bool major2) {
  using Function = hid_t (*)();
  if (major2) {
    sec2.variable = variable(handle, "H5FD_SEC2_id_g");
    mpio.variable = variable(handle, "H5FD_MPIO_id_g");
  } else {
    sec2.function = reinterpret_cast<Function>(dlsym(handle, "H5FD_sec2_init"));
    mpio.function = reinterpret_cast<Function>(dlsym(handle, "H5FD_mpio_init"));
  }
  h5.sec2_driver = &driver_id<&sec2>;
  library.parallel = dlsym(handle, "H5Pset_fapl_mpio") != nullptr;
  if (!library.parallel) return;
  h5.mpio_driver = &driver_id<&mpio>;
  h5.write_vector_from_selection = reinterpret_cast<decltype(h5.write_vector_from_selection)>(
      dlsym(handle, "H5FDwrite_vector_from_selection"));
  h5.read_vector_from_selection = reinterpret_cast<decltype(h5.read_vector_from_selection)>(
      dlsym(handle, "H5FDread_vector_from_selection"));
  h5.get_mpi_params = dlsym(handle, "H5Pget_mpi_params");
  h5.set_mpi_params = dlsym(handle, "H5Pset_mpi_params");
  // A handle leads to the library's dependencies as well.
  h5.mpi_library_version =
      reinterpret_cast<decltype(h5.mpi_library_version)>(dlsym(handle, "PMPI_Get_library_version"));
}

}  // namespace

std::string bind(const void* caller) {
  library = {};
  void* handle = handle_of(caller, library.path);
  if (handle == nullptr) return "the caller is no shared library of HDF5";
  auto version = reinterpret_cast<decltype(h5.get_libversion)>(dlsym(handle, "H5get_libversion"));
  if (version == nullptr || !same_object(reinterpret_cast<const void*>(version), caller))
    return library.path + " does not export H5get_libversion";
  std::string missing = bind_functions(handle);
  // Where an opening has failed HDF5 asks all connectors that it finds whether they know the file.
  std::optional<ErrorStackKeeper> keep;
  if (missing.empty()) keep.emplace();
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  version(&major, &minor, &release);
  library.version =
      std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
  if (major < 1 || (major == 1 && minor < 14))
    return library.path + " is HDF5 " + library.version + "; Headrace needs 1.14 or newer";
  if (!missing.empty()) return missing;
  bind_ids(handle);
  h5.Eget_auto1 = reinterpret_cast<decltype(h5.Eget_auto1)>(dlsym(handle, "H5Eget_auto1"));
  h5.Eset_auto1 = reinterpret_cast<decltype(h5.Eset_auto1)>(dlsym(handle, "H5Eset_auto1"));
  h5.register_pass_through = reinterpret_cast<decltype(h5.register_pass_through)>(
      dlsym(handle, "H5VL_pass_through_register"));
  bind_drivers(handle, major >= 2);
  bind_properties(handle);
  bind_versions(handle);
  h5.id_types = dlsym(handle, "H5I_type_info_array_g");
  hbool_t safe = false;
  library.thread_safe = h5.is_library_threadsafe(&safe) >= 0 && safe;
  return {};
}

}  // namespace headrace
