#include "engine/staging/shared.hpp"

#include <pthread.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <new>
#include <utility>

#include "engine/staging/run.hpp"
#include "engine/threads/thread_pool.hpp"

namespace headrace::engine::staging {

namespace {
// Now, when no thread makes it while another one forks: the child would wait for it to be made.
[[maybe_unused]] const Shared& made = Shared::get();
}  // namespace

Shared& Shared::get() {
  static auto& shared = *new Shared;
  return shared;
}

Shared::Shared() {
  // After the pool's, so that it runs before them: the pool must not be renewed under our tasks.
  before_fork([] {});
  ::pthread_atfork([] { get().prepare_fork(); }, [] { get().end_fork(false); },
                   [] { get().end_fork(true); });
}

void Shared::enter(FileState& file) {
  Lock lock(mutex);
  files_.push_back(&file);
  set_budget(lock);
}

void Shared::leave(FileState& file) {
  Lock lock(mutex);
  while (file.writing > 0) changed.wait(lock);
  for (const auto& [index, versions] : file.pages)
    for (Page* page : {versions.older, versions.newer})
      if (page != nullptr) {
        unlist(lock, *page);
        release(lock, *page);
      }
  file.pages.clear();
  std::erase(files_, &file);
  set_budget(lock);
  memory.shrink();
}

// One memory serves all files: it is as large as one of them wants it.
void Shared::set_budget(Lock& /*lock*/) {
  const auto largest = std::ranges::max_element(files_, {}, &FileState::budget);
  if (largest != files_.end()) memory.set_budget((*largest)->budget);
}

void FileState::note_speed(std::uint64_t size, std::chrono::nanoseconds time, double runs) {
  if (time.count() <= 0) return;
  // A page is written as quickly as a few bytes: few tell nothing else.
  const auto bytes = static_cast<double>(std::max<std::uint64_t>(size, kPageBytes));
  speed = 0.75 * speed + 0.25 * runs * bytes / static_cast<double>(time.count());
  timed = true;
}

std::uint64_t FileState::most_memory(bool large) const {
  constexpr std::uint64_t kLittle = 16U << 20U;
  if (speed < kFast) return std::numeric_limits<std::uint64_t>::max();
  const bool spares = large && timed && !asked && statistics.bytes < kLittle;
  return spares ? 0 : Memory::kReserve;
}

Page* Shared::take(Lock& lock, FileState& file, std::uint64_t index, bool large) {
  // Before memory runs out, so that tasks make room while the program goes on.
  const std::uint64_t spare = memory.limit() / 4;
  if (memory.used() + spare >= memory.limit() && ready_ + writing_ < spare / 2) {
    push_oldest(lock, std::max<std::uint64_t>(spare / 2, 1));
    urgent_ = true;
    start_tasks(lock);
  }
  const std::uint64_t most = file.most_memory(large);
  if (most == 0 && !memory.warm()) return nullptr;
  const bool again = file.places.add(index);
  Page* page = memory.take(most);
  if (page == nullptr) return nullptr;
  page->file = &file;
  page->index = index;
  page->state = Page::State::filling;
  page->again = again;
  return page;
}

void Shared::release(Lock& /*lock*/, Page& page, const std::exception_ptr& error) {
  page.written = true;
  if (page.lender != nullptr) page.lender->end(error);
  if (page.readers == 0) dispose(page);
}

void Shared::stop_reading(Lock& /*lock*/, Page& page) {
  if (--page.readers == 0 && page.written) dispose(page);
}

void Shared::dispose(Page& page) {
  if (page.lender != nullptr)
    delete &page;
  else
    memory.give_back(page);
}

void Shared::make_ready(Lock& /*lock*/, Page& page) {
  FileState& file = *page.file;
  if (file.pages.find(page.index)->second.older != nullptr) {
    page.state = Page::State::waiting;
    return;
  }
  page.state = Page::State::ready;
  file.ready.push_back(page);
  ++ready_;
  if (page.lender != nullptr) urgent_ = true;  // somebody will wait for it
  arm_timer(file.interval, file.interval);
}

void Shared::put(Lock& lock, Page& page) {
  if (page.dirty.whole() && !page.again)
    make_ready(lock, page);
  else
    keep_partial(lock, page);
}

void Shared::keep_partial(Lock& /*lock*/, Page& page) {
  page.state = Page::State::partial;
  page.since = Clock::now();
  page.file->partial.push_back(page);
  arm_timer(page.file->interval, page.file->interval);
}

void Shared::begin_filling(Lock& lock, Page& page) {
  unlist(lock, page);
  page.state = Page::State::filling;
  ++page.file->filling;
  ++filling_;
}

void Shared::end_filling(Lock& lock, Page& page) {
  --page.file->filling;
  --filling_;
  put(lock, page);
}

void Shared::unlist(Lock& /*lock*/, Page& page) {
  if (page.state == Page::State::ready) --ready_;
  if (page.state == Page::State::ready || page.state == Page::State::partial)
    PageList::remove(page);
}

void Shared::start_tasks(Lock& /*lock*/) {
  constexpr std::size_t kPagesPerTask = 16;
  urgent_ = urgent_ && ready_ > 0;
  const std::size_t worth = (ready_ + (urgent_ ? kPagesPerTask - 1 : 0)) / kPagesPerTask;
  if (worth <= tasks_) return;
  const std::size_t wanted = std::min<std::size_t>(workers(), worth);
  try {
    while (tasks_ < wanted) {
      run_later([this] { run_task(); });
      ++tasks_;
    }
  } catch (const std::exception&) {
    // Without memory for a task: a drain, or whoever needs room, writes the pages itself.
  }
}

void Shared::run_task() {
  Lock lock(mutex);
  --tasks_;
  if (FileState* file = next_file(); file != nullptr) write_run(lock, *file);
  start_tasks(lock);
}

FileState* Shared::next_file() {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    turn_ = (turn_ + 1) % files_.size();
    if (!files_[turn_]->ready.empty()) return files_[turn_];
  }
  return nullptr;
}

