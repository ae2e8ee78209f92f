// The callbacks that the connector has, each in the file of its kind of object.
#pragma once

#include "file.hpp"
#include "vol/terminal/terminal.hpp"

namespace memory {

struct Connector : vol::Terminal<Connector> {
  using Callback = vol::Callback;
  static constexpr const char* kName = "headrace_memory";
  static constexpr H5VL_class_value_t kValue = 7292;
  static constexpr std::array kOverrides{
      Callback::attr_create,    Callback::attr_open,      Callback::attr_read,
      Callback::attr_write,     Callback::attr_get,       Callback::attr_specific,
      Callback::dataset_create, Callback::dataset_open,   Callback::dataset_read,
      Callback::dataset_write,  Callback::dataset_get,    Callback::dataset_specific,
      Callback::file_create,    Callback::file_open,      Callback::file_get,
      Callback::file_specific,  Callback::group_create,   Callback::group_open,
      Callback::group_get,      Callback::group_specific, Callback::link_create,
      Callback::link_move,      Callback::link_get,       Callback::link_specific,
      Callback::object_open,    Callback::object_get,     Callback::object_specific,
      Callback::blob_put,       Callback::blob_get,       Callback::blob_specific};
  using Loc = const H5VL_loc_params_t*;

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

  static void* file_create(const char* name, unsigned flags, hid_t fcpl, hid_t fapl, hid_t dxpl,
                           void** req);
  static void* file_open(const char* name, unsigned flags, hid_t fapl, hid_t dxpl, void** req);
  static herr_t file_get(void* self, H5VL_file_get_args_t* args, hid_t dxpl, void** req);
  static herr_t file_specific(void* self, H5VL_file_specific_args_t* args, hid_t dxpl, void** req);

  static void* group_create(void* self, Loc where, const char* name, hid_t lcpl, hid_t gcpl,
                            hid_t gapl, hid_t dxpl, void** req);
  static void* group_open(void* self, Loc where, const char* name, hid_t gapl, hid_t dxpl,
                          void** req);
  static herr_t group_get(void* self, H5VL_group_get_args_t* args, hid_t dxpl, void** req);
  static herr_t group_specific(void* self, H5VL_group_specific_args_t* args, hid_t dxpl,
                               void** req);

  static herr_t link_create(H5VL_link_create_args_t* args, void* self, Loc where, hid_t lcpl,
                            hid_t lapl, hid_t dxpl, void** req);
  static herr_t link_move(void* from, Loc from_where, void* to, Loc to_where, hid_t lcpl,
                          hid_t lapl, hid_t dxpl, void** req);
  static herr_t link_get(void* self, Loc where, H5VL_link_get_args_t* args, hid_t dxpl, void** req);
  static herr_t link_specific(void* self, Loc where, H5VL_link_specific_args_t* args, hid_t dxpl,
                              void** req);

  static void* object_open(void* self, Loc where, H5I_type_t* type, hid_t dxpl, void** req);
  static herr_t object_get(void* self, Loc where, H5VL_object_get_args_t* args, hid_t dxpl,
                           void** req);
  static herr_t object_specific(void* self, Loc where, H5VL_object_specific_args_t* args,
                                hid_t dxpl, void** req);

  static herr_t blob_put(void* self, const void* data, std::size_t size, void* id, void* context);
  static herr_t blob_get(void* self, const void* id, void* data, std::size_t size, void* context);
  static herr_t blob_specific(void* self, void* id, H5VL_blob_specific_args_t* args);
};

}  // namespace memory
