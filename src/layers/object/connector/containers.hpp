// The callbacks for what is in containers, each in the file of its kind of object.
#pragma once

#include "layers/object/connector/plug_in.hpp"
#include "layers/object/container/opened.hpp"
#include "vol/terminal/terminal.hpp"

namespace headrace::object {

// The operations of include/headrace/map.h are known to HDF5 from then on.
void register_map_operations();
// Whether it was one of them.
bool carry_out_map_operation(void* self, const H5VL_optional_args_t& args);

// Whether an operation on an object is that of headrace/map.h which makes a map.
bool makes_map(const H5VL_optional_args_t& args);

inline constexpr unsigned kReadWrite = 1;  // H5F_ACC_RDWR

struct Containers : vol::Terminal<Containers> {
  using Callback = vol::Callback;
  static constexpr const char* const& kName = kConnectorName;
  // What HDF5's own files have, but for what is asynchronous, of threads, and their format.
  static constexpr std::uint64_t kCapFlags =
      H5VL_CAP_FLAG_FILE_BASIC | H5VL_CAP_FLAG_FILE_MORE | H5VL_CAP_FLAG_ATTR_BASIC |
      H5VL_CAP_FLAG_ATTR_MORE | H5VL_CAP_FLAG_DATASET_BASIC | H5VL_CAP_FLAG_DATASET_MORE |
      H5VL_CAP_FLAG_GROUP_BASIC | H5VL_CAP_FLAG_GROUP_MORE | H5VL_CAP_FLAG_LINK_BASIC |
      H5VL_CAP_FLAG_LINK_MORE | H5VL_CAP_FLAG_MAP_BASIC | H5VL_CAP_FLAG_MAP_MORE |
      H5VL_CAP_FLAG_OBJECT_BASIC | H5VL_CAP_FLAG_OBJECT_MORE | H5VL_CAP_FLAG_REF_BASIC |
      H5VL_CAP_FLAG_REF_MORE | H5VL_CAP_FLAG_OBJ_REF | H5VL_CAP_FLAG_REG_REF |
      H5VL_CAP_FLAG_ATTR_REF | H5VL_CAP_FLAG_STORED_DATATYPES | H5VL_CAP_FLAG_CREATION_ORDER |
      H5VL_CAP_FLAG_ITERATE | H5VL_CAP_FLAG_STORAGE_SIZE | H5VL_CAP_FLAG_BY_IDX |
      H5VL_CAP_FLAG_GET_PLIST | H5VL_CAP_FLAG_FLUSH_REFRESH | H5VL_CAP_FLAG_EXTERNAL_LINKS |
      H5VL_CAP_FLAG_HARD_LINKS | H5VL_CAP_FLAG_SOFT_LINKS | H5VL_CAP_FLAG_UD_LINKS |
      H5VL_CAP_FLAG_TRACK_TIMES | H5VL_CAP_FLAG_MOUNT | H5VL_CAP_FLAG_FILTERS |
      H5VL_CAP_FLAG_FILL_VALUES;
  using Loc = const H5VL_loc_params_t*;

  static herr_t initialize(hid_t vipl);

  static void* attr_create(void* self, Loc where, const char* name, hid_t type, hid_t space,
                           hid_t acpl, hid_t aapl, hid_t dxpl, void** req);
  static void* attr_open(void* self, Loc where, const char* name, hid_t aapl, hid_t dxpl,
                         void** req);
  static herr_t attr_read(void* self, hid_t mem_type, void* buffer, hid_t dxpl, void** req);
  static herr_t attr_write(void* self, hid_t mem_type, const void* buffer, hid_t dxpl, void** req);
  static herr_t attr_get(void* self, H5VL_attr_get_args_t* args, hid_t dxpl, void** req);
  static herr_t attr_specific(void* self, Loc where, H5VL_attr_specific_args_t* args, hid_t dxpl,
                              void** req);

  static void* dataset_create(void* self, Loc where, const char* name, hid_t lcpl, hid_t type,
                              hid_t space, hid_t dcpl, hid_t dapl, hid_t dxpl, void** req);
  static void* dataset_open(void* self, Loc where, const char* name, hid_t dapl, hid_t dxpl,
                            void** req);
  static herr_t dataset_read(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                             hid_t file_space[], hid_t dxpl, void* buf[], void** req);
  static herr_t dataset_write(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                              hid_t file_space[], hid_t dxpl, const void* buf[], void** req);
  static herr_t dataset_get(void* self, H5VL_dataset_get_args_t* args, hid_t dxpl, void** req);
  static herr_t dataset_specific(void* self, H5VL_dataset_specific_args_t* args, hid_t dxpl,
                                 void** req);
  static herr_t dataset_optional(void* self, H5VL_optional_args_t* args, hid_t dxpl, void** req);

