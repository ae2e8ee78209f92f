// The connector that appends scattered writes to a log, and writes it to the datasets, in order and
// in large pieces, before anybody looks.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/report/log.hpp"
#include "base/settings/meaning.hpp"
#include "comm/agreement.hpp"
#include "hdf5/lifecycle.hpp"
#include "layers/log/connector/boxes.hpp"
#include "layers/log/connector/coherence.hpp"
#include "layers/log/connector/opening/opening.hpp"
#include "layers/log/connector/opening/recovery.hpp"
#include "layers/log/connector/ranks/parallel_file.hpp"
#include "layers/log/connector/ranks/transfers.hpp"
#include "layers/log/connector/reading/read.hpp"
#include "layers/log/connector/serial/all_files.hpp"
#include "layers/log/connector/serial/elsewhere.hpp"
#include "layers/log/connector/serial/logging.hpp"
#include "layers/log/connector/serial/reading.hpp"
#include "layers/log/connector/serial/serial_file.hpp"
#include "layers/log/connector/state.hpp"
#include "layers/log/connector/writing/write.hpp"
#include "layers/log/settings.hpp"
#include "sidecar/opening_guard.hpp"
#include "vol/hooks.hpp"
#include "vol/pass_through.hpp"

namespace headrace::log_layout {

struct Connector : vol::PassThrough<Connector> {
  using Callback = vol::Callback;

  static constexpr const char* kName = "headrace_log";
  static constexpr H5VL_class_value_t kValue = 7208;
  static constexpr std::array kOverrides{
      Callback::initialize,     Callback::terminate,        Callback::file_create,
      Callback::file_open,      Callback::file_specific,    Callback::introspect_opt_query,
      Callback::dataset_create, Callback::dataset_open,     Callback::dataset_read,
      Callback::dataset_write,  Callback::dataset_optional, Callback::dataset_close,
      Callback::object_open};

  // It is there for all calls that have such a hook.
  struct During : InCallback {
    template <Callback callback>
      requires vol::WorksOnObjects<callback>
    void begin(const vol::Arguments<callback>& /*args*/) {}
  };

  template <Callback callback>
  static auto before(const vol::Arguments<callback>& args) {
    return vol::coherence::before<Coherence>(args);
  }

  static constexpr std::span<const Setting> kSettings = log_layout::kSettings;

  static herr_t initialize(hid_t vipl) {
    register_operations();
    return PassThrough::initialize(vipl);
  }

  static herr_t introspect_opt_query(void* self, H5VL_subclass_t kind, int operation,
                                     std::uint64_t* flags) {
    if (kind != H5VL_SUBCLS_DATASET || !is_operation(operation))
      return PassThrough::introspect_opt_query(self, kind, operation, flags);
    *flags = takes_boxes(vol::Object::from(self)) ? H5VL_OPT_QUERY_SUPPORTED : 0;
    return 0;
  }

  static herr_t terminate() {
    report_writes();
    return PassThrough::terminate();
  }

  static void note_number(vol::Object& file) {
    const PrivateErrors own;
    file.state = std::make_shared<OpenedByProgram>(
        OpenedByProgram{vol::number_of({file.under, file.connector->id()})});
  }

  // HDF5's stack has room for few errors: those of this close are to leave some for the cause.
  static void abandon(vol::Object& file) {
    const PrivateErrors own;
    h5.VLfile_close(file.under, file.connector->id(), h5.transfer_list.get(), nullptr);
    delete &file;
  }

  // Again when a process that puts its log in order was in the way, or has ended meanwhile. Ranks
  // agree on that in use().
  template <typename Open>
  static void* open_guarded(const char* name, bool writes, hid_t fapl, const Open& open) {
    const bool shared = vol::is_parallel(fapl);
    for (;;) {
      const sidecar::OpeningGuard guard(name, writes);
      try {
        void* file = open(guard);
        if (file != nullptr || shared || !guard.in_vain()) return file;
      } catch (const sidecar::OpenedInVain&) {
        headrace::log(Level::info, "file " + std::string(name) + " is opened again by its ranks");
      } catch (...) {
        if (shared || !guard.in_vain()) throw;
      }
      h5.Eclear2(kDefaultStack);
    }
  }

  static void* file_create(const char* name, unsigned flags, hid_t fcpl, hid_t fapl, hid_t dxpl,
                           void** req) {
    return open_guarded(name, true, fapl, [&](const sidecar::OpeningGuard& guard) {
      return create(name, flags, fcpl, fapl, dxpl, req, guard);
    });
  }

  static void* file_open(const char* name, unsigned flags, hid_t fapl, hid_t dxpl, void** req) {
    const bool writes = (flags & vol::kReadWrite) != 0;
    return open_guarded(name, writes, fapl, [&](const sidecar::OpeningGuard& guard) {
      return open(name, flags, fapl, dxpl, req, guard);
    });
  }

  // What a file is opened with.
  struct Terms {
    LogOptions options;
    CommunicatorHandle ranks;  // that open it together; null where one process does
  };

  // Throws Error on all ranks where the environment or the connection string of one is malformed:
  // HDF5 would open the file on the others, which wait.
  static Terms terms_of(hid_t fapl) {
    Terms terms;
    const auto malformed = error_of([&] {
      terms.options = meaning_of<LogOptions>(vol::info_of(fapl, layer())->options);
      require_environment();
    });
    terms.ranks = ranks_of(fapl, terms.options.mpi_logs);
    if (terms.ranks != nullptr)
      agree(*terms.ranks, malformed);
    else if (malformed != nullptr)
      std::rethrow_exception(malformed);
    return terms;
  }

