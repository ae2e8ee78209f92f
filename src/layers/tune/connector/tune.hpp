// The connector that changes property lists on their way to HDF5, where the program has left its
// defaults: what is in files and what programs read stays as it is.
#pragma once

#include "layers/tune/connector/nesting.hpp"
#include "layers/tune/connector/rules/chunk_cache.hpp"
#include "layers/tune/connector/rules/creation.hpp"
#include "layers/tune/connector/rules/file_access.hpp"
#include "layers/tune/connector/rules/fill.hpp"
#include "layers/tune/connector/rules/hints.hpp"
#include "layers/tune/connector/rules/read_once.hpp"
#include "layers/tune/driver/deferred_fill.hpp"
#include "layers/tune/driver/fresh_storage.hpp"
#include "layers/tune/settings.hpp"
#include "vol/coherence/coherence.hpp"
#include "vol/pass_through.hpp"

namespace headrace::tune {

// What is kept with a handle of a dataset.
struct DatasetState {
  Watched watched;
  std::vector<std::byte> filled_with;  // once storage is set aside for it; empty where it is
  std::size_t element = 0;             // bytes in the file; 0 where nobody has asked
};

// While a file is being created or opened: what is to be kept with it, and how it is made.
struct OpeningFile : CallScope<OpeningFile> {
  OpeningFile(std::shared_ptr<FileState> file, const FileForm& is)
      : state(std::move(file)), form(is) {}
  std::shared_ptr<FileState> state;
  FileForm form;
};

// The layer holds fill values back.
struct Coherence {
  using Call = vol::coherence::Call;
  using Strength = vol::coherence::Strength;
  static constexpr std::array kNeeds{
      vol::coherence::Need{kFillsMustBeThere | vol::effect::unknown, Strength::emptied},
      vol::coherence::Need{vol::effect::kAll & ~(kFillsMustBeThere | vol::effect::unknown),
                           Strength::none}};
  static vol::Touched touched(const Call& /*call*/) { return {}; }
  static void publish(const Call& call, const vol::Touched& /*what*/, Strength strength) {
    if (strength != Strength::none && call.object != nullptr)
      keep_no_more_fills(*call.object->connector);
  }
  static constexpr unsigned kStops = vol::effect::lets_others_read;
  static void stop(const Call& /*call*/) { enlarge_no_more(); }
};

struct Connector : vol::PassThrough<Connector> {
  using Callback = vol::Callback;
  using During = Nesting;
  static constexpr const char* kName = "headrace_tune";
  static constexpr H5VL_class_value_t kValue = 7212;
  static constexpr std::span<const Setting> kSettings = tune::kSettings;
  static constexpr std::array kOverrides{
      Callback::terminate,      Callback::file_create,      Callback::file_open,
      Callback::file_get,       Callback::file_specific,    Callback::file_close,
      Callback::dataset_create, Callback::dataset_get,      Callback::dataset_read,
      Callback::dataset_write,  Callback::dataset_specific, Callback::dataset_optional};

  static vol::DriverSeat driver_seat(const Options& options) {
    return vol::driver_seat(kSettings, options, "headrace_tune", "headrace_tune_mpi");
  }

  template <Callback callback>
  static auto before(const vol::Arguments<callback>& args) {
    return vol::coherence::before<Coherence>(args);
  }

  static herr_t terminate() {
    tune::report_statistics();
    return PassThrough::terminate();
  }

  static void* file_create(const char* name, unsigned flags, hid_t fcpl, hid_t fapl, hid_t dxpl,
                           void** req) {
    const vol::Opening opening{name, flags, true, fapl};
    auto state = agreed_state(layer(), opening);
    const Id<Kind::plist> changed = changed_file_creation(fcpl, fapl, state->options);
    const hid_t list = changed ? changed.get() : fcpl;
    const OpeningFile scope(std::move(state), form_of(list));
    return opened(PassThrough::file_create(name, flags, list, fapl, dxpl, req), opening);
  }
  // HDF5 opens no other file than one that is made of pages with a page buffer, and some wrongly.
  static void* file_open(const char* name, unsigned flags, hid_t fapl, hid_t dxpl, void** req) {
    const vol::Opening opening{name, flags, false, fapl};
    const auto open = [&](std::shared_ptr<FileState> state, const FileForm& form) {
      const OpeningFile scope(std::move(state), form);
      return opened(PassThrough::file_open(name, flags, fapl, dxpl, req), opening);
    };
    auto state = agreed_state(layer(), opening);
    const bool buffers = state->options.page_buffer > 0 && !state->parallel;
    void* const file = open(std::move(state), {});
    if (!buffers || (file != nullptr && !is_buffered_wrongly(vol::Object::from(file)))) return file;
    if (file != nullptr && PassThrough::file_close(file, dxpl, nullptr) < 0) return nullptr;
    h5.Eclear2(kDefaultStack);
    return open(agreed_state(layer(), opening), {.pages = false});
  }