  static void* datatype_commit(void* self, Loc where, const char* name, hid_t type, hid_t lcpl,
                               hid_t tcpl, hid_t tapl, hid_t dxpl, void** req);
  static void* datatype_open(void* self, Loc where, const char* name, hid_t tapl, hid_t dxpl,
                             void** req);
  static herr_t datatype_get(void* self, H5VL_datatype_get_args_t* args, hid_t dxpl, void** req);
  static herr_t datatype_specific(void* self, H5VL_datatype_specific_args_t* args, hid_t dxpl,
                                  void** req);

  static herr_t file_get(void* self, H5VL_file_get_args_t* args, hid_t dxpl, void** req);
  static herr_t file_specific(void* self, H5VL_file_specific_args_t* args, hid_t dxpl, void** req);
  static herr_t file_optional(void* self, H5VL_optional_args_t* args, hid_t dxpl, void** req);
  static herr_t file_close(void* self, hid_t dxpl, void** req);

  static void* group_create(void* self, Loc where, const char* name, hid_t lcpl, hid_t gcpl,
                            hid_t gapl, hid_t dxpl, void** req);
  static void* group_open(void* self, Loc where, const char* name, hid_t gapl, hid_t dxpl,
                          void** req);
  static herr_t group_get(void* self, H5VL_group_get_args_t* args, hid_t dxpl, void** req);
  static herr_t group_specific(void* self, H5VL_group_specific_args_t* args, hid_t dxpl,
                               void** req);

  static herr_t link_create(H5VL_link_create_args_t* args, void* self, Loc where, hid_t lcpl,
                            hid_t lapl, hid_t dxpl, void** req);
  static herr_t link_copy(void* from, Loc from_where, void* to, Loc to_where, hid_t lcpl,
                          hid_t lapl, hid_t dxpl, void** req);
  static herr_t link_move(void* from, Loc from_where, void* to, Loc to_where, hid_t lcpl,
                          hid_t lapl, hid_t dxpl, void** req);
  static herr_t link_get(void* self, Loc where, H5VL_link_get_args_t* args, hid_t dxpl, void** req);
  static herr_t link_specific(void* self, Loc where, H5VL_link_specific_args_t* args, hid_t dxpl,
                              void** req);

  static void* object_open(void* self, Loc where, H5I_type_t* type, hid_t dxpl, void** req);
  static herr_t object_copy(void* from, Loc from_where, const char* from_name, void* to,
                            Loc to_where, const char* to_name, hid_t ocpypl, hid_t lcpl, hid_t dxpl,
                            void** req);
  static herr_t object_get(void* self, Loc where, H5VL_object_get_args_t* args, hid_t dxpl,
                           void** req);
  static herr_t object_specific(void* self, Loc where, H5VL_object_specific_args_t* args,
                                hid_t dxpl, void** req);
  static herr_t object_optional(void* self, Loc where, H5VL_optional_args_t* args, hid_t dxpl,
                                void** req);

  static herr_t introspect_get_conn_cls(void* self, H5VL_get_conn_lvl_t level,
                                        const H5VL_class_t** cls);
  static herr_t introspect_opt_query(void* self, H5VL_subclass_t kind, int operation,
                                     std::uint64_t* flags);
  // What HDF5 does with maps.
  static herr_t optional(void* self, H5VL_optional_args_t* args, hid_t dxpl, void** req);

  static herr_t blob_put(void* self, const void* data, std::size_t size, void* id, void* context);
  static herr_t blob_get(void* self, const void* id, void* data, std::size_t size, void* context);
  static herr_t blob_specific(void* self, void* id, H5VL_blob_specific_args_t* args);

  static herr_t token_to_str(void* self, H5I_type_t type, const H5O_token_t* token, char** text);
  static herr_t token_from_str(void* self, H5I_type_t type, const char* text, H5O_token_t* token);
  static herr_t token_cmp(void* self, const H5O_token_t* one, const H5O_token_t* other,
                          int* result);

  // The root group of a container that is made, by a file creation list.
  static objects::Header root_header(hid_t fcpl);
  // The file of a container, which is opened where it is not open. `name`: as the program gave it.
  static std::shared_ptr<File> file_in(const std::shared_ptr<store::Store>& store,
                                       const std::string& container, const char* name,
                                       unsigned flags, hid_t fapl);
  // The file, for HDF5.
  static void* opened(const std::shared_ptr<File>& file, unsigned flags);
  static void* opened(std::shared_ptr<vol::FileHandle> opening);
};

}  // namespace headrace::object
