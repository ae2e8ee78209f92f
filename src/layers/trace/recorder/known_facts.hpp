// Facts that are told once, by a key that stands for them. The application's threads, one at a
// time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "layers/trace/recorder/recorder.hpp"

namespace headrace::trace {

// Forgets all when the keys take more memory than `most` bytes: what is told again has another id.
template <std::size_t most>
class KnownFacts {
 public:
  // The id of the fact with that key. `tell(id)` makes the fact of one that is new.
  template <typename Tell>
  std::uint32_t id_of(std::string_view key, Tell tell) {
    if (const auto found = ids_.find(key); found != ids_.end()) return found->second;
    constexpr std::size_t kNode = 96;  // bytes that an entry takes beside its key
    if (bytes_ > most) clear();
    bytes_ += key.size() + kNode;
    const std::uint32_t id = Recorder::get().next_id();
    ids_.emplace(key, id);
    Recorder::get().add_fact(tell(id));
    return id;
  }

  void clear() {
    ids_.clear();
    bytes_ = 0;
  }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> ids_;
  std::size_t bytes_ = 0;
};

}  // namespace headrace::trace