// The page that has waited longest, and the ready ones on both sides of it.
Shared::Run Shared::take_run(FileState& file) {
  const auto is_ready = [](const Table::value_type& entry) {
    const Versions& versions = entry.second;
    return versions.newer != nullptr && versions.newer->state == Page::State::ready;
  };
  auto first = file.pages.find(file.ready.front().index);
  for (std::size_t before = 1; before < Run::kMost / 2 && first != file.pages.begin(); ++before) {
    const auto previous = std::prev(first);
    if (previous->first + 1 != first->first || !is_ready(*previous)) break;
    first = previous;
  }
  Run run;
  for (std::uint64_t index = first->first; run.count < Run::kMost && first != file.pages.end() &&
                                           first->first == index && is_ready(*first);
       ++first, ++index) {
    Versions& versions = first->second;
    versions.older = std::exchange(versions.newer, nullptr);
    PageList::remove(*versions.older);
    versions.older->state = Page::State::writing;
    run.pages.at(run.count++) = versions.older;
  }
  file.writing += run.count;
  run.reached = file.reached;
  file.reached = std::max(file.reached, (run.pages.at(run.count - 1)->index + 1) * kPageBytes);
  return run;
}

bool Shared::write_run(Lock& lock, FileState& file) {
  if (file.ready.empty()) return false;
  Run run = take_run(file);
  ready_ -= run.count;
  writing_ += run.count;
  lock.unlock();
  run.write(*file.storage);
  lock.lock();
  end_run(lock, file, run);
  return true;
}

void Shared::end_run(Lock& lock, FileState& file, const Run& run) {
  file.statistics.storage_writes += run.storage_writes;
  file.statistics.storage_bytes += run.storage_bytes;
  file.statistics.storage_time += static_cast<std::uint64_t>(run.time.count());
  // Files take their turns, but several runs of one may share the storage's speed.
  const double runs = static_cast<double>(file.writing) / static_cast<double>(run.count);
  file.note_speed(run.storage_bytes, run.time, runs);
  for (Page* page : run.all()) end_page(lock, file, *page, run.error);
  file.writing -= run.count;
  writing_ -= run.count;
  if (urgent_) start_tasks(lock);
  changed.notify_all();
}

void Shared::end_page(Lock& lock, FileState& file, Page& page, const std::optional<Error>& error) {
  const auto entry = file.pages.find(page.index);
  Versions& versions = entry->second;
  // Whoever lent the bytes is told, and may have them back: they are not tried again.
  const bool lent = page.lender != nullptr;
  if (error && !lent) {
    if (!file.error) file.error = error;
    page.state = Page::State::failed;
    if (versions.newer == nullptr) std::swap(versions.older, versions.newer);
    return;
  }
  versions.older = nullptr;
  if (versions.newer == nullptr)
    file.pages.erase(entry);
  else if (versions.newer->state == Page::State::waiting)
    make_ready(lock, *versions.newer);
  release(lock, page, error ? std::make_exception_ptr(*error) : nullptr);
}

