// Chunks of files in the order in which they were last used, in each file and in all.
#pragma once

#include <cstdint>
#include <iterator>
#include <list>
#include <map>
#include <utility>

#include "engine/io/file_identity.hpp"

namespace headrace::engine::cache {

// `when_used(value)` is a reference to the moment when the value was last used (Room::now()).
// One thread at a time.
template <typename Value>
class ByAge {
 public:
  using List = std::list<Value>;  // the most recently used first
  struct Place {
    List* list = nullptr;
    List::iterator at;
    [[nodiscard]] Value& value() const { return *at; }
  };

  // Looks for the place from both ends: what comes in was mostly used just now, or is about to go.
  Place insert(const io::FileIdentity& file, Value value) {
    const std::uint64_t used = when_used(value);
    List one;
    one.push_front(std::move(value));
    List& list = files_[file];
    auto front = list.begin();  // what is before it is younger
    auto back = list.end();     // what is from here on is not
    while (front != back && when_used(*front) > used) {
      if (when_used(*std::prev(back)) > used) {
        front = back;
        break;
      }
      --back;
      ++front;
    }
    list.splice(front, one);
    return {&list, std::prev(front)};
  }

  void use(const Place& place, std::uint64_t now) {
    when_used(*place.at) = now;
    place.list->splice(place.list->begin(), *place.list, place.at);
  }

  void erase(const io::FileIdentity& file, const Place& place) {
    place.list->erase(place.at);
    if (place.list->empty()) files_.erase(file);
  }

  // That of a file, or (null) of all; null where there is none.
  Value* oldest(const io::FileIdentity* of) {
    if (of != nullptr) {
      const auto found = files_.find(*of);
      return found == files_.end() ? nullptr : &found->second.back();
    }
    Value* oldest = nullptr;
    for (auto& [file, list] : files_)
      if (oldest == nullptr || when_used(list.back()) < when_used(*oldest)) oldest = &list.back();
    return oldest;
  }

  // Of a file that there is something of.
  const List& of(const io::FileIdentity& file) const { return files_.at(file); }

 private:
  std::map<io::FileIdentity, List> files_;
};

}  // namespace headrace::engine::cache
