// Pages of staged bytes, and lists of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "engine/staging/dirty.hpp"
#include "engine/threads/lending.hpp"

namespace headrace::engine::staging {

struct FileState;
using Clock = std::chrono::steady_clock;

struct Links {
  Links* before = nullptr;
  Links* after = nullptr;
};

// The bytes of one page of a file. Everything but `bytes` is read and changed under the mutex of
// Shared; who may touch `bytes` without it follows from the state.
struct Page : Links {
  enum class State {
    partial,  // may change more; in the list of such pages
    filling,  // the thread that writes to the file copies into it, without the mutex
    ready,    // in its file's list of pages to write
    waiting,  // to be written when the older version of the page has been
    writing,  // a thread writes it to the file: nothing changes its dirty bytes
    failed,   // its write failed; to be tried again by the next drain
  };

  Page(std::byte* memory, std::uint64_t* bits) : bytes(memory), dirty(bits) {}

  FileState* file = nullptr;
  std::uint64_t index = 0;  // the page's place in the file, in pages
  std::byte* bytes;
  Dirty dirty;
  State state = State::partial;
  bool again = false;    // a version of this page has been staged before
  bool written = false;  // in no table any more: the last reader gives it back
  unsigned readers = 0;
  Clock::time_point since;  // when its first byte was written
  // Of a page whose bytes are the program's own: it has a part in this. Such a page is whole from
  // the begin, is never written to, and is not of the budget.
  std::shared_ptr<Completion> lender;
};

// A doubly linked list; a page is in one list at most.
class PageList {
 public:
  PageList() { head_.before = head_.after = &head_; }
  PageList(const PageList&) = delete;
  PageList& operator=(const PageList&) = delete;
  ~PageList() = default;

  [[nodiscard]] bool empty() const { return head_.after == &head_; }
  [[nodiscard]] Page& front() const { return static_cast<Page&>(*head_.after); }
  void push_back(Page& page) {
    page.before = head_.before;
    page.after = &head_;
    head_.before->after = &page;
    head_.before = &page;
  }
  static void remove(Page& page) {
    page.before->after = page.after;
    page.after->before = page.before;
  }

 private:
  Links head_;
};

}  // namespace headrace::engine::staging
