#include "layers/stripe/driver/striped_file.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <map>

#include "base/error.hpp"
#include "base/report/log.hpp"
#include "base/settings/connection_string.hpp"
#include "hdf5/quiet_errors.hpp"
#include "hdf5/report/events.hpp"
#include "layers/stripe/driver/subfile_driver.hpp"
#include "sidecar/striped/fusion.hpp"
#include "vfd/storage.hpp"

namespace headrace::stripe {
namespace {

// H5F_ACC_RDWR, a macro that calls the library.
constexpr unsigned kReadWrite = 0x01;

}  // namespace

unsigned StripedFile::all_over_mpi_ = 0;

namespace {

// The application's thread only. Leaked: HDF5 closes files after C++ statics are destroyed.
std::vector<std::shared_ptr<StripedFile*>>& open_files() {
  static auto& files = *new std::vector<std::shared_ptr<StripedFile*>>;
  return files;
}

}  // namespace

std::vector<std::shared_ptr<StripedFile*>> StripedFile::all_open() { return open_files(); }

std::shared_ptr<StripedFile*> StripedFile::behind_link() {
  std::shared_ptr<StripedFile*> last;
  for (const auto& each : open_files())
    if ((*each)->over_mpi_ && !(*each)->by_program_) last = each;
  return last;
}

std::shared_ptr<char> StripedFile::opening_of(const std::string& stub) {
  static std::map<std::pair<dev_t, ino_t>, std::weak_ptr<char>> all;
  std::erase_if(all, [](const auto& each) { return each.second.expired(); });
  struct stat status{};
  if (::stat(stub.c_str(), &status) != 0) return std::make_shared<char>();
  std::weak_ptr<char>& known = all[{status.st_dev, status.st_ino}];
  std::shared_ptr<char> found = known.lock();
  if (found == nullptr) known = found = std::make_shared<char>();
  return found;
}

StripedFile::StripedFile(sidecar::StripedSet set, unsigned flags, SubfileAccess access,
                         CommunicatorHandle ranks, const Placement& placement)
    : set_(std::move(set)),
      writes_((flags & kReadWrite) != 0),
      access_(std::move(access)),
      ranks_(std::move(ranks)),
      sync_(placement.sync),
      checksums_(placement.checksums),
      fuse_(placement.fuse),
      opened_(opening_of(set_.stub)),
      subfiles_(set_.layout.count),
      written_to_(set_.layout.count, 0),
      bytes_(
          set_.layout,
          [this](std::uint32_t number) -> engine::io::File& { return subfile(number); },
          placement.threads > 1) {
  if (placement.threads > 1) threads_.emplace(placement.threads);
  open_files().push_back(self);
}

bool StripedFile::any_over_mpi() { return all_over_mpi_ > 0; }

StripedFile::~StripedFile() {
  *self = nullptr;
  std::erase(open_files(), self);
  if (over_mpi_) --all_over_mpi_;
  if (nodes_ != nullptr) nodes_->stop_serving();
  const std::array<std::pair<std::string_view, std::uint64_t>, 4> values{
      {{"subfiles", set_.layout.count},
       {"striped_written_bytes", written_},
       {"gathered_bytes", gathered_},
       {"striped_read_bytes", read_}}};
  report_statistics(Seat::vfd, "headrace_stripe", set_.stub, values);
  if (const auto failed = error_of([&] { close_subfiles(); }))
    log(Level::error, "stripe: " + text_of(failed));
}

engine::io::File& StripedFile::subfile(std::uint32_t number) {
  Subfile& one = subfiles_[number];
  if (one.storage != nullptr) return *one.storage;
  const std::string& path = set_.subfiles[number];
  if (nodes_ != nullptr) one.storage = nodes_->far_piece(number, path);
  if (one.storage == nullptr) open_subfile(one, path);
  return *one.storage;
}

void StripedFile::open_subfile(Subfile& one, const std::string& path) {
  if (access_.is_plain()) {
    auto storage = std::make_unique<engine::io::ReopenedFile>(path, writes_);
    one.own = storage.get();
    one.storage = std::move(storage);
    return;
  }
  const NestedCalls nested;
  one.file = h5.FDopen(path.c_str(), writes_ ? kReadWrite : 0, access_.get(), HADDR_UNDEF);
  if (one.file == nullptr)
    throw Error("subfile " + path + " of " + set_.stub + " cannot be opened");
  one.storage = vfd::storage_of(one.file, path.c_str(), vfd::Over::sec2);
  if (one.storage == nullptr)
    throw Error("file driver " + std::string(one.file->cls->name) +
                " cannot be below the layer stripe: put stripe below it");
}

std::vector<std::uint32_t> StripedFile::mine() const {
  if (nodes_ != nullptr) return nodes_->mine();
  std::vector<std::uint32_t> numbers;
  const auto step = static_cast<std::uint32_t>(ranks_->size());
  for (auto number = static_cast<std::uint32_t>(ranks_->rank()); number < set_.layout.count;
       number += step)
    numbers.push_back(number);
  return numbers;
}

void StripedFile::serve() {
  std::map<std::uint32_t, engine::io::File*> pieces;
  do_together(*ranks_, [&] {
    if (!nodes_->first()) return;
    for (const std::uint32_t number : nodes_->here()) pieces[number] = &subfile(number);
  });
  nodes_->serve(*ranks_, std::move(pieces));
}

void StripedFile::change() {
  changed_ = true;
  if (!std::exchange(changing_, true)) sidecar::begin_changing(set_);
}

void StripedFile::put(std::uint64_t address, std::span<const std::span<const std::byte>> pieces) {
  change();
  bytes_.write(address, pieces);
  const std::uint64_t size = engine::io::total(pieces);
  if (size > 0)
    note_written(address / set_.layout.stripe, (address + size - 1) / set_.layout.stripe);
  eof_ = std::max<std::uint64_t>(eof_, address + size);
  written_ += size;
}

void StripedFile::write(std::uint64_t address, std::span<const std::byte> bytes) try {
  if (gathering_ && node_->put(address, bytes)) {
    change();
    eof_ = std::max<std::uint64_t>(eof_, address + bytes.size());
    gathered_ += bytes.size();
    return;
  }
  if (in_order_) settle();
  put(address, {&bytes, 1});
  kept_.note_written(address, bytes);
} catch (const std::exception&) {
  if (failed_ == nullptr) failed_ = std::current_exception();
  throw;
}

void StripedFile::write_metadata(std::uint64_t address, std::span<const std::byte> bytes) {
  if (ranks_->size() == 1) return write(address, bytes);
  const std::exception_ptr failed = error_of([&] { put(address, {&bytes, 1}); });
  if (failed == nullptr) return kept_.note_written(address, bytes);
  kept_.keep(address, bytes);
  if (broken_ == nullptr) broken_ = failed;
}

void StripedFile::write_gathered(const std::exception_ptr& failed) {
  gathering_ = false;
  if (node_ != nullptr) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    ranks_->barrier();
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (node_->writes())
      for (const NodePieces::Run& run : node_->all()) put(run.address, run.pieces);
  }
  if (failed != nullptr) std::rethrow_exception(failed);
}

