#include "engine/reading/blocks.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>

#include "engine/threads/thread_pool.hpp"

namespace headrace::engine::reading {

namespace {
// Now, when no thread makes it while another one forks: the child would wait for it to be made.
[[maybe_unused]] const Blocks& made = Blocks::get();
}  // namespace

Blocks& Blocks::get() {
  static auto& blocks = *new Blocks;
  return blocks;
}

Blocks::Blocks() {
  // After the pool's, so that it runs before them: the pool must not be renewed under our tasks.
  before_fork([] {});
  ::pthread_atfork([] { get().prepare_fork(); }, [] { get().end_fork(false); },
                   [] { get().end_fork(true); });
}

BlockRef Blocks::add(FileReads& file, std::uint64_t stream, std::uint64_t begin,
                     std::uint64_t size) {
  auto block = std::make_shared<Block>(&file, stream, begin, size);
  Lock lock(mutex_);
  if (!make_room(lock, file, size)) return nullptr;
  block->since = Clock::now();
  block->place = all_.insert(all_.end(), block);
  used_ += size;
  file.used += size;
  ++queued_;
  start_tasks(lock);
  return block;
}

void Blocks::enter(FileReads& file) {
  const Lock lock(mutex_);
  limits_.insert(file.limit);
}

bool Blocks::fits(const FileReads& file, std::uint64_t size) const {
  return file.used + size <= file.limit && used_ + size <= *limits_.rbegin();
}

// Another file's reader may have gone elsewhere for good, and say so only when it closes it.
bool Blocks::make_room(Lock& lock, const FileReads& file, std::uint64_t size) {
  constexpr std::chrono::seconds kOld{2};
  const Clock::time_point now = Clock::now();
  for (auto place = all_.begin(); !fits(file, size) && place != all_.end();) {
    Block& oldest = **place++;
    if (now - oldest.since < kOld) break;
    const bool helps = oldest.file == &file || file.used + size <= file.limit;
    if (helps && !oldest.pinned && oldest.state != Block::State::reading) release(lock, oldest);
  }
  return fits(file, size);
}

bool Blocks::pin(Block& block) {
  Lock lock(mutex_);
  if (block.state == Block::State::queued) {
    --queued_;
    read(lock, block);
  }
  changed_.wait(lock, [&] { return block.state != Block::State::reading; });
  block.pinned = block.state == Block::State::ready;
  return block.pinned;
}

void Blocks::unpin(Block& block) {
  const Lock lock(mutex_);
  block.pinned = false;
}

bool Blocks::change(Block& block, std::uint64_t within, std::span<const std::byte> bytes) {
  const Lock lock(mutex_);
  if (block.state != Block::State::ready) return false;
  std::memcpy(block.bytes.data() + within, bytes.data(), bytes.size());
  return true;
}

void Blocks::drop(Block& block) {
  Lock lock(mutex_);
  block.dropped = block.state == Block::State::reading;
  if (block.state == Block::State::queued || block.state == Block::State::ready)
    release(lock, block);
}

void Blocks::leave(FileReads& file) {
  Lock lock(mutex_);
  changed_.wait(lock, [&] { return file.reading == 0; });
  limits_.erase(limits_.find(file.limit));
}

// `block` may be gone afterwards, unless the caller has a reference.
void Blocks::release(Lock& /*lock*/, Block& block) {
  if (block.state == Block::State::queued) --queued_;
  block.state = Block::State::lost;
  used_ -= block.size;
  block.file->used -= block.size;
  block.bytes = Buffer();
  all_.erase(block.place);
}

void Blocks::read(Lock& lock, Block& block) {
  block.state = Block::State::reading;
  FileReads& file = *block.file;
  ++file.reading;
  ++reading_;
  lock.unlock();
  bool good = false;
  try {
    block.bytes = Buffer(block.size);
    const Clock::time_point begin = Clock::now();
    file.storage->read(block.begin, block.bytes.bytes());
    block.time = Clock::now() - begin;
    good = true;
  } catch (const std::exception&) {
    // The program reads it again, by HDF5's driver, and is told of an error there.
  }
  lock.lock();
  block.state = Block::State::ready;
  if (!good || block.dropped) release(lock, block);
  --file.reading;
  --reading_;
  changed_.notify_all();
}

void Blocks::start_tasks(Lock& /*lock*/) {
  // A worker that waits for storage codes no chunk meanwhile.
  const unsigned most = std::max(workers(), 2U) - 1;
  try {
    while (!forking_ && tasks_ < most && tasks_ < queued_) {
      run_later([this] { run_task(); });
      ++tasks_;
    }
  } catch (const std::exception&) {
    // Without memory for a task: whoever wants the block reads it.
  }
}

void Blocks::run_task() {
  Lock lock(mutex_);
  if (const BlockRef block = forking_ ? nullptr : next_queued(); block != nullptr) {
    --queued_;
    read(lock, *block);
  }
  --tasks_;
  start_tasks(lock);
  changed_.notify_all();
}

BlockRef Blocks::next_queued() {
  const auto found = std::ranges::find_if(
      all_, [](const BlockRef& block) { return block->state == Block::State::queued; });
  return found == all_.end() ? nullptr : *found;
}

void Blocks::prepare_fork() {
  // Looks again now and then: workers that are to run a task may wait for the forking thread.
  constexpr std::chrono::milliseconds kPatience{5};
  Lock lock(mutex_);
  forking_ = true;
  const auto settled = [this] { return tasks_ == 0 && reading_ == 0; };
  while (!settled()) {
    lock.unlock();
    const bool helped = run_one();
    lock.lock();
    if (!helped) changed_.wait_for(lock, kPatience, settled);
  }
  lock.release();  // by end_fork()
}

void Blocks::end_fork(bool child) {
  if (child) new (&changed_) std::condition_variable;  // who waited for it is not here
  Lock lock(mutex_, std::adopt_lock);
  forking_ = false;
  if (!child) start_tasks(lock);
}

}  // namespace headrace::engine::reading
