// Worker threads. They never call HDF5.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

namespace headrace::engine {

struct Pool;

// The cores that this process may run on.
unsigned available_cores();

// Runs a task on a worker thread, in the order given as workers become free. Tasks throw nothing.
// May be called from any thread, from tasks too. The threads are started by tasks, as many as work
// at a time.
//
// In a child after fork() there are no threads and no tasks: whoever has given a task must have
// waited for it before the fork (see before_fork()). The child starts threads of its own.
void run_later(std::function<void()> task);

// The same, not before `delay` has passed, and only while there are threads. A fork does not wait
// for it: the child has no such task.
void run_after(std::chrono::nanoseconds delay, std::function<void()> task);

// How many threads an open file wants to work at a time; 0 means one for each available core. While
// several files are open the largest number holds, and after the last one that one's. Threads
// beyond it end what they are at.
class WantedThreads {
 public:
  explicit WantedThreads(unsigned workers);
  WantedThreads(const WantedThreads&) = delete;
  WantedThreads& operator=(const WantedThreads&) = delete;
  ~WantedThreads();

 private:
  unsigned workers_;
};

// How many work at a time, if there is so much to do.
unsigned workers();
// How many threads there are: none before the first task, fewer where the system refused some.
unsigned started_workers();

// Takes one waiting task and runs it on the calling thread, so that a thread that must wait helps
// instead. Returns false when none waits.
bool run_one();

// From here on workers begin no tasks, but while a thread is in a WaitForTasks. Returns when those
// that had begun are done; not to be called from a task, nor with a mutex held that one may need.
// Nests: the workers go on after as many calls of resume_workers(). A child after fork() is paused
// as its parent was.
void pause_workers();
void resume_workers();

// What the workers' time went to.
struct WorkerTimes {
  std::chrono::nanoseconds working{};  // at tasks, added up over workers
  std::chrono::nanoseconds beside{};   // of these, while no thread was in a ProgramWaits
  std::chrono::nanoseconds waited{};   // while one was
};
// Of this process since the last call.
WorkerTimes take_worker_times();

// Around a stretch in which the program is kept waiting by what it has left to us.
class ProgramWaits {
 public:
  ProgramWaits();
  ProgramWaits(const ProgramWaits&) = delete;
  ProgramWaits& operator=(const ProgramWaits&) = delete;
  ~ProgramWaits();

 protected:
  Pool& pool_;
};

// Around a stretch in which the calling thread can do nothing before tasks are done: workers begin
// tasks even if they are paused, or a thread would wait for ever.
class WaitForTasks : ProgramWaits {
 public:
  WaitForTasks();
  WaitForTasks(const WaitForTasks&) = delete;
  WaitForTasks& operator=(const WaitForTasks&) = delete;
  ~WaitForTasks();
};

// Registers a function that is called before each fork() of the process, on the forking thread:
// it must return with no task of its owner waiting or running. Never unregistered.
void before_fork(std::function<void()> settle);

}  // namespace headrace::engine
