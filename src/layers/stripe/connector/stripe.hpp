// The connector that puts the stripe driver below the native connector. Over MPI it also keeps
// collective transfers from being made in MPI's own datatypes, which only HDF5's mpio driver
// understands: HDF5 makes them so where it cannot give a driver selections.
#pragma once

#include <optional>

#include "hdf5/library_context.hpp"
#include "layers/stripe/connector/control.hpp"
#include "layers/stripe/connector/transfers.hpp"
#include "layers/stripe/driver/striped_file.hpp"
#include "layers/stripe/settings.hpp"
#include "vol/effects.hpp"
#include "vol/own_question.hpp"
#include "vol/pass_through.hpp"

namespace headrace::stripe {

struct Connector : vol::PassThrough<Connector> {
  using Callback = vol::Callback;
  static constexpr const char* kName = "headrace_stripe";
  static constexpr H5VL_class_value_t kValue = 7214;
  static constexpr std::span<const Setting> kSettings = stripe::kSettings;
  static constexpr std::array kOverrides{
      Callback::initialize,   Callback::introspect_opt_query, Callback::file_create,
      Callback::file_open,    Callback::file_specific,        Callback::file_optional,
      Callback::dataset_read, Callback::dataset_write,        Callback::dataset_optional};

  // The driver sees that its connector is there by the option `seat`, which others do not get.
  static vol::DriverSeat driver_seat(const Options& options) {
    vol::DriverSeat seat =
        vol::driver_seat(kSettings, options, "headrace_stripe", "headrace_stripe_mpi");
    if (!seat.serial.empty()) seat.config = with_seat(seat.config);
    return seat;
  }

  static herr_t initialize(hid_t vipl) {
    register_operations();
    return PassThrough::initialize(vipl);
  }
  static herr_t introspect_opt_query(void* self, H5VL_subclass_t kind, int operation,
                                     std::uint64_t* flags) {
    if (!is_operation(kind, operation))
      return PassThrough::introspect_opt_query(self, kind, operation, flags);
    if (flags != nullptr)
      *flags = is_striped(vol::Object::from(self)) ? H5VL_OPT_QUERY_SUPPORTED : 0;
    return 0;
  }

  // What a program puts into a user block it writes to the file by itself, so that file is whole.
  static void* file_create(const char* name, unsigned flags, hid_t fcpl, hid_t fapl, hid_t dxpl,
                           void** req) {
    std::optional<MakesWhole> scope;
    hsize_t user_block = 0;
    if (h5.Pget(fcpl, "block_size", &user_block) >= 0 && user_block > 0) scope.emplace();
    return opened(PassThrough::file_create(name, flags, fcpl, fapl, dxpl, req));
  }
  static void* file_open(const char* name, unsigned flags, hid_t fapl, hid_t dxpl, void** req) {
    void* const file = PassThrough::file_open(name, flags, fapl, dxpl, req);
    if (file == nullptr) explain_refused(fapl, driver_seat({}));
    return opened(file);
  }
  // What a rank could not write is told to all that flush with it.
  static herr_t file_specific(void* self, H5VL_file_specific_args_t* args, hid_t dxpl, void** req) {
    const herr_t result = PassThrough::file_specific(self, args, dxpl, req);
    if (args->op_type == H5VL_FILE_FLUSH) agree_on_flush(vol::Object::from(self));
    return result;
  }

  static herr_t file_optional(void* self, H5VL_optional_args_t* args, hid_t dxpl, void** req) {
    if (is_operation(H5VL_SUBCLS_FILE, args->op_type)) {
      operate_on_file(vol::Object::from(self), *args);
      return 0;
    }
    if (args->op_type == H5VL_NATIVE_FILE_START_SWMR_WRITE)
      refuse_swmr_write(vol::Object::from(self));
    if (args->op_type == kSetAtomicity) refuse_atomic(vol::Object::from(self), args->args);
    return PassThrough::file_optional(self, args, dxpl, req);
  }

  static herr_t dataset_optional(void* self, H5VL_optional_args_t* args, hid_t dxpl, void** req) {
    const auto effects = vol::effects_of_operation<Callback::dataset_optional>(args->op_type);
    if (effects.any(vol::effect::tells_addresses) && vol::OwnQuestion::current() == nullptr)
      before_addresses_are_told(vol::Object::from(self),
                                args->op_type == H5VL_NATIVE_DATASET_GET_OFFSET);
    return PassThrough::dataset_optional(self, args, dxpl, req);
  }

  template <typename Bytes>
  static herr_t transfer(const vol::Transfers<Bytes>& all) {
    return together(all.dxpl()) ? apart(all) : vol::pass_on(all);
  }
  static constexpr auto dataset_read = &vol::on_read<&transfer<void>>;
  static constexpr auto dataset_write = &vol::on_write<&transfer<const void>>;

 private:
  static void* opened(void* file) {
    if (file != nullptr) note_opened(vol::Object::from(file));
    return file;
  }

  // Whether a transfer is collective that a file in pieces may be part of.
  static bool together(hid_t dxpl) { return StripedFile::any_over_mpi() && vol::collective(dxpl); }

  // Filtered chunks are encoded and decoded by all ranks together, and go to the driver as plain
  // pieces; other transfers are made by each rank alone, or by one rank of each node for the
  // others. Ranks meet before, as HDF5 has them meet, and all are done when one returns.
  template <typename Bytes>
  static herr_t apart(const vol::Transfers<Bytes>& all) {
    auto [alone, together] = parted(all);
    if (!alone.empty()) {
      const Id<Kind::plist> list = independent(all.dxpl());
      const LibraryContext own;  // HDF5 keeps the mode of the first transfer in a context
      const vol::Transfers<Bytes> call = alone.call(list.get(), all.req());
      StripedFile& file = **transferred(call.dataset(0)).file;
      file.meet();
      herr_t result = -1;
      const auto transfer = [&] { result = vol::pass_on(call); };
      if constexpr (std::is_const_v<Bytes>) {
        file.write_together(
            [&] {
              transfer();
              if (result < 0) throw Error("dataset write failed");
            },
            alone.size() > 1);
      } else {
        const std::exception_ptr failed = error_of(transfer);
        file.meet();
        if (failed != nullptr) std::rethrow_exception(failed);
        if (result < 0) return result;
      }
    }
    return together.empty() ? 0 : vol::pass_on(together.call(all.dxpl(), all.req()));
  }
};

}  // namespace headrace::stripe
