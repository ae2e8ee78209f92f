// The table of libhdf5 functions that this copy of the plug-in uses, bound once to the library that
// loaded it. The plug-ins are linked with no libhdf5: a process may hold several, each private.
//
// Example:   hid_t copy = h5.Pcopy(fapl);      // instead of H5Pcopy(fapl)
//
// Threads: written once by bind() before the first callback, constant afterwards.
#pragma once

#include <H5FDdevelop.h>
#include <H5VLconnector.h>
#include <H5VLconnector_passthru.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <string>

namespace headrace {

// An id that HDF5 keeps in an exported variable. A program that uses the variable itself may hold
// the only live copy (the linker moves it there), so both places are looked at, on each use.
struct IdVariable {
  const hid_t* in_library = nullptr;
  const hid_t* in_program = nullptr;
  [[nodiscard]] hid_t get() const {
    if (in_library != nullptr && *in_library > 0) return *in_library;
    return in_program != nullptr ? *in_program : -1;
  }
};

struct Api {
// The cast to the parenthesised name keeps function-like macros of the headers from expanding.
#define HEADRACE_H5(name) decltype(&::H5##name) name = nullptr;
#include "hdf5/api.def"
#undef HEADRACE_H5

  // Ids that are macros in the headers and reach them differently in each major version.
  hid_t (*sec2_driver)() = nullptr;
  hid_t (*mpio_driver)() = nullptr;  // null when the library is not parallel
  // Registers the library's own pass-through connector, which 2.x has done at its start; null
  // there.
  hid_t (*register_pass_through)() = nullptr;
  // The library's default lists of the classes that links are accessed with.
  std::array<IdVariable, 5> default_lists;
  [[nodiscard]] bool is_default_list(hid_t list) const {
    return std::ranges::any_of(default_lists, [&](const auto& one) { return one.get() == list; });
  }
  IdVariable transfer_list;   // H5P_DATASET_XFER_DEFAULT
  IdVariable access_list;     // H5P_FILE_ACCESS_DEFAULT
  IdVariable attribute_list;  // H5P_ATTRIBUTE_CREATE_DEFAULT
  IdVariable dataset_list;    // H5P_DATASET_CREATE_DEFAULT
  IdVariable datatype_list;   // H5P_DATATYPE_CREATE_DEFAULT
  IdVariable file_list;       // H5P_FILE_CREATE_DEFAULT
  IdVariable group_list;      // H5P_GROUP_CREATE_DEFAULT
  // H5P_DATASET_ACCESS_DEFAULT, H5P_GROUP_ACCESS_DEFAULT and H5P_ATTRIBUTE_ACCESS_DEFAULT
  [[nodiscard]] hid_t dataset_access_list() const { return default_lists[1].get(); }
  [[nodiscard]] hid_t group_access_list() const { return default_lists[2].get(); }
  [[nodiscard]] hid_t attribute_access_list() const { return default_lists[4].get(); }
  IdVariable region_type;  // H5T_STD_REF_DSETREG
  // H5T_C_S1. Ids grow, and HDF5 makes this one after those of all numbers that it defines.
  IdVariable string_type;
  [[nodiscard]] bool is_predefined_type(hid_t type) const { return type <= string_type.get(); }
  // The library's own error class and messages (H5E_ERR_CLS, H5E_VOL, H5E_CANTOPERATE): registering
  // some of our own would clear the stack and would not survive H5close().
  IdVariable error_class;
  IdVariable error_major;
  IdVariable error_minor;
  // H5Tdecode of 1.14, or H5Tdecode2 of 2.x; null in the other.
  hid_t (*decode_type)(const void* bytes) = nullptr;
  hid_t (*decode_type_of)(const void* bytes, std::size_t size) = nullptr;
  // Deprecated functions that a library may be built without; null then.
  decltype(&::H5Eget_auto1) Eget_auto1 = nullptr;
  decltype(&::H5Eset_auto1) Eset_auto1 = nullptr;
  // H5FDwrite_vector_from_selection and H5FDread_vector_from_selection, which the first releases of
  // 1.14 do not have; null then and when the library is not parallel.
  herr_t (*read_vector_from_selection)(H5FD_t* file, H5FD_mem_t type, hid_t dxpl,
                                       std::uint32_t count, hid_t mem_spaces[], hid_t file_spaces[],
                                       haddr_t offsets[], std::size_t element_sizes[],
                                       void* buffers[]) = nullptr;
  herr_t (*write_vector_from_selection)(H5FD_t* file, H5FD_mem_t type, hid_t dxpl,
                                        std::uint32_t count, hid_t mem_spaces[],
                                        hid_t file_spaces[], haddr_t offsets[],
                                        std::size_t element_sizes[],
                                        const void* buffers[]) = nullptr;
  // H5I_object, H5P_peek and H5P_poke, which are exported but not public: a list by its id, and a
  // property's bytes as they lie there. All null when one is missing.
  void* (*object_of)(hid_t id) = nullptr;
  herr_t (*peek_property)(void* list, const char* name, void* value) = nullptr;
  herr_t (*poke_property)(void* list, const char* name, const void* value) = nullptr;
  // What functions of the library need that are called outside of every call of the program:
  // H5VLstart_lib_state and H5VLfinish_lib_state of 1.14, or H5VLopen_lib_context and
  // H5VLclose_lib_context of 2.x; null in the other.
  herr_t (*start_state)() = nullptr;
  herr_t (*finish_state)() = nullptr;
  herr_t (*open_context)(void** context) = nullptr;
  herr_t (*close_context)(void* context) = nullptr;
  // H5Pget_mpi_params(fapl, MPI_Comm *, MPI_Info *); null when the library is not parallel.
  void* get_mpi_params = nullptr;
  // H5Pset_mpi_params(fapl, MPI_Comm, MPI_Info); as the one before.
  void* set_mpi_params = nullptr;
  // The library's table of the kinds of ids (H5I_type_info_array_g); null where it is hidden.
  const void* id_types = nullptr;
  // PMPI_Get_library_version of the MPI that the library uses; null when it is not parallel. This
  // name, because no profiling tool takes it over.
  int (*mpi_library_version)(char* text, int* length) = nullptr;
};

struct Library {
  std::string path;     // file of the bound libhdf5
  std::string version;  // "2.0.0"
  bool parallel = false;
  bool thread_safe = false;
};

extern Api h5;           // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): bound once
extern Library library;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): bound once

// The parts of HDF5's H5F_ACC_* and class constants that are macros calling the library.
inline constexpr hid_t kDefaultPlist = 0;  // H5P_DEFAULT
inline constexpr hid_t kDefaultStack = 0;  // H5E_DEFAULT
inline constexpr hid_t kInvalidId = -1;    // H5I_INVALID_HID

// Binds the table to the library that holds the code address `caller`. Returns an empty string, or
// why that library cannot be used (older than 1.14, or it does not export a function).
std::string bind(const void* caller);

}  // namespace headrace
