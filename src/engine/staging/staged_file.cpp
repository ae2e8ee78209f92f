#include "engine/staging/staged_file.hpp"

#include <array>
#include <cstring>
#include <new>
#include <utility>

#include "engine/memory/limit.hpp"
#include "engine/staging/shared.hpp"
#include "engine/threads/thread_pool.hpp"

namespace headrace::engine {

using staging::FileState;
using staging::kPageBytes;
using staging::Lock;
using staging::Page;
using staging::Shared;
using Bytes = std::span<const std::byte>;

namespace {

// Larger writes are copied without the mutex, this many pages at a time.
constexpr std::size_t kBatch = 32;
constexpr std::size_t kLarge = 2 * std::size_t{kPageBytes};
// What a write takes to the file by itself when there is no memory for it.
constexpr std::size_t kDirect = 4U << 20U;

class Blocked : ProgramWaits {
 public:
  explicit Blocked(FileState& file) : file_(file) {}
  Blocked(const Blocked&) = delete;
  Blocked& operator=(const Blocked&) = delete;
  ~Blocked() {
    const std::chrono::nanoseconds time = staging::Clock::now() - begin_;
    file_.statistics.blocked += static_cast<std::uint64_t>(time.count());
  }

 private:
  FileState& file_;
  staging::Clock::time_point begin_ = staging::Clock::now();
};

// One call of write().
class Writer {
 public:
  // `lender`: has a part for each page of the program's own bytes; null when they are not lent.
  Writer(FileState& file, std::uint64_t offset, Bytes bytes, std::shared_ptr<Completion> lender)
      : file_(file), offset_(offset), bytes_(bytes), lender_(std::move(lender)) {}

  void run() {
    while (!bytes_.empty()) {
      shared_.wait_for_fork(lock_);
      if (passes_by_ && write_around_pages()) continue;
      if (lend_pages()) continue;
      if (!(bytes_.size() >= kLarge ? fill_batch() : fill_page()) && !write_directly()) {
        const Blocked blocked(file_);
        shared_.make_room(lock_);
      }
    }
    ++file_.statistics.writes;
    shared_.start_tasks(lock_);
  }

 private:
  [[nodiscard]] std::uint64_t index() const { return offset_ / kPageBytes; }
  [[nodiscard]] std::uint32_t within() const {
    return static_cast<std::uint32_t>(offset_ % kPageBytes);
  }
  [[nodiscard]] std::uint32_t in_page() const {
    return static_cast<std::uint32_t>(std::min<std::size_t>(kPageBytes - within(), bytes_.size()));
  }
  void advance(std::size_t size) {
    offset_ += size;
    bytes_ = bytes_.subspan(size);
    file_.statistics.bytes += size;
  }

  // The version of the current page that may be written to, or null when there is no memory, or
  // lent bytes must be in the file first.
  Page* writable() {
    const auto entry = file_.pages.find(index());
    if (entry != file_.pages.end() && entry->second.newer != nullptr)
      return entry->second.newer->lender == nullptr ? entry->second.newer : nullptr;
    Page* page = shared_.take(lock_, file_, index(), bytes_.size() >= kLarge && lender_ == nullptr);
    if (page == nullptr) return nullptr;
    try {
      file_.pages[index()].newer = page;
    } catch (const std::bad_alloc&) {
      shared_.release(lock_, *page);
      return nullptr;
    }
    return page;
  }

  [[nodiscard]] bool lendable() const {
    return lender_ != nullptr && within() == 0 && bytes_.size() >= kPageBytes;
  }

  // Stages whole pages of the program's bytes themselves. False when the next one is none.
  bool lend_pages() {
    bool some = false;
    while (lendable() && lend_page()) some = true;
    if (some) shared_.start_tasks(lock_);
    return some;
  }

  bool lend_page() {
    const auto entry = file_.pages.find(index());
    if (entry != file_.pages.end() && entry->second.newer != nullptr) return false;
    // Nobody writes to it.
    auto page = std::make_unique<Page>(const_cast<std::byte*>(bytes_.data()), nullptr);
    page->file = &file_;
    page->index = index();
    page->dirty.add(0, kPageBytes);
    page->lender = lender_;
    file_.pages[index()].newer = page.get();
    lender_->begin();
    shared_.make_ready(lock_, *page.release());
    advance(kPageBytes);
    file_.statistics.lent += kPageBytes;
    return true;
  }

  // With the mutex held all the time: a task that would take the page waits.
  bool fill_page() {
    Page* page = writable();
    if (page == nullptr) return false;
    const std::uint32_t size = in_page();
    std::memcpy(page->bytes + within(), bytes_.data(), size);
    file_.statistics.absorbed += page->dirty.add(within(), within() + size);
    const bool completed = page->state == Page::State::partial && page->dirty.whole();
    if (completed && !page->again) shared_.unlist(lock_, *page);
    if (page->state == Page::State::filling || (completed && !page->again))
      shared_.put(lock_, *page);
    advance(size);
    return true;
  }