  // Of the list for the connector below, before a file is created or opened with it.
  static void prepare_access(vol::FileAccess& access, const vol::Opening& opening) {
    const OpeningFile& scope = *OpeningFile::current();
    FileState& state = *scope.state;
    state.may_reopen = may_reopen_datasets(opening);
    change_access(access, state, scope.form);
    if (state.parallel) add_hints(access.own_fapl(), state);
    access.connector()->state = scope.state;
  }

  static herr_t file_get(void* self, H5VL_file_get_args_t* args, hid_t dxpl, void** req) {
    const vol::UnderRef connector = vol::Object::from(self).connector;
    const herr_t result = PassThrough::file_get(self, args, dxpl, req);
    if (result >= 0 && args->op_type == H5VL_FILE_GET_FAPL)
      if (const auto* const state = connector->state.find<FileState>())
        restore_access(args->args.get_fapl.fapl_id, *state);
    return result;
  }

  static herr_t dataset_get(void* self, H5VL_dataset_get_args_t* args, hid_t dxpl, void** req) {
    const herr_t result = PassThrough::dataset_get(self, args, dxpl, req);
    if (result >= 0 && args->op_type == H5VL_DATASET_GET_DAPL)
      restore_chunk_cache(vol::Object::from(self), args->args.get_dapl.dapl_id);
    return result;
  }

  // What ranks are to be told of follows what HDF5 does together.
  static herr_t file_specific(void* self, H5VL_file_specific_args_t* args, hid_t dxpl, void** req) {
    if (args->op_type == H5VL_FILE_FLUSH) check_ranks(*vol::Object::from(self).connector);
    return PassThrough::file_specific(self, args, dxpl, req);
  }
  static herr_t file_close(void* self, hid_t dxpl, void** req) {
    check_ranks(*vol::Object::from(self).connector);
    return PassThrough::file_close(self, dxpl, req);
  }

  static void* dataset_create(void* self, const H5VL_loc_params_t* loc, const char* name,
                              hid_t lcpl, hid_t type, hid_t space, hid_t dcpl, hid_t dapl,
                              hid_t dxpl, void** req) {
    const vol::Object& object = vol::Object::from(self);
    auto* const file = object.connector->state.find<FileState>();
    const Id<Kind::plist> changed = changed_creation(file, object, *loc, name, type, space, dcpl);
    std::vector<std::byte> value;
    if (file != nullptr && file->driver != nullptr)
      value = fill_value_of(type, changed ? changed.get() : dcpl);
    const ExpectedFill early(value);
    const FreshStorage fresh;
    const auto create = [&](hid_t list) {
      return PassThrough::dataset_create(self, loc, name, lcpl, type, space, list, dapl, dxpl, req);
    };
    void* made = nullptr;
    if (changed) {
      const PrivateErrors own;  // where HDF5 does not take it, the program's is
      made = create(changed.get());
      vol::Identity identity{};
      if (made != nullptr && vol::read_identity(vol::Object::from(made), identity))
        file->relaid.insert(identity);
    }
    if (made == nullptr) made = create(dcpl);
    if (made != nullptr && h5.Pget_layout(changed ? changed.get() : dcpl) != H5D_CHUNKED)
      vol::Object::from(made).state.get<DatasetState>().watched.forget();
    if (made != nullptr && file != nullptr && file->check != nullptr)
      file->check->forget(vol::Object::from(made));
    if (made != nullptr && !value.empty())
      vol::Object::from(made).state.get<DatasetState>().filled_with = std::move(value);
    return made;
  }

  static herr_t dataset_specific(void* self, H5VL_dataset_specific_args_t* args, hid_t dxpl,
                                 void** req) {
    std::optional<FreshStorage> fresh;
    if (args->op_type == H5VL_DATASET_SET_EXTENT) fresh.emplace();
    return PassThrough::dataset_specific(self, args, dxpl, req);
  }

  // The program packs chunks as it has said, and not as the dataset stores them.
  static herr_t dataset_optional(void* self, H5VL_optional_args_t* args, hid_t dxpl, void** req) {
    const vol::Object& dataset = vol::Object::from(self);
    const bool writes = args->op_type == H5VL_NATIVE_DATASET_CHUNK_WRITE;
    const auto* const file = dataset.connector->state.find<FileState>();
    if (file != nullptr && (writes || args->op_type == H5VL_NATIVE_DATASET_CHUNK_READ)) {
      if (writes && is_relaid(*file, dataset))
        throw Error("layer tune: chunks of " + vol::describe(dataset) +
                    " cannot be written directly: with allow=layout it is stored otherwise");
      const hsize_t* const origin = *static_cast<const hsize_t* const*>(args->args);
      if (file->check != nullptr) file->check->note_chunk(dataset, origin, writes);
    }
    return PassThrough::dataset_optional(self, args, dxpl, req);
  }

  static herr_t read(const vol::Reads& reads) {
    watch(reads);
    const auto* const file = reads.dataset(0).connector->state.find<FileState>();
    if (file != nullptr && file->check != nullptr)
      for (std::size_t i = 0; i < reads.size(); ++i)
        file->check->note_read(reads.dataset(i), reads.file_space(i));
    if (reads.size() == 1 && file != nullptr && file->shares_reads)
      if (const auto done = read_once(reads[0], reads.buffer(0), *file->ranks)) return *done;
    const herr_t result = vol::pass_on(reads.with_list(changed_list(file, reads)));
    watch_end(reads);
    return result;
  }
  static constexpr auto dataset_read = &vol::on_read<&read>;