bool Shared::make_room(Lock& lock) {
  if (FileState* file = next_file(); file != nullptr) return write_run(lock, *file);
  if (writing_ > 0 || filling_ > 0) {
    changed.wait(lock);
    return true;
  }
  if (file_with_oldest() == nullptr) return false;
  push_oldest(lock, std::max<std::uint64_t>(memory.limit() / 8, 1));
  return true;
}

// Null when no file has a partial page.
FileState* Shared::file_with_oldest() {
  FileState* oldest = nullptr;
  for (FileState* file : files_)
    if (!file->partial.empty() &&
        (oldest == nullptr || file->partial.front().since < oldest->partial.front().since))
      oldest = file;
  return oldest;
}

void Shared::push_first(Lock& lock, FileState& file) {
  Page& page = file.partial.front();
  PageList::remove(page);
  make_ready(lock, page);
}

void Shared::push_oldest(Lock& lock, std::uint64_t pages) {
  for (; pages > 0; --pages) {
    FileState* file = file_with_oldest();
    if (file == nullptr) return;
    push_first(lock, *file);
  }
}

void Shared::push_all(Lock& lock, FileState& file) {
  for (auto& [index, versions] : file.pages) {
    Page* page = versions.newer;
    if (page == nullptr) continue;
    if (page->state == Page::State::partial) PageList::remove(*page);
    if (page->state == Page::State::partial || page->state == Page::State::failed)
      make_ready(lock, *page);
  }
}

void Shared::settle(Lock& lock, FileState& file) {
  const WaitForTasks waiting;
  start_tasks(lock);
  while (!file.ready.empty() || file.writing > 0 || file.filling > 0)
    if (!write_run(lock, file)) changed.wait(lock);
}

void Shared::arm_timer(std::chrono::nanoseconds interval, std::chrono::nanoseconds delay) {
  if (interval.count() == 0 || timers_.contains(interval)) return;
  try {
    run_after(delay, [this, interval] { push_old(interval); });
    timers_.insert(interval);
  } catch (const std::exception&) {
    // Without memory for a task: the pages are written by the next drain.
  }
}

void Shared::push_old(std::chrono::nanoseconds interval) {
  if (forker_.load() == std::this_thread::get_id()) {
    timers_.erase(interval);  // nothing is staged
    return;
  }
  Lock lock(mutex);
  const Clock::time_point now = Clock::now();
  Clock::time_point next = Clock::time_point::max();
  for (FileState* file : files_) {
    if (file->interval != interval) continue;
    while (!file->partial.empty() && file->partial.front().since + interval <= now)
      push_first(lock, *file);
    if (!file->partial.empty()) next = std::min(next, file->partial.front().since + interval);
  }
  urgent_ = true;
  start_tasks(lock);
  timers_.erase(interval);
  if (next != Clock::time_point::max()) arm_timer(interval, next - now);
}

void Shared::prepare_fork() {
  Lock lock(mutex);
  forking_ = true;
  for (FileState* file : files_) {
    push_all(lock, *file);
    settle(lock, *file);
  }
  // No worker may wait for the mutex meanwhile: others, who settle after us, may need it.
  while (tasks_ > 0) {
    lock.unlock();
    run_one();
    lock.lock();
  }
  forker_ = std::this_thread::get_id();
  lock.release();  // by end_fork()
}

// What could not be written before the fork is the parent's to write and to tell of.
void Shared::end_fork(bool child) {
  for (FileState* file : files_)
    file->reached = FileState::kAnywhere;  // two processes may extend it now
  forking_ = false;
  forker_ = std::thread::id();
  if (child) {
    new (&changed) std::condition_variable;  // the threads that waited for it are not here
    tasks_ = 0;
    timers_.clear();
    Lock lock(mutex, std::adopt_lock);
    for (FileState* file : files_) {
      file->error.reset();
      for (const auto& [index, versions] : file->pages)
        for (Page* page : {versions.older, versions.newer})
          if (page != nullptr) {
            unlist(lock, *page);
            release(lock, *page);
          }
      file->pages.clear();
    }
    return;
  }
  changed.notify_all();
  mutex.unlock();
}

}  // namespace headrace::engine::staging