  bool fill_batch() {
    struct Fill {
      Page* page;
      std::uint32_t begin;
      Bytes bytes;
    };
    std::array<Fill, kBatch> fills;
    std::size_t count = 0;
    while (count < kBatch && !bytes_.empty() && (count == 0 || !lendable())) {
      Page* page = writable();
      if (page == nullptr) break;
      shared_.begin_filling(lock_, *page);
      const std::uint32_t size = in_page();
      fills.at(count++) = {page, within(), bytes_.first(size)};
      advance(size);
    }
    if (count == 0) return false;
    lock_.unlock();
    const std::span filled = std::span(fills).first(count);
    for (const Fill& fill : filled)
      std::memcpy(fill.page->bytes + fill.begin, fill.bytes.data(), fill.bytes.size());
    lock_.lock();
    for (const Fill& fill : filled) {
      const auto end = fill.begin + static_cast<std::uint32_t>(fill.bytes.size());
      file_.statistics.absorbed += fill.page->dirty.add(fill.begin, end);
      shared_.end_filling(lock_, *fill.page);
    }
    shared_.changed.notify_all();
    shared_.start_tasks(lock_);
    return true;
  }

  // Whether staging would only cost another copy: the write puts back what has just been read, as
  // HDF5's sieve buffer of 64 KiB does, on fast storage, and nobody has given memory for it. Only
  // where that goes forward through the file: in another order pages are written again and again.
  bool gains_nothing() {
    const auto [begin, end] = std::exchange(file_.last_view, {});
    if (offset_ != begin || offset_ + bytes_.size() != end || bytes_.size() >= kLarge ||
        bytes_.size() < kPageBytes / 2)
      return false;
    return file_.put_backs.go_forward(offset_, end) && file_.speed >= FileState::kFast &&
           !file_.asked;
  }

  bool write_directly() {
    if (bytes_.size() < kLarge && !staged_here() && shared_.make_room(lock_)) return true;
    return write_around_pages();
  }

  [[nodiscard]] bool staged_here() const { return file_.pages.contains(index()); }

  // What goes into pages of which nothing is staged may go to the file at once.
  bool write_around_pages() {
    std::size_t size = std::min(bytes_.size(), kDirect);
    const auto entry = file_.pages.lower_bound(index());
    if (entry != file_.pages.end()) {
      if (entry->first == index()) return false;
      size = std::min<std::uint64_t>(size, entry->first * kPageBytes - offset_);
    }
    const Blocked blocked(file_);
    file_.reached = std::max(file_.reached, offset_ + size);
    lock_.unlock();
    const std::array pieces{bytes_.first(size)};
    const auto begin = staging::Clock::now();
    file_.storage->write(offset_, pieces);
    const auto time = staging::Clock::now() - begin;
    lock_.lock();
    file_.note_speed(size, time);
    advance(size);
    file_.statistics.direct += size;
    return true;
  }

  Shared& shared_ = Shared::get();
  Lock lock_{shared_.mutex};
  FileState& file_;
  std::uint64_t offset_;
  Bytes bytes_;
  std::shared_ptr<Completion> lender_;
  bool passes_by_ = gains_nothing();
};

// A failed older version takes the newer bytes, and is the newer version from then on.
void merge_failed(Shared& shared, Lock& lock, FileState& file) {
  for (auto& [index, versions] : file.pages) {
    if (versions.older == nullptr || versions.older->state != Page::State::failed) continue;
    Page& page = *std::exchange(versions.older, nullptr);
    Page& newer = *std::exchange(versions.newer, &page);
    newer.dirty.for_each([&](std::uint32_t begin, std::uint32_t end) {
      std::memcpy(page.bytes + begin, newer.bytes + begin, end - begin);
      page.dirty.add(begin, end);
    });
    shared.unlist(lock, newer);
    shared.release(lock, newer);
  }
}

std::uint64_t default_budget() {
  constexpr std::uint64_t kMost = 1U << 30U;
  static const std::uint64_t memory = memory_limit();
  return std::min(memory / 8, kMost);
}

}  // namespace

std::uint64_t staging_memory() {
  Shared& shared = Shared::get();
  const Lock lock(shared.mutex);
  return shared.memory.used() * staging::Memory::kPageCost;
}

std::uint64_t staging_peak() {
  Shared& shared = Shared::get();
  const Lock lock(shared.mutex);
  return shared.memory.most_used() * staging::Memory::kPageCost;
}

StagedFile::StagedFile(std::unique_ptr<io::File> storage, std::uint64_t size,
                       const StagingLimits& limits, Writers writers)
    : storage_(std::move(storage)), state_(std::make_unique<FileState>()), end_(size) {
  state_->storage = storage_.get();
  state_->budget = limits.budget == 0 ? default_budget() : limits.budget;
  state_->asked = limits.budget != 0;
  state_->interval = limits.interval;
  state_->fills_gaps = writers == Writers::alone;
  state_->reached = state_->fills_gaps ? size : FileState::kAnywhere;
  Shared::get().enter(*state_);
}

StagedFile::~StagedFile() { Shared::get().leave(*state_); }

void StagedFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  end_ = std::max(end_, offset + bytes.size());  // first: a part may be staged when the rest fails
  const auto lender = bytes.size() < kLarge ? nullptr : Lending::borrow(bytes);
  if (lender == nullptr)
    Writer(*state_, offset, bytes, nullptr).run();
  else
    write_lent(offset, bytes, lender);
}