  static herr_t write(const vol::Writes& writes) {
    watch(writes);
    const auto* const file = writes.dataset(0).connector->state.find<FileState>();
    const vol::Writes changed = writes.with_list(changed_list(file, writes));
    if (file != nullptr && file->check != nullptr)
      for (std::size_t i = 0; i < writes.size(); ++i)
        file->check->note_write(writes.dataset(i), writes.file_space(i));
    const auto write = [&] {
      const herr_t result = vol::pass_on(changed);
      watch_end(writes);
      return result;
    };
    auto* const state = writes.dataset(0).state.find<DatasetState>();
    if (writes.size() > 1 || state == nullptr || state->filled_with.empty()) return write();
    const ExpectedFill late(state->filled_with);
    const herr_t result = write();
    if (result >= 0) state->filled_with.clear();  // it has its storage now
    return result;
  }
  static constexpr auto dataset_write = &vol::on_write<&write>;

 private:
  static void* opened(void* file, const vol::Opening& opening) {
    if (file == nullptr) return nullptr;
    const vol::Object& object = vol::Object::from(file);
    auto* const state = object.connector->state.find<FileState>();
    state->driver = driver_of(object, opening);
    if (state->options.conversion_buffer > 0)
      state->transfer_list = transfer_list_with(state->options.conversion_buffer);
    return file;
  }

  static void check_ranks(vol::UnderConnector& connector) {
    const auto* const state = connector.state.find<FileState>();
    if (state == nullptr || state->check == nullptr) return;
    try {
      if (auto violation = state->check->violation()) connector.defer(std::move(violation));
    } catch (const Error& error) {  // MPI has ended before the file is closed
      log(Level::warning, "tune: ranks are not compared for " + state->name + ": " + error.what());
    }
  }

  static bool is_relaid(const FileState& file, const vol::Object& dataset) {
    const PrivateErrors own;
    vol::Identity identity{};
    return !file.relaid.empty() && vol::read_identity(dataset, identity) &&
           file.relaid.contains(identity);
  }

  // HDF5's default buffer grows for a large element, and no other does.
  template <typename Bytes>
  static hid_t changed_list(const FileState* file, const vol::Transfers<Bytes>& call) {
    const hid_t dxpl = call.dxpl();
    const bool left = dxpl == kDefaultPlist || dxpl == h5.transfer_list.get();
    if (!left || file == nullptr || !file->transfer_list) return dxpl;
    for (std::size_t i = 0; i < call.size(); ++i)
      if (std::max(element_of(call.dataset(i)), h5.Tget_size(call.mem_type(i))) >
          file->options.conversion_buffer)
        return dxpl;
    return file->transfer_list.get();
  }

  static std::size_t element_of(vol::Object& dataset) {
    std::size_t& element = dataset.state.get<DatasetState>().element;
    if (element > 0) return element;
    const PrivateErrors own;
    const Id<Kind::datatype> type(vol::get(dataset, H5VL_DATASET_GET_TYPE).args.get_type.type_id);
    return element = h5.Tget_size(type.get());
  }

  // Over MPI the ranks would have to write what is stored in headers together.
  static Id<Kind::plist> changed_creation(const FileState* file, const vol::Object& object,
                                          const H5VL_loc_params_t& loc, const char* name,
                                          hid_t type, hid_t space, hid_t dcpl) {
    if (file == nullptr || !file->options.may_change_layout()) return {};
    DatasetOptions options = file->options_of(object, loc.obj_type, name);
    if (file->parallel) options.compact = 0;
    return changed_dataset_creation(type, space, dcpl, options);
  }

  // Over MPI ranks would have to do so together; readers of a file in SWMR mode look at what is
  // written when; and a function of the program's is told of each flush.
  static bool may_reopen_datasets(const vol::Opening& opening) {
    return !vol::is_parallel(opening.fapl) && !opening.swmr() &&
           !vol::tells_of_flushes(opening.fapl);
  }

  template <typename Bytes>
  static void watch(const vol::Transfers<Bytes>& call) {
    for (std::size_t i = 0; i < call.size(); ++i) {
      vol::Object& dataset = call.dataset(i);
      const auto* const file = dataset.connector->state.find<FileState>();
      if (file != nullptr && file->may_reopen)
        dataset.state.get<DatasetState>().watched.before_transfer(dataset, call.file_space(i),
                                                                  Nesting::outermost());
    }
  }
  template <typename Bytes>
  static void watch_end(const vol::Transfers<Bytes>& call) {
    for (std::size_t i = 0; i < call.size(); ++i)
      if (auto* const state = call.dataset(i).state.template find<DatasetState>())
        state->watched.after_transfer(call.file_space(i));
  }
};

}  // namespace headrace::tune
