#include "drivers/stripe/striped_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <map>

#include "base/connection_string.hpp"
#include "base/error.hpp"
#include "base/events.hpp"
#include "base/log.hpp"
#include "drivers/stripe/subfile_driver.hpp"
#include "hdf5/quiet_errors.hpp"
#include "sidecar/striped/fusion.hpp"
#include "vfd/device.hpp"

namespace headrace::stripe {
namespace {

// H5F_ACC_RDWR, H5F_ACC_TRUNC, H5F_ACC_EXCL and H5F_ACC_CREAT, macros that call the library.
constexpr unsigned kReadWrite = 0x01;
constexpr unsigned kTruncate = 0x02;
constexpr unsigned kExclusive = 0x04;
constexpr unsigned kCreate = 0x10;

void share(Communicator& ranks, std::uint64_t& number) {
  ranks.broadcast(std::as_writable_bytes(std::span(&number, 1)), 0);
}

// Rank 0's set, and how long the file is, are everyone's.
void share(Communicator& ranks, sidecar::StripedSet& set, std::uint64_t& size) {
  std::uint64_t count = set.layout.count;
  share(ranks, count);
  share(ranks, set.layout.stripe);
  share(ranks, size);
  share(ranks, set.stub);
  set.layout.count = static_cast<std::uint32_t>(count);
  set.subfiles.resize(count);
  std::string paths;  // none has a null in it
  for (const std::string& path : set.subfiles) paths.append(path).push_back('\0');
  share(ranks, paths);
  std::size_t begin = 0;
  for (std::string& path : set.subfiles) {
    path = paths.substr(begin, paths.find('\0', begin) - begin);
    begin += path.size() + 1;
  }
}

// What all share that have the file open in this process. The application's thread only.
std::shared_ptr<char> opening_of(const std::string& stub) {
  static std::map<std::pair<dev_t, ino_t>, std::weak_ptr<char>> all;
  std::erase_if(all, [](const auto& each) { return each.second.expired(); });
  struct stat status{};
  if (::stat(stub.c_str(), &status) != 0) return std::make_shared<char>();
  std::weak_ptr<char>& known = all[{status.st_dev, status.st_ino}];
  std::shared_ptr<char> found = known.lock();
  if (found == nullptr) known = found = std::make_shared<char>();
  return found;
}

// Open files of the process over MPI. The application's thread only.
unsigned over_mpi = 0;

// Before the first change: the set is open, and its stub has the layer's text.
void begin_changing(const sidecar::StripedSet& set) {
  sidecar::mark_open(set.config);
  sidecar::restore_stub(set);
}

bool is_new(const std::string& path, unsigned flags) {
  if ((flags & (kTruncate | kExclusive)) != 0) return true;
  struct stat status{};
  return (flags & kCreate) != 0 && ::stat(path.c_str(), &status) == 0 && status.st_size == 0;
}

void tell_of_state(const sidecar::StripedSet& set) {
  if (!set.state || set.state->closed || opening_of(set.stub).use_count() > 1) return;
  log(Level::warning, "stripe: " + set.stub +
                          " was not closed by who wrote it last, or is open still: it has what was "
                          "flushed");
}

}  // namespace

std::unique_ptr<StripedFile> StripedFile::open(const char* name, unsigned flags, hid_t fapl,
                                               const vfd::Layer& layer) {
  CommunicatorHandle ranks = communicator_of(fapl);
  std::unique_ptr<Placement> placement;
  do_together(*ranks,
              [&] { placement = std::make_unique<Placement>(vfd::options_of(fapl, layer)); });
  const engine::StripeLayout layout = placement->layout(*ranks);
  std::optional<sidecar::StripedSet> set;
  std::uint64_t size = 0;
  std::uint64_t cut_at = 0;
  // Ranks that open a file together have it for themselves. Where a process is alone, HDF5 may
  // close the file again at once, as another one has locked it, and nothing of it must have
  // changed.
  bool changing = (flags & kReadWrite) != 0 && ranks->size() > 1;
  do_together(*ranks, [&] {
    if (ranks->rank() != 0) return;
    const std::string path = std::filesystem::canonical(name);
    const bool made = is_new(path, flags);
    set = made ? sidecar::make_set(path, layout, placement->folders)
               : sidecar::find_set(path, placement->folders.config);
    if (!set) return;
    changing = changing || made;
    tell_of_state(*set);
    if (set->state && set->state->closed)
      size = cut_at = set->state->size;  // its subfiles are as long as that says
    else
      size = set->layout.whole_size(sidecar::subfile_sizes(*set));
    if (changing) begin_changing(*set);
  });
  std::uint64_t there = set ? 1 : 0;
  share(*ranks, there);
  if (there == 0) return nullptr;
  if (!set) set.emplace();
  share(*ranks, *set, size);
  share(*ranks, cut_at);
  // Rank 0's word for all.
  share(*ranks, placement->aggregate);
  std::unique_ptr<NodePieces> node;
  if (placement->aggregate > 0 && ranks->size() > 1)
    node = NodePieces::make(*ranks, placement->aggregate);
  std::unique_ptr<StripedFile> file;
  do_together(*ranks, [&] {
    Id<Kind::plist> access = subfile_access(fapl, layer);
    // Ranks work side by side as they are.
    if (ranks->size() > 1 && (node == nullptr || !node->writes()))
      placement->threads = 1;
    else if (placement->threads == 0)
      placement->threads = static_cast<unsigned>(sidecar::devices_of(*set));
    file.reset(new StripedFile(std::move(*set), flags, std::move(access), nullptr, *placement));
    file->eof_ = size;
    file->cut_at_ = cut_at;
  });
  file->changing_ = changing;
  file->ranks_ = std::move(ranks);
  file->node_ = std::move(node);
  file->over_mpi_ = layer.over == vfd::Over::mpio;
  if (file->over_mpi_) ++over_mpi;
  log(Level::info, "stripe: " + file->set_.stub + " is in " +
                       std::to_string(file->set_.layout.count) + " subfiles with stripes of " +
                       std::to_string(file->set_.layout.stripe) + " bytes");
  return file;
}

StripedFile::StripedFile(sidecar::StripedSet set, unsigned flags, Id<Kind::plist> access,
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
          set_.layout, [this](std::uint32_t number) -> engine::Device& { return subfile(number); },
          placement.threads > 1) {
  if (placement.threads > 1) threads_.emplace(placement.threads);
}

bool StripedFile::any_over_mpi() { return over_mpi > 0; }

StripedFile::~StripedFile() {
  *self = nullptr;
  if (over_mpi_) --over_mpi;
  const std::array<std::pair<std::string_view, std::uint64_t>, 4> values{
      {{"subfiles", set_.layout.count},
       {"striped_written_bytes", written_},
       {"gathered_bytes", gathered_},
       {"striped_read_bytes", read_}}};
  report_statistics(Seat::vfd, "headrace_stripe", set_.stub, values);
  if (const auto failed = error_of([&] { close_subfiles(); }))
    log(Level::error, "stripe: " + text_of(failed));
}

engine::Device& StripedFile::subfile(std::uint32_t number) {
  Subfile& one = subfiles_[number];
  if (one.device != nullptr) return *one.device;
  const std::string& path = set_.subfiles[number];
  const NestedCalls nested;
  one.file = h5.FDopen(path.c_str(), writes_ ? kReadWrite : 0, access_.get(), HADDR_UNDEF);
  if (one.file == nullptr)
    throw Error("subfile " + path + " of " + set_.stub + " cannot be opened");
  one.device = vfd::device_of(one.file, path.c_str(), vfd::Over::sec2);
  if (one.device == nullptr)
    throw Error("file driver " + std::string(one.file->cls->name) +
                " cannot be below the layer stripe: put stripe below it");
  return *one.device;
}

void StripedFile::change() {
  changed_ = true;
  if (!std::exchange(changing_, true)) begin_changing(set_);
}

void StripedFile::put(std::uint64_t address, std::span<const std::span<const std::byte>> pieces) {
  change();
  bytes_.write(address, pieces);
  std::uint64_t size = 0;
  for (const auto piece : pieces) size += piece.size();
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
  if (sync_ && failed == nullptr)
    failed = error_of([&] {
      for (const Subfile& one : subfiles_)
        if (one.device != nullptr) one.device->sync();
    });
  if (failed == nullptr) return;
  told_ = failed;
  std::rethrow_exception(failed);
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
    each_of_mine([&](std::uint32_t number) {
      subfile(number).resize(set_.layout.subfile_size(number, eoa_));
    });
  });
  agree(*ranks_, failed != nullptr ? failed : resize);
  cut_at_ = eof_ = farthest_ = eoa_;
}

