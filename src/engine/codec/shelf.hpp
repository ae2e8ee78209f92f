// State that a codec's library allocates, reused: it is large.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace headrace::engine {

// Each piece of state is lent to one thread at a time. A shelf is to be leaked: it is used while
// the process exits.
template <typename State, auto free>
class Shelf {
 public:
  struct Free {
    void operator()(State* one) const { free(one); }
  };
  using Owned = std::unique_ptr<State, Free>;

  // Null when none is there.
  Owned take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return nullptr;
    Owned one = std::move(free_.back());
    free_.pop_back();
    return one;
  }
  void give_back(Owned one) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(one));
  }

 private:
  std::mutex mutex_;
  std::vector<Owned> free_;
};

}  // namespace headrace::engine
