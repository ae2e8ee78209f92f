// Counts which chunks a program asks for again, and answers from decoded ones that it keeps. What
// it does not handle HDF5 reads.
#include <map>
#include <set>

#include "base/report/log.hpp"
#include "engine/cache/local_store.hpp"
#include "engine/memory/kind.hpp"
#include "hdf5/quiet_errors.hpp"
#include "plugin/layer_entry.hpp"
#include "vol/chunks/parts.hpp"
#include "vol/chunks/reader.hpp"
#include "vol/coherence/coherence.hpp"
#include "vol/dataset/transfer.hpp"

namespace {

using namespace headrace;
using vol::Callback;

// Of the process: what one handle of a file keeps, a write by another one forgets. Leaked: HDF5
// ends its connectors after C++ statics are gone.
auto& room = *new engine::cache::Room;
auto& store = *new engine::cache::LocalStore(room);
std::uint64_t version = 0;  // changes until now
bool off = false;           // from now on somebody may write past HDF5

struct Counts {
  std::string name;
  std::shared_ptr<const engine::cache::Share> share;
  std::set<engine::Index> asked;  // where chunks begin: in a new extent their numbers are others
  std::uint64_t requests = 0, again = 0, kept = 0, left = 0;
};
struct OpenFile {
  std::string name;
  std::uint64_t limit;
  std::map<vol::Identity, Counts> datasets;
};

engine::cache::DatasetKey key_of(const vol::Identity& of) {
  return {{0, of.file, 0}, engine::cache::Token::of(of.token.__data), version};
}

// Throws Error where a chunk cannot be read past HDF5.
void answer(const vol::ChunkTransfer& transfer, const UnderDataset& below,
            const engine::cache::DatasetKey& key, Counts& counts, std::byte* program) {
  vol::Parts parts(transfer);
  for (vol::Part part; parts.next(part); ++counts.requests) {
    const bool again = !counts.asked.insert(part.origin).second;
    const bool kept = store.read({key, part.chunk}, [&](std::span<const std::byte> chunk) {
      transfer.deliver(part, chunk.data(), program);
    });
    counts.again += again ? 1 : 0;
    counts.kept += again && kept ? 1 : 0;
    if (kept) continue;
    auto chunk = vol::read_chunk(transfer.chunked(), below, part.origin);
    transfer.deliver(part, chunk.data(), program);
    store.put({key, part.chunk}, chunk, room.now());
  }
}

// What the dataset is, is asked for each read anew: that is slow, but never out of date.
bool is_answered(const vol::Transfer& read, void* program) try {
  auto* const file = read.dataset.connector->state.find<OpenFile>();
  if (off || file == nullptr || program == nullptr || engine::is_device_memory(program))
    return false;
  const PrivateErrors own;
  auto chunked = vol::chunked_of(read.dataset);
  if (!chunked || !chunked->fills || !chunked->grid().countable()) return false;
  const auto key = key_of(chunked->identity);
  Counts& counts = file->datasets[chunked->identity];
  if (counts.share == nullptr)
    counts = {vol::name_of(read.dataset), room.share(key.file, file->limit), {}};
  ++counts.left;
  const auto found = vol::element_transfer_of(*chunked, read);
  const auto* const what = std::get_if<vol::ElementTransfer>(&found);
  if (what == nullptr) return false;
  answer({*chunked, *what, read.dxpl}, {read.dataset.under, read.dataset.connector->id()}, key,
         counts, static_cast<std::byte*>(program));
  --counts.left;
  return true;
} catch (const std::exception& error) {
  log(Level::debug, std::string("asked_twice leaves a read to HDF5: ") + error.what());
  return false;
}

void report(const OpenFile& file) {
  for (const auto& [identity, one] : file.datasets) {
    const std::pair<std::string_view, std::uint64_t> values[] = {{"chunks_asked", one.requests},
                                                                 {"chunks_asked_again", one.again},
                                                                 {"chunks_kept", one.kept},
                                                                 {"reads_not_followed", one.left}};
    report_statistics(Seat::vol, "headrace_asked_twice", file.name, values, one.name);
    store.forget(one.share->file);
  }
}

struct Connector : vol::PassThrough<Connector> {
  static constexpr const char* kName = "headrace_asked_twice";
  static constexpr H5VL_class_value_t kValue = 7296;
  static constexpr std::array kSettings{Setting{"keep", "ASKED_TWICE_KEEP", Type::size, "", "bytes",
                                                "64MiB", "Decoded chunks kept of each file."}};
  static constexpr std::array kOverrides{Callback::file_close, Callback::dataset_read};

  static void prepare_access(vol::FileAccess& access, const vol::Opening& opening) {
    if (opening.swmr() || vol::is_parallel(opening.fapl)) return;  // others may write
    const std::uint64_t limit = number_of(kSettings, "keep", access.options());
    access.connector()->state = std::make_shared<OpenFile>(OpenFile{opening.name, limit, {}});
  }
  static herr_t file_close(void* self, hid_t dxpl, void** req) {
    vol::State& state = vol::Object::from(self).connector->state;
    if (const auto* const file = state.find<OpenFile>()) report(*file);
    state = {};
    return PassThrough::file_close(self, dxpl, req);
  }
  static herr_t read(const vol::Reads& reads) {
    vol::TransferList<void> rest;
    for (std::size_t i = 0; i < reads.size(); ++i)
      if (!is_answered(reads[i], reads.buffer(i))) rest.add(reads[i], reads.buffer(i));
    return rest.empty() ? 0 : vol::pass_on(rest.call(reads.dxpl(), reads.req()));
  }
  static constexpr auto dataset_read = &vol::on_read<&read>;

  // A write may be to a virtual dataset, which is made of others, and a new dataset may get the
  // token of one that is gone: nothing that was kept is found from then on.
  template <Callback callback>
  static void before(const vol::Arguments<callback>& args) {
    using namespace vol::effect;
    const auto call = vol::coherence::call_of(args);
    off = off || call.surely(tells_addresses | gives_handle | lets_others_read);
    if (callback == Callback::dataset_write || callback == Callback::dataset_create ||
        call.effects.any(vol::coherence::kChanges | copies))
      ++version;
  }
};

}  // namespace

std::span<const headrace::LayerEntry> headrace::layers() {
  static const std::array kLayers{LayerEntry{"asked_twice",
                                             "counts chunks that are asked for again",
                                             Connector::kSettings,
                                             connector<Connector>("libheadrace_asked_twice.so"),
                                             {},
                                             {}}};
  return kLayers;
}
