#include "layers/object/container/file.hpp"

#include <algorithm>
#include <filesystem>

#include "base/process/forks.hpp"
#include "base/report/log.hpp"
#include "hdf5/error_stack.hpp"
#include "hdf5/lifecycle.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/object/container/encoded.hpp"

namespace headrace::object {
namespace {

// What is gathered of one file at most before it is written, in bytes.
constexpr std::size_t kMostPending = std::size_t{64} << 20U;

// Of files that are open natively the numbers begin at 1.
unsigned long next_fileno() {
  static unsigned long last = 1UL << 40U;
  return ++last;
}

using Key = std::pair<const store::Store*, std::string>;
std::map<Key, std::weak_ptr<File>>& open_files() {
  // Leaked on purpose: HDF5 closes files after C++ statics are gone.
  static auto& files = *new std::map<Key, std::weak_ptr<File>>();
  return files;
}

bool has_open_files() {
  return std::ranges::any_of(open_files(), [](const auto& one) { return !one.second.expired(); });
}

// What fails is tried again, and told, when the files are closed.
void flush_open_files() {
  for (const auto& [key, open] : open_files())
    if (const auto file = open.lock(); file != nullptr)
      static_cast<void>(error_of([&] { file->flush(); }));
}

std::string folder_of(const std::string& path) {
  std::error_code gone;
  return std::filesystem::absolute(path, gone).parent_path();
}

}  // namespace

std::shared_ptr<File> open_file(const store::Store& store, const std::string& container) {
  const auto found = open_files().find({&store, container});
  return found == open_files().end() ? nullptr : found->second.lock();
}

void note_open(const store::Store& store, const std::string& container,
               const std::shared_ptr<File>& file) {
  before_library_ends({has_open_files, flush_open_files});
  std::erase_if(open_files(), [](const auto& one) { return one.second.expired(); });
  open_files()[{&store, container}] = file;
}

File::File(std::shared_ptr<store::Store> store, const std::string& name, std::string its_path,
           const char* connector)
    : store_(std::move(store)),
      connector_(connector),
      process_(forks()),
      path(std::move(its_path)),
      folder(folder_of(path)),
      fileno(next_fileno()),
      container(*store_, name),
      heaps(*store_, name, [this] { return container.new_id(); }),
      native(filters_file()) {
  container.before_writing([this] { heaps.flush(); });
}

// What the program has closed was flushed: this is of what it has left open.
File::~File() {
  const std::exception_ptr failed = error_of([&] {
    const PrivateErrors own;
    flush();
  });
  pending_.clear();  // these datasets need the container
  if (failed == nullptr) return;
  try {
    std::rethrow_exception(failed);
  } catch (const std::exception& error) {
    log(Level::error,
        path + ": not written, and not told to the program, which had closed it: " + error.what());
  }
}

void File::require_own_process() const {
  if (process_ != forks())
    throw Error("file " + path + " was opened before a fork: this process may not change it",
                ErrorKind::unsupported);
}

// Heaps first, as chunks and headers lead to them. Else all that can be written is, whatever fails.
void File::flush() {
  if (process_ != forks()) return;
  const auto written = [this](const std::string& what, const auto& write) {
    try {
      write();
    } catch (const Error& error) {
      throw Error(what + " of file " + path + ": " + error.what(), error);
    }
  };
  has_changed = has_changed || !pending_.empty() || heaps.size() > 0 || container.size() > 0;
  written("strings and sequences", [this] { heaps.flush(); });
  FirstError first;
  for (auto at = pending_.begin(); at != pending_.end();) {
    const bool failed = first.of(
        [&] { written("dataset " + at->first->path, [&] { at->first->elements.flush(); }); });
    if (!failed) pending_bytes_ -= at->second;
    at = failed ? std::next(at) : pending_.erase(at);
  }
  first.of([&] { written("links and headers", [this] { container.flush(); }); });
  first.rethrow();
}

void File::note_pending(const std::shared_ptr<Dataset>& dataset) {
  const std::size_t now = dataset->elements.size();
  const auto found = pending_.find(dataset);
  const std::size_t before = found == pending_.end() ? 0 : found->second;
  pending_bytes_ += now - before;
  if (now > 0)
    pending_[dataset] = now;
  else if (found != pending_.end())
    pending_.erase(found);
  if (pending_bytes_ + heaps.size() > kMostPending) flush();
}

void File::note_change() {
  constexpr std::uint64_t kOften = 4096;  // it takes time to count
  const bool is_much = ++changes_ % kOften == 0 && container.size() > kMostPending;
  if (is_much || heaps.size() > kMostPending) flush();
}

void File::prepare() {
  constexpr unsigned kReadWrite = 1;
  const std::shared_ptr<vol::TerminalFile> itself(this, [](vol::TerminalFile*) {});
  for_types_ = std::make_unique<vol::TerminalObject>(
      H5I_FILE, std::make_shared<vol::FileHandle>(itself, kReadWrite, native));
}

vol::TerminalObject* File::file_object(const vol::TerminalObject* but) const {
  const auto found = std::ranges::find_if(objects(), [&](const vol::TerminalObject* one) {
    return one != but && one != for_types_.get() && one->type() == H5I_FILE;
  });
  return found == objects().end() ? nullptr : *found;
}

Id<Kind::datatype> File::file_type(hid_t type) const {
  const Id<Kind::vol> connector(h5.VLget_connector_id_by_name(connector_));
  Id<Kind::datatype> in_file(h5.VLget_file_type(for_types_.get(), connector.get(), type));
  if (!in_file) throw Error("the type has no form in a file: " + root_cause());
  return in_file;
}

std::shared_ptr<Dataset> File::dataset(const objects::Handle& object) {
  const objects::ObjectId id = object->place().object;
  if (const auto found = datasets_.find(id); found != datasets_.end())
    if (auto open = found->second.lock()) return open;
  const objects::Header& header = object->header();
  const std::string& type = header.type;
  const Types types{[type] { return decoded_type(type); },
                    [type, this] { return file_type(decoded_type(type).get()); }};
  auto made = std::make_shared<Dataset>(
      Dataset{object, types,
              Elements(*store_, container, object, types,
                       shared_list(header.creation, h5.dataset_list.get()), [this](bool cuts) {
                         heaps.flush();
                         if (cuts) container.flush();
                       })});
  const Id<Kind::plist> list = shared_list(header.creation, h5.dataset_list.get());
  if (h5.Pget_layout(list.get()) == H5D_VIRTUAL) {
    auto sources = std::make_unique<VirtualDataset>(
        container, object, types, decoded_list(header.creation, h5.dataset_list.get()));
    made->sources = sources.get();
    made->elements.lie_in(std::move(sources));
  }
  if (datasets_.size() > most_datasets_) {
    std::erase_if(datasets_, [](const auto& one) { return one.second.expired(); });
    most_datasets_ = 2 * datasets_.size() + 64;
  }
  datasets_[id] = made;
  return made;
}

}  // namespace headrace::object
