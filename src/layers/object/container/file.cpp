#include "layers/object/container/file.hpp"

#include <algorithm>
#include <deque>
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

// Of containers that were closed last, whose references a program may still have: natively these
// lead somewhere when the file is opened again.
struct ClosedFaces {
  std::string container;
  std::shared_ptr<vol::FaceMemory> faces;
};
constexpr std::size_t kMostClosed = 64;

std::deque<ClosedFaces>& closed_faces() {
  static auto& closed = *new std::deque<ClosedFaces>();
  return closed;
}

std::shared_ptr<vol::FaceMemory> faces_of(const std::string& container) {
  auto& closed = closed_faces();
  const auto found = std::ranges::find(closed, container, &ClosedFaces::container);
  if (found == closed.end()) return vol::new_faces();
  auto faces = std::move(found->faces);
  closed.erase(found);
  return faces;
}

void keep_faces(const std::string& container, std::shared_ptr<vol::FaceMemory> faces) {
  if (!faces->has_references()) return;
  closed_faces().push_back({container, std::move(faces)});
  if (closed_faces().size() > kMostClosed) closed_faces().pop_front();
}

std::string folder_of(const std::string& path) {
  std::error_code gone;
  return std::filesystem::absolute(path, gone).parent_path();
}

}  // namespace

std::shared_ptr<const void> kept_name(store::Store& store, const std::string& container,
                                      const std::string& path, store::Keeping how) {
  auto kept = store.keep(container, how);
  if (kept == nullptr)
    throw Error("unable to lock file " + path + ": its container " + container +
                    (how == store::Keeping::alone ? " is open to be written by another name of it"
                                                  : " is being cleaned or removed"),
                EAGAIN);
  return kept;
}

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
    : TerminalFile(faces_of(name)),
      store_(std::move(store)),
      connector_(connector),
      process_(forks()),
      path(std::move(its_path)),
      folder(folder_of(path)),
      fileno(next_fileno()),
      container(*store_, name),
      heaps(*store_, name, [this] { return container.new_id(); }),
      regions(heaps, *faces(), [this](hid_t type) { return located(type); }),
      native(filters_file()) {
  container.before_writing([this] { heaps.flush(); });
  faces()->tell_extents([this](std::uint64_t token) { return extent_of(token); });
}

// What the program has closed was flushed: this is of what it has left open.
File::~File() {
  const std::exception_ptr failed = error_of([&] {
    const PrivateErrors own;
    flush();
  });
  pending_.clear();  // these datasets need the container
  faces()->tell_extents(nullptr);
  keep_faces(container.name(), faces());
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
  return has_region_references(type) ? located(regions.with_sequences(type).get()) : located(type);
}

std::optional<vol::FaceExtent> File::extent_of(std::uint64_t token) try {
  const objects::Handle object = container.open(container.place_of(token));
  const objects::Header& header = object->header();
  if (header.kind != objects::Header::Kind::dataset) return std::nullopt;
  const H5S_class_t kind = header.is_null        ? H5S_NULL
                           : header.dims.empty() ? H5S_SCALAR
                                                 : H5S_SIMPLE;
  vol::FaceExtent extent{kind,
                         {header.dims.begin(), header.dims.end()},
                         {header.max_dims.begin(), header.max_dims.end()}};
  const auto known = datasets_.find(token);
  const auto open = known == datasets_.end() ? nullptr : known->second.lock();
  if (open != nullptr && open->sources != nullptr && open->sources->has_sources()) {
    const auto& dims = open->sources->follow_sources(/*writable=*/false);
    extent.dims.assign(dims.begin(), dims.end());
  }
  return extent;
} catch (const Error& error) {
  if (error.kind() != ErrorKind::not_found) throw;
  return std::nullopt;
}

Id<Kind::datatype> File::located(hid_t type) const {
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
