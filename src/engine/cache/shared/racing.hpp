// Reads of memory that another process may change meanwhile, and that count only if it has not.
#pragma once

#include <atomic>

#if defined(__SANITIZE_THREAD__)
extern "C" void AnnotateIgnoreReadsBegin(const char* file, int line);
extern "C" void AnnotateIgnoreReadsEnd(const char* file, int line);
#endif

namespace headrace::engine::cache {

// What is read while it lives is no data race for the thread sanitizer, which knows no reads that
// are repeated where they fail.
class RacingReads {
 public:
#if defined(__SANITIZE_THREAD__)
  RacingReads() { AnnotateIgnoreReadsBegin(__FILE__, __LINE__); }
  ~RacingReads() { AnnotateIgnoreReadsEnd(__FILE__, __LINE__); }
#else
  RacingReads() = default;
  ~RacingReads() = default;
#endif
  RacingReads(const RacingReads&) = delete;
  RacingReads& operator=(const RacingReads&) = delete;
};

// The sanitizer follows no fences.
inline void fence([[maybe_unused]] std::memory_order order) {
#if !defined(__SANITIZE_THREAD__)
  std::atomic_thread_fence(order);
#endif
}

}  // namespace headrace::engine::cache
