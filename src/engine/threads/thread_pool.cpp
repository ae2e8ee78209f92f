#include "engine/threads/thread_pool.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/process/blocked_signals.hpp"

namespace headrace::engine {

struct Pool {
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable idle;  // no worker is at a task
  std::deque<std::function<void()>> tasks;
  std::multimap<std::chrono::steady_clock::time_point, std::function<void()>> later;
  unsigned wanted = available_cores();  // to work at a time
  std::multiset<unsigned> wishes;
  unsigned started = 0;
  unsigned busy = 0;     // workers at a task
  unsigned paused = 0;   // calls of pause_workers() that were not undone
  unsigned waiting = 0;  // threads in a WaitForTasks
  unsigned blocked = 0;  // threads in a ProgramWaits
  WorkerTimes times;
  std::chrono::steady_clock::time_point counted = std::chrono::steady_clock::now();

  [[nodiscard]] bool may_run() const { return (paused == 0 || waiting > 0) && busy < wanted; }

  // To be called with the mutex held before `busy` or `blocked` changes.
  void count_time() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::nanoseconds passed = now - std::exchange(counted, now);
    times.working += busy * passed;
    (blocked == 0 ? times.beside : times.waited) += (blocked == 0 ? busy : 1) * passed;
  }
};

namespace {

struct ForkHooks {
  std::mutex mutex;
  std::vector<std::function<void()>> settle;
};

ForkHooks& hooks() {
  static auto& hooks = *new ForkHooks;
  return hooks;
}

// Leaked, as are its threads: tasks come while the process exits, after its statics are gone. A
// child gets a new one, because the threads that its locks might wait for are not there.
Pool*& pool_slot();

void prepare() {
  {
    const std::lock_guard lock(hooks().mutex);
    for (const auto& settle : hooks().settle) settle();
  }
  pool_slot()->mutex.lock();  // what the child copies must be whole
}

void go_on() { pool_slot()->mutex.unlock(); }

void renew() {
  Pool& before = *pool_slot();
  auto* const pool = new Pool;
  pool->wanted = before.wanted;
  pool->wishes = before.wishes;
  pool->paused = before.paused;
  pool_slot() = pool;
  before.mutex.unlock();  // of no use but to the thread sanitizer, which would see it held for ever
}

Pool*& pool_slot() {
  static Pool* pool = [] {
    ::pthread_atfork(&prepare, &go_on, &renew);
    return new Pool;
  }();
  return pool;
}

void wait_for_task(Pool& pool, std::unique_lock<std::mutex>& lock) {
  while (!pool.may_run() || pool.tasks.empty()) {
    if (!pool.may_run() || pool.later.empty()) {
      pool.wake.wait(lock);
      continue;
    }
    const auto next = pool.later.begin();
    if (const auto due = next->first; due > std::chrono::steady_clock::now()) {
      pool.wake.wait_until(lock, due);
      continue;
    }
    pool.tasks.push_back(std::move(next->second));
    pool.later.erase(next);
  }
}

[[noreturn]] void work(Pool& pool) {
  std::unique_lock lock(pool.mutex);
  while (true) {
    wait_for_task(pool, lock);
    {
      const std::function<void()> task = std::move(pool.tasks.front());
      pool.tasks.pop_front();
      pool.count_time();
      ++pool.busy;
      lock.unlock();
      task();
    }
    lock.lock();
    pool.count_time();
    if (--pool.busy == 0) pool.idle.notify_all();
  }
}

void start_worker(Pool& pool) {
  const BlockedSignals for_the_program;
  try {
    std::thread worker(&work, std::ref(pool));
    ::pthread_setname_np(worker.native_handle(), "headrace-worker");  // in top -H and debuggers
    worker.detach();
    ++pool.started;
  } catch (const std::system_error&) {
    // With fewer threads, or none: whoever waits for a task runs it by run_one().
  }
}

}  // namespace

unsigned available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0)
    return static_cast<unsigned>(std::max(CPU_COUNT(&set), 1));
  return std::max(std::thread::hardware_concurrency(), 1U);
}

WantedThreads::WantedThreads(unsigned workers)
    : workers_(workers == 0 ? available_cores() : workers) {
  Pool& pool = *pool_slot();
  const std::lock_guard lock(pool.mutex);
  pool.wishes.insert(workers_);
  const unsigned before = std::exchange(pool.wanted, *pool.wishes.rbegin());
  if (pool.wanted > before) pool.wake.notify_all();
}

WantedThreads::~WantedThreads() {
  Pool& pool = *pool_slot();
  const std::lock_guard lock(pool.mutex);
  pool.wishes.erase(pool.wishes.find(workers_));
  if (!pool.wishes.empty()) pool.wanted = *pool.wishes.rbegin();
}

unsigned workers() {
  Pool& pool = *pool_slot();
  const std::lock_guard lock(pool.mutex);
  return pool.wanted;
}

unsigned started_workers() {
  Pool& pool = *pool_slot();
  const std::lock_guard lock(pool.mutex);
  return pool.started;
}

void run_later(std::function<void()> task) {
  Pool& pool = *pool_slot();
  const std::lock_guard lock(pool.mutex);
  pool.tasks.push_back(std::move(task));
  if (pool.started < pool.wanted) start_worker(pool);
  pool.wake.notify_one();
}

void run_after(std::chrono::nanoseconds delay, std::function<void()> task) {
  Pool& pool = *pool_slot();
  const std::lock_guard lock(pool.mutex);
  pool.later.emplace(std::chrono::steady_clock::now() + delay, std::move(task));
  if (pool.started == 0) start_worker(pool);
  pool.wake.notify_one();
}

bool run_one() {
  Pool& pool = *pool_slot();
  std::function<void()> task;
  {
    const std::lock_guard lock(pool.mutex);
    if (pool.tasks.empty()) return false;
    task = std::move(pool.tasks.front());
    pool.tasks.pop_front();
  }
  task();
  return true;
}

void pause_workers() {
  Pool& pool = *pool_slot();
  std::unique_lock lock(pool.mutex);
  ++pool.paused;
  pool.idle.wait(lock, [&] { return pool.busy == 0 || pool.waiting > 0; });
}

void resume_workers() {
  Pool& pool = *pool_slot();
  const std::lock_guard lock(pool.mutex);
  --pool.paused;
  pool.wake.notify_all();
}

WorkerTimes take_worker_times() {
  Pool& pool = *pool_slot();
  const std::lock_guard lock(pool.mutex);
  pool.count_time();
  return std::exchange(pool.times, {});
}

ProgramWaits::ProgramWaits() : pool_(*pool_slot()) {
  const std::lock_guard lock(pool_.mutex);
  pool_.count_time();
  ++pool_.blocked;
}

ProgramWaits::~ProgramWaits() {
  const std::lock_guard lock(pool_.mutex);
  pool_.count_time();
  --pool_.blocked;
}

WaitForTasks::WaitForTasks() {
  const std::lock_guard lock(pool_.mutex);
  ++pool_.waiting;
  if (pool_.paused == 0) return;
  pool_.wake.notify_all();
  pool_.idle.notify_all();
}

WaitForTasks::~WaitForTasks() {
  const std::lock_guard lock(pool_.mutex);
  --pool_.waiting;
}

void before_fork(std::function<void()> settle) {
  pool_slot();
  const std::lock_guard lock(hooks().mutex);
  hooks().settle.push_back(std::move(settle));
}

}  // namespace headrace::engine
