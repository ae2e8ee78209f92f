// The connector above the write-behind driver: parallel filters.
#pragma once

#include "base/settings/meaning.hpp"
#include "comm/agreement.hpp"
#include "engine/buffer.hpp"
#include "layers/async/connector/chunks/cache.hpp"
#include "layers/async/connector/chunks/closings.hpp"
#include "layers/async/connector/coherence.hpp"
#include "layers/async/connector/control.hpp"
#include "layers/async/connector/dataset.hpp"
#include "layers/async/connector/file_state.hpp"
#include "layers/async/connector/mpi_staging.hpp"
#include "layers/async/connector/requests/queue.hpp"
#include "layers/async/connector/requests/request.hpp"
#include "layers/async/connector/statistics.hpp"
#include "layers/async/connector/touched.hpp"
#include "layers/async/connector/transfers.hpp"
#include "layers/async/settings.hpp"
#include "vol/pass_through.hpp"

namespace headrace::async {

struct Connector : vol::PassThrough<Connector> {
  using Callback = vol::Callback;

  static constexpr const char* kName = "headrace_async";
  static constexpr H5VL_class_value_t kValue = 7206;
  static constexpr std::span<const Setting> kSettings = async::kSettings;
  static constexpr std::array kOverrides{
      Callback::initialize,     Callback::terminate,        Callback::introspect_opt_query,
      Callback::file_create,    Callback::file_open,        Callback::file_optional,
      Callback::file_close,     Callback::dataset_create,   Callback::dataset_read,
      Callback::dataset_write,  Callback::dataset_optional, Callback::dataset_close,
      Callback::group_close,    Callback::request_wait,     Callback::request_notify,
      Callback::request_cancel, Callback::request_specific, Callback::request_optional,
      Callback::request_free};

  static vol::DriverSeat driver_seat(const Options& options) {
    return vol::driver_seat(kSettings, options, "headrace_async", "headrace_async_mpi");
  }

  template <Callback callback>
  static auto before(const vol::Arguments<callback>& args) {
    return vol::coherence::before<Coherence>(args);
  }

  static herr_t initialize(hid_t vipl) {
    register_operations();
    engine::keep_freed_blocks();
    return PassThrough::initialize(vipl);
  }

  static herr_t introspect_opt_query(void* self, H5VL_subclass_t kind, int operation,
                                     std::uint64_t* flags) {
    if (!is_operation(kind, operation))
      return PassThrough::introspect_opt_query(self, kind, operation, flags);
    *flags = H5VL_OPT_QUERY_SUPPORTED;
    return 0;
  }

  static herr_t terminate() {
    async::report_statistics();
    return PassThrough::terminate();
  }

  static void* file_create(const char* name, unsigned flags, hid_t fcpl, hid_t fapl, hid_t dxpl,
                           void** req) {
    CommunicatorHandle ranks = staging_ranks(fapl);
    return opened(PassThrough::file_create(name, flags, fcpl, fapl, dxpl, req),
                  {name, flags, true, fapl}, std::move(ranks));
  }

  static void* file_open(const char* name, unsigned flags, hid_t fapl, hid_t dxpl, void** req) {
    CommunicatorHandle ranks = staging_ranks(fapl);
    return opened(PassThrough::file_open(name, flags, fapl, dxpl, req), {name, flags, false, fapl},
                  std::move(ranks));
  }

  static herr_t file_optional(void* self, H5VL_optional_args_t* args, hid_t dxpl, void** req) {
    if (!is_operation(H5VL_SUBCLS_FILE, args->op_type))
      return PassThrough::file_optional(self, args, dxpl, req);
    operate_on_file(vol::Object::from(self), *args);
    return 0;
  }

  static herr_t file_close(void* self, hid_t dxpl, void** req) {
    const vol::UnderRef connector = vol::Object::from(self).connector;
    forget_closed_datasets();
    note_closing(vol::Object::from(self));
    forget_ranks(*connector);
    const herr_t result = PassThrough::file_close(self, dxpl, req);
    if (result >= 0) end_pauses_for(*connector);
    return result;
  }

  static void* dataset_create(void* self, const H5VL_loc_params_t* loc, const char* name,
                              hid_t lcpl, hid_t type, hid_t space, hid_t dcpl, hid_t dapl,
                              hid_t dxpl, void** req) {
    store_encoded();
    forget_closed_datasets();
    if (name == nullptr) note_unlinked();
    void* made =
        PassThrough::dataset_create(self, loc, name, lcpl, type, space, dcpl, dapl, dxpl, req);
    if (made != nullptr) note_created(vol::Object::from(made), dcpl);
    return made;
  }

  static herr_t dataset_optional(void* self, H5VL_optional_args_t* args, hid_t dxpl, void** req) {
    if (!is_operation(H5VL_SUBCLS_DATASET, args->op_type))
      return PassThrough::dataset_optional(self, args, dxpl, req);
    operate_on_dataset(vol::Object::from(self), *args);
    return 0;
  }

  static herr_t dataset_close(void* self, hid_t dxpl, void** req) {
    vol::Object& object = vol::Object::from(self);
    drain_before_close();
    carry_out_queue();
    store_encoded();
    if (close_behind(object)) return 0;
    before_handle_closes(object);
    return PassThrough::dataset_close(self, dxpl, req);
  }

  static herr_t group_close(void* self, hid_t dxpl, void** req) {
    drain_before_close();
    return PassThrough::group_close(self, dxpl, req);
  }

  static constexpr auto dataset_read = &vol::on_read<&async::read_datasets>;
  static constexpr auto dataset_write = &vol::on_write<&async::write_datasets>;
  static constexpr auto request_wait = &async::request_wait;
  static constexpr auto request_notify = &async::request_notify;
  static constexpr auto request_cancel = &async::request_cancel;
  static constexpr auto request_specific = &async::request_specific;
  static constexpr auto request_optional = &async::request_optional;
  static constexpr auto request_free = &async::request_free;

 private:
  // Those that open the file together, if one of them stages: they may have been told different
  // things. Of a malformed setting all are told when it is opened.
  static CommunicatorHandle staging_ranks(hid_t fapl) {
    if (!vol::is_parallel(fapl)) return nullptr;
    const PrivateErrors own;
    bool stages = false;
    error_of([&] { stages = AsyncOptions(vol::info_of(fapl, layer())->options).mpi_staging; });
    CommunicatorHandle ranks = vol::ranks_of(fapl);
    if (ranks != nullptr && ranks->reduce(stages ? 1 : 0, Reduction::max) == 0) ranks.reset();
    return ranks;
  }

  static void* opened(void* file, const vol::Opening& opening, CommunicatorHandle ranks) {
    if (file == nullptr) return nullptr;
    const auto info = vol::info_of(opening.fapl, layer());
    note_opened(vol::Object::from(file), opening, meaning_of<AsyncOptions>(info->options),
                std::move(ranks));
    return file;
  }
};

}  // namespace headrace::async