void StripedFile::settle() {
  if (!gathering_) return;
  const std::vector<NodePieces::Run> runs = node_->mine();
  if (runs.empty()) return;
  gathering_ = false;
  for (const NodePieces::Run& run : runs) put(run.address, run.pieces);
  node_->forget();
}

void StripedFile::note_written(std::uint64_t first, std::uint64_t last) {
  last = std::min<std::uint64_t>(last, first + set_.layout.count - 1);
  for (std::uint64_t stripe = first; stripe <= last; ++stripe)
    written_to_[stripe % set_.layout.count] = 1;
}

StripedFile::Pieces StripedFile::pieces() {
  paths_.clear();
  for (const std::string& path : set_.subfiles) paths_.push_back(path.c_str());
  return {set_.layout.stripe, paths_, written_to_};
}

void StripedFile::read(std::uint64_t address, std::span<std::byte> bytes) {
  bytes_.read(address, bytes);
  read_ += bytes.size();
}

void StripedFile::read_metadata(std::uint64_t address, std::span<std::byte> bytes) {
  read(address, bytes);
  kept_.overlay(address, bytes);
}

void StripedFile::flush() {
  std::exception_ptr failed = std::exchange(failed_, nullptr);
  if (failed == nullptr) failed = broken_;
  if (sync_ && failed == nullptr) failed = error_of([&] { sync(); });
  if (failed == nullptr) return;
  told_ = failed;
  std::rethrow_exception(failed);
}

void StripedFile::sync() {
  for (const Subfile& one : subfiles_)
    if (one.storage != nullptr) one.storage->sync();
}

void StripedFile::sync_always() {
  sync_ = true;
  sync();
}

void StripedFile::agree_on_flush() {
  const std::exception_ptr mine = std::exchange(told_, nullptr);
  const std::exception_ptr agreed = error_of([&] { agree(*ranks_, mine); });
  if (agreed != nullptr && mine == nullptr) std::rethrow_exception(agreed);
}

void StripedFile::truncate() {
  // Over MPI no rank knows how far the others have written, but all know where they were cut.
  if (eoa_ == cut_at_ && farthest_ == eoa_) return;
  std::exception_ptr failed = std::exchange(failed_, nullptr);
  const std::exception_ptr resize = error_of([&] {
    if (eoa_ != eof_) change();
    for (const std::uint32_t number : mine())
      subfile(number).resize(set_.layout.subfile_size(number, eoa_));
  });
  agree(*ranks_, failed != nullptr ? failed : resize);
  cut_at_ = eof_ = farthest_ = eoa_;
}

std::unique_ptr<engine::io::File> StripedFile::storage() {
  for (std::uint32_t number = 0; number < set_.layout.count; ++number) subfile(number);
  if (writes_) written_to_.assign(written_to_.size(), 1);
  workers_write_ = writes_;
  if (workers_write_ && farthest_ > 0) change();
  if (place_ == nullptr)
    place_ = std::make_shared<engine::io::ReplaceableFile::Place>(
        std::make_unique<engine::FileOfSubfiles>(set_.layout,
                                                 [this](std::uint32_t number) -> engine::io::File& {
                                                   return *subfiles_[number].storage;
                                                 }));
  return std::make_unique<engine::io::ReplaceableFile>(place_);
}

}  // namespace headrace::stripe