void StagedFile::write_at_once(std::uint64_t offset, std::span<const std::byte> bytes) {
  const std::uint64_t begin = (offset + kPageBytes - 1) / kPageBytes * kPageBytes;
  const std::uint64_t end = (offset + bytes.size()) / kPageBytes * kPageBytes;
  if (begin >= end || Lending::are_lent(bytes) || !is_fast()) return write(offset, bytes);
  const std::array pages{bytes.subspan(begin - offset, end - begin)};
  const auto before = staging::Clock::now();
  storage_->write(begin, pages);
  const auto time = staging::Clock::now() - before;
  {
    const Lock lock(Shared::get().mutex);
    end_ = std::max(end_, end);
    state_->reached = std::max(state_->reached, end);
    state_->note_speed(end - begin, time);
    state_->statistics.bytes += end - begin;
    state_->statistics.direct += end - begin;
  }
  if (begin > offset) write(offset, bytes.first(begin - offset));
  if (end < offset + bytes.size()) write(end, bytes.subspan(end - offset));
}

bool StagedFile::is_fast() const {
  const Lock lock(Shared::get().mutex);
  return state_->speed >= FileState::kFast;
}

void StagedFile::write_lent(std::uint64_t offset, std::span<const std::byte> bytes,
                            const std::shared_ptr<Completion>& lender) {
  try {
    Writer(*state_, offset, bytes, lender).run();
  } catch (...) {
    lender->end(std::current_exception());
    throw;
  }
  lender->end(nullptr);
}

void StagedFile::drain() {
  Shared& shared = Shared::get();
  Lock lock(shared.mutex);
  if (!state_->pages.empty()) {
    const Blocked blocked(*state_);
    merge_failed(shared, lock, *state_);
    shared.push_all(lock, *state_);
    shared.settle(lock, *state_);
  }
  if (const auto error = std::exchange(state_->error, std::nullopt)) throw Error(*error);
}

void StagedFile::set_end(std::uint64_t size) {
  Shared& shared = Shared::get();
  Lock lock(shared.mutex);
  end_ = size;
  shared.settle(lock, *state_);
  if (state_->reached != FileState::kAnywhere) state_->reached = size;
  merge_failed(shared, lock, *state_);
  for (auto entry = state_->pages.lower_bound(size / kPageBytes); entry != state_->pages.end();) {
    Page& page = *entry->second.newer;
    const std::uint64_t begin = entry->first * kPageBytes;
    page.dirty.cut(size > begin ? static_cast<std::uint32_t>(size - begin) : 0);
    if (!page.dirty.empty()) {
      ++entry;
      continue;
    }
    entry = state_->pages.erase(entry);
    shared.unlist(lock, page);
    shared.release(lock, page);
  }
}

void StagedFile::note_write(std::uint64_t offset, std::uint64_t size) {
  const Lock lock(Shared::get().mutex);
  end_ = std::max(end_, offset + size);
  state_->reached = std::max(state_->reached, end_);
}

std::uint64_t StagedFile::staged_bytes() const { return progress().staged; }

StagingProgress StagedFile::progress() const {
  const Lock lock(Shared::get().mutex);
  StagingProgress found{state_->statistics.bytes - state_->statistics.absorbed, 0};
  for (const auto& [index, versions] : state_->pages)
    for (const Page* page : {versions.older, versions.newer})
      if (page != nullptr) found.staged += page->dirty.bytes();
  return found;
}

bool StagedFile::any_staged(std::uint64_t offset, std::uint64_t size) const {
  const Lock lock(Shared::get().mutex);
  const auto entry = state_->pages.lower_bound(offset / kPageBytes);
  return entry != state_->pages.end() && entry->first * kPageBytes < offset + size;
}

StagingStatistics StagedFile::statistics() const {
  const Lock lock(Shared::get().mutex);
  return state_->statistics;
}

}  // namespace headrace::engine
