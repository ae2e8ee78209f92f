// The connector of the layer: files whose names are stubs are containers of a store, all others are
// those of the connector below.
#pragma once

#include "layers/object/connector/across.hpp"
#include "layers/object/connector/stores.hpp"
#include "layers/object/copying/regions.hpp"
#include "layers/object/settings.hpp"
#include "vol/terminal/mixed.hpp"

namespace headrace::object {

struct Connector : vol::Mixed<Connector, AcrossFiles> {
  using Callback = vol::Callback;
  static constexpr const char* kName = "headrace_object";
  static constexpr H5VL_class_value_t kValue = 7218;
  static constexpr std::span<const Setting> kSettings = object::kSettings;
  static constexpr std::array kOverrides{
      Callback::initialize,    Callback::file_create,    Callback::file_open,
      Callback::file_specific, Callback::link_copy,      Callback::link_move,
      Callback::object_copy,   Callback::group_specific, Callback::wrap_wrap_object};

  static herr_t initialize(hid_t vipl) {
    note_start_folder();
    register_map_operations();
    return Mixed::initialize(vipl);
  }

  static void* file_create(const char* name, unsigned flags, hid_t fcpl, hid_t fapl, hid_t dxpl,
                           void** req);
  static void* file_open(const char* name, unsigned flags, hid_t fapl, hid_t dxpl, void** req);
  static herr_t group_specific(void* self, H5VL_group_specific_args_t* args, hid_t dxpl,
                               void** req);
  static herr_t file_specific(void* self, H5VL_file_specific_args_t* args, hid_t dxpl, void** req);
  // Also between a container and a file that is none.
  static herr_t link_copy(void* from, const H5VL_loc_params_t* from_where, void* to,
                          const H5VL_loc_params_t* to_where, hid_t lcpl, hid_t lapl, hid_t dxpl,
                          void** req);
  static herr_t link_move(void* from, const H5VL_loc_params_t* from_where, void* to,
                          const H5VL_loc_params_t* to_where, hid_t lcpl, hid_t lapl, hid_t dxpl,
                          void** req);
  static herr_t object_copy(void* from, const H5VL_loc_params_t* from_where, const char* from_name,
                            void* to, const H5VL_loc_params_t* to_where, const char* to_name,
                            hid_t ocpypl, hid_t lcpl, hid_t dxpl, void** req);
  // Objects of containers are not wrapped, in the context of another file either.
  static void* wrap_wrap_object(void* object, H5I_type_t type, void* context) {
    return vol::TerminalObject::is(object) || is_registering()
               ? object
               : Mixed::wrap_wrap_object(object, type, context);
  }
};

}  // namespace headrace::object
