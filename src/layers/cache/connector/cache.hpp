// The connector that answers reads of datasets from decoded chunks that all processes of
// a node share. What it does not handle HDF5 carries out.
#pragma once

#include "layers/cache/connector/cached_file.hpp"
#include "layers/cache/connector/expecting.hpp"
#include "layers/cache/connector/read.hpp"
#include "layers/cache/connector/statistics.hpp"
#include "layers/cache/settings.hpp"
#include "vol/coherence/call.hpp"
#include "vol/pass_through.hpp"

namespace headrace::cache {

struct Connector : vol::PassThrough<Connector> {
  using Callback = vol::Callback;

  static constexpr const char* kName = "headrace_cache";
  static constexpr H5VL_class_value_t kValue = 7216;
  static constexpr std::span<const Setting> kSettings = cache::kSettings;
  static constexpr std::array kOverrides{Callback::initialize,           Callback::terminate,
                                         Callback::introspect_opt_query, Callback::file_open,
                                         Callback::file_close,           Callback::dataset_read,
                                         Callback::dataset_optional};

  static herr_t initialize(hid_t vipl) {
    register_operations();
    return PassThrough::initialize(vipl);
  }

  static herr_t introspect_opt_query(void* self, H5VL_subclass_t kind, int operation,
                                     std::uint64_t* flags) {
    if (kind != H5VL_SUBCLS_DATASET || !is_operation(operation))
      return PassThrough::introspect_opt_query(self, kind, operation, flags);
    *flags = takes_orders(vol::Object::from(self)) ? H5VL_OPT_QUERY_SUPPORTED : 0;
    return 0;
  }

  static herr_t dataset_optional(void* self, H5VL_optional_args_t* args, hid_t dxpl, void** req) {
    if (!is_operation(args->op_type)) return PassThrough::dataset_optional(self, args, dxpl, req);
    expect(vol::Object::from(self), *args);
    return 0;
  }

  static herr_t terminate() {
    leave_stores();
    cache::report_statistics();
    return PassThrough::terminate();
  }

  static void* file_open(const char* name, unsigned flags, hid_t fapl, hid_t dxpl, void** req) {
    const vol::Opening opening{name, flags, false, fapl};
    const auto before = look_at(opening);
    void* const file = PassThrough::file_open(name, flags, fapl, dxpl, req);
    if (file == nullptr || !before) return file;
    vol::Object& object = vol::Object::from(file);
    object.connector->state = std::make_shared<OpenedFile>(object, opening, layer(), *before);
    return file;
  }

  static herr_t file_close(void* self, hid_t dxpl, void** req) {
    const vol::Object& handle = vol::Object::from(self);
    if (auto* const file = handle.connector->state.find<OpenedFile>()) file->note_closing(handle);
    const herr_t result = PassThrough::file_close(self, dxpl, req);
    vol::extents_may_have_changed();
    return result;
  }

  static constexpr auto dataset_read = &vol::on_read<&cache::read_datasets>;

  // A program that refreshes a dataset expects what others have written meanwhile.
  template <Callback callback>
  static void before(const vol::Arguments<callback>& args) {
    if constexpr (callback == Callback::dataset_specific) {
      const auto call = vol::coherence::call_of(args);
      if (call.effects.any(vol::effect::refreshes)) leave_alone(*call.object->connector);
    }
  }
};

}  // namespace headrace::cache