  static void* create(const char* name, unsigned flags, hid_t fcpl, hid_t fapl, hid_t dxpl,
                      void** req, const sidecar::OpeningGuard& guard) {
    Terms terms = terms_of(fapl);
    ParallelFile::stop_others(name, terms.ranks.get());
    std::optional<FormerLogs> former;
    if (terms.ranks == nullptr || terms.ranks->rank() == 0) former.emplace(guard, flags, fapl);
    void* file = PassThrough::file_create(name, flags, fcpl, fapl, dxpl, req);
    if (file != nullptr && former) former->remove();
    return use(file, {name, flags, true, fapl}, std::move(terms), guard);
  }

  static void* open(const char* name, unsigned flags, hid_t fapl, hid_t dxpl, void** req,
                    const sidecar::OpeningGuard& guard) {
    Terms terms = terms_of(fapl);
    ParallelFile::stop_others(name, terms.ranks.get());
    const auto other = terms.options.recover ? recovery_access(name, fapl) : Id<Kind::plist>();
    const hid_t list = other ? other.get() : fapl;
    void* file = PassThrough::file_open(name, flags, list, dxpl, req);
    return use(file, {name, flags, false, list}, std::move(terms), guard);
  }

  // A file that cannot be used is closed again: by all ranks, as closing it is collective.
  static void* use(void* opened, const SerialFile::Opening& opening, Terms terms,
                   const sidecar::OpeningGuard& guard) {
    auto& [options, ranks] = terms;
    if (opened == nullptr && ranks == nullptr) return nullptr;
    vol::Object* const file = opened == nullptr ? nullptr : &vol::Object::from(opened);
    std::optional<engine::log::Owner> marker;
    const auto refusal = error_of([&] {
      if (file == nullptr) return;
      note_number(*file);
      marker = SerialFile::opened(*file, opening, guard.path(), ranks != nullptr, options);
    });
    try {
      if (ranks != nullptr && ranks->reduce(guard.overtaken() ? 1 : 0, Reduction::max) != 0)
        throw sidecar::OpenedInVain();
      if (ranks != nullptr && !agree_on_use(*ranks, file, marker.has_value(), refusal))
        return opened;
      if (refusal != nullptr) std::rethrow_exception(refusal);
      if (ranks != nullptr && opening.writes())
        ParallelFile::opened(*file, opening.name, opening.fapl, std::move(ranks), options, marker);
    } catch (...) {
      if (file != nullptr) abandon(*file);
      throw;
    }
    return opened;
  }

  static herr_t file_specific(void* self, H5VL_file_specific_args_t* args, hid_t dxpl, void** req) {
    const herr_t result = PassThrough::file_specific(self, args, dxpl, req);
    if (result >= 0 && args->op_type == H5VL_FILE_REOPEN)
      note_number(vol::Object::from(*args->args.reopen.file));
    return result;
  }

  static void* dataset_create(void* self, const H5VL_loc_params_t* loc, const char* name,
                              hid_t lcpl, hid_t type, hid_t space, hid_t dcpl, hid_t dapl,
                              hid_t dxpl, void** req) {
    void* made =
        PassThrough::dataset_create(self, loc, name, lcpl, type, space, dcpl, dapl, dxpl, req);
    if (made == nullptr) return made;
    if (name != nullptr) {
      ask_early(vol::Object::from(made), true);
      return made;
    }
    leave_to_hdf5(vol::Object::from(made));
    // Once it is linked, other handles of it would be logged.
    if (LoggedFile* const file = file_of(self)) file->leave_unnamed();
    return made;
  }

  static void* dataset_open(void* self, const H5VL_loc_params_t* loc, const char* name, hid_t dapl,
                            hid_t dxpl, void** req) {
    void* opened = PassThrough::dataset_open(self, loc, name, dapl, dxpl, req);
    if (opened != nullptr) ask_early(vol::Object::from(opened), false);
    return opened;
  }

  static void* object_open(void* self, const H5VL_loc_params_t* loc, H5I_type_t* type, hid_t dxpl,
                           void** req) {
    void* opened = PassThrough::object_open(self, loc, type, dxpl, req);
    if (opened != nullptr && *type == H5I_DATASET) ask_early(vol::Object::from(opened), false);
    return opened;
  }

  static herr_t read(const vol::Reads& reads) {
    if (reads.size() == 1 && anything_pending() && read_logged({reads[0], reads.buffer(0)}))
      return 0;
    const auto datasets = reads.datasets();
    before_reads(datasets);
    if (any_of_ranks(datasets))
      prepare_read(reads);
    else
      require_usable(datasets);
    if (reads_logs(datasets)) return read_on_top(reads);
    const herr_t result = vol::pass_on(reads);
    if (result < 0) replay_again();
    return result;
  }
  static constexpr auto dataset_read = &vol::on_read<&read>;

  static herr_t write(const vol::Writes& writes) {
    const auto datasets = writes.datasets();
    if (any_of_ranks(datasets)) return write_over_ranks(writes);
    for (void* one : datasets) require_no_log_elsewhere(vol::Object::from(one));
    if (log_writes(writes)) return 0;
    before_writes(datasets);
    require_usable(datasets);
    return vol::pass_on(writes);
  }
  static constexpr auto dataset_write = &vol::on_write<&write>;

  static herr_t dataset_optional(void* self, H5VL_optional_args_t* args, hid_t dxpl, void** req) {
    if (!is_operation(args->op_type)) return PassThrough::dataset_optional(self, args, dxpl, req);
    write_boxes(vol::Object::from(self), *args);
    return 0;
  }

  static herr_t dataset_close(void* self, hid_t dxpl, void** req) {
    if (close_behind(vol::Object::from(self))) return 0;
    return PassThrough::dataset_close(self, dxpl, req);
  }
};

}  // namespace headrace::log_layout