std::unique_ptr<engine::Device> StripedFile::device() {
  for (std::uint32_t number = 0; number < set_.layout.count; ++number) subfile(number);
  if (writes_) written_to_.assign(written_to_.size(), 1);
  workers_write_ = writes_;
  if (workers_write_ && farthest_ > 0) change();
  return std::make_unique<engine::StripedDevice>(
      set_.layout,
      [this](std::uint32_t number) -> engine::Device& { return *subfiles_[number].device; });
}

void wait_for_background(const char* name, hid_t fapl, const vfd::Layer& layer) {
  const CommunicatorHandle ranks = communicator_of(fapl);
  do_together(*ranks, [&] {
    if (ranks->rank() != 0) return;
    try {
      const Placement placement(vfd::options_of(fapl, layer));
      sidecar::wait_for_fusion(name, placement.folders.config);
    } catch (const Error&) {
      // Opening the set tells of malformed options.
    }
  });
}

void remove_pieces_of(const char* name, hid_t fapl, const vfd::Layer& layer) {
  const CommunicatorHandle ranks = communicator_of(fapl);
  do_together(*ranks, [&] {
    const Placement placement(vfd::options_of(fapl, layer));
    if (ranks->rank() != 0) return;
    std::error_code failure;
    const std::string path = std::filesystem::canonical(name, failure);
    if (failure) return;
    if (const auto set = sidecar::find_set(path, placement.folders.config))
      sidecar::remove_pieces(*set);
  });
}

}  // namespace headrace::stripe
