#include "connectors/log/file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/error.hpp"
#include "connectors/log/fork.hpp"
#include "connectors/log/replay.hpp"
#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"

namespace headrace::log_layout {
namespace {

constexpr unsigned kReadWrite = 0x01;  // H5F_ACC_RDWR, a macro that calls the library
constexpr unsigned kSwmr = 0x60;       // H5F_ACC_SWMR_WRITE and H5F_ACC_SWMR_READ

// Files whose logs are not empty. Leaked: HDF5 closes what is open while the process exits.
struct Pending {
  std::vector<File*> files;
  pid_t process = 0;
};

Pending& pending() {
  static auto& pending = *new Pending;
  return pending;
}

bool all_off = false;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

bool parallel(hid_t fapl) {
  unsigned long features = 0;
  h5.FDdriver_query(h5.Pget_driver(fapl), &features);
  return (features & H5FD_FEAT_HAS_MPI) != 0;
}

// An unnamed file beside another one, so that nothing is left of it whatever happens.
int open_beside(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor >= 0) return descriptor;
  std::string name = path + ".headrace-XXXXXX";
  descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) throw Error("no log can be made for file " + path, errno);
  ::unlink(name.c_str());
  return descriptor;
}

}  // namespace

File* File::of(const vol::UnderConnector& connector) {
  return static_cast<File*>(connector.state.get());
}

void File::opened(const vol::Object& file, const char* name, unsigned flags, bool created,
                  hid_t fapl) {
  const Aside aside;
  if ((!created && (flags & kReadWrite) == 0) || (flags & kSwmr) != 0 || parallel(fapl)) return;
  file.connector->state = std::make_shared<File>(*file.connector, std::filesystem::absolute(name));
}

File::~File() { forget(); }

bool File::logs() const { return logs_ && !all_off; }

std::shared_ptr<Dataset> File::know(std::shared_ptr<Dataset> dataset) {
  number_ = dataset->identity.file;
  return datasets_.try_emplace(dataset->identity, std::move(dataset)).first->second;
}

engine::log::Writer& File::log() {
  if (log_ != nullptr) return *log_;
  descriptor_ = open_beside(path_);
  log_ = std::make_unique<engine::log::Writer>(
      engine::posix_device(descriptor_, ("log of " + path_).c_str()));
  return *log_;
}

void File::note_pending(Dataset& dataset, vol::Object& handle) {
  if (!dataset.pending) {
    engine::log::LoggedDataset logged{dataset.element, {}, {}};
    std::ranges::copy(std::as_bytes(std::span(&dataset.identity.token, 1)), logged.token.begin());
    dataset.place = log().add(std::move(logged));
    dataset.pending = true;
  }
  if (dataset.closed == nullptr) dataset.handle = &handle;
  if (pending_) return;
  // Registered after HDF5's, so called before it: HDF5 that ends writes no datasets.
  static const bool at_exit = std::atexit([] {
                                const LibraryContext context;
                                log_layout::settle();
                              }) == 0;
  static_cast<void>(at_exit);
  settle_before_forks();
  pending_ = true;
  log_layout::pending().files.push_back(this);
  log_layout::pending().process = ::getpid();
}

void File::replay() {
  log_->flush(false);
  const engine::log::Reader reader(
      engine::posix_device(descriptor_, path_.c_str()),
      std::filesystem::file_size("/proc/self/fd/" + std::to_string(descriptor_)));
  for (const auto& [identity, dataset] : datasets_) {
    if (!dataset->pending) continue;
    engine::log::Layers layers;
    layers.add(reader, dataset->place);
    log_layout::replay(*dataset, layers);
  }
}

// What the program has closed meanwhile is closed below.
void File::forget() {
  log_.reset();
  // Not kept for the next log: a child may have it, too.
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  pending_ = false;
  std::erase(log_layout::pending().files, this);
  for (const auto& [identity, dataset] : datasets_) {
    dataset->pending = false;
    dataset->handle = nullptr;
    if (const auto handle = std::exchange(dataset->closed, nullptr))
      h5.VLdataset_close(handle->under, handle->connector->id(), h5.transfer_list.get(), nullptr);
  }
}

void File::lose() {
  if (lost_) return;
  lost_ = true;
  stop();
  connector_->defer(std::make_exception_ptr(lost_error()));
}

void File::require_nothing_lost() const {
  if (lost_) throw lost_error();
}

Error File::lost_error() const {
  return Error("writes to file " + path_ +
               " are missing in this process: they were in the log of its parent, which was forked "
               "by another thread than the one that used HDF5");
}

void File::settle() noexcept {
  if (log_layout::pending().process != ::getpid()) lose();  // forked in a way that told nobody
  if (!lost_) try {
      replay();
    } catch (...) {
      connector_->defer(std::current_exception());
    }
  forget();
}

bool anything_pending() { return !pending().files.empty(); }

void lose_pending() {
  for (File* file : pending().files) file->lose();
}

void settle() noexcept {
  if (pending().files.empty()) return;
  const Aside aside;
  const std::vector<File*> files = pending().files;
  for (File* file : files) file->settle();
}

void log_nothing_more() { all_off = true; }

void settle_others(const File& file) noexcept {
  const Aside aside;
  const std::vector<File*> files = pending().files;
  for (File* other : files)
    if (other != &file && other->number() == file.number()) other->settle();
}

}  // namespace headrace::log_layout
