// Rows that are alike but for their times and sizes, as one: of the level `profile`.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/tables.hpp"

namespace headrace::trace {

using CallKey = std::array<std::uint32_t, 12>;
using RequestKey = std::array<std::uint32_t, 8>;

// What calls have in common that are summed up; the same of requests.
inline CallKey key_of(const Call& call) {
  return {call.callback, static_cast<std::uint32_t>(call.operation),
          call.object,   call.name,
          call.failed,   call.thread,
          call.type,     call.collective,
          call.io_mode,  call.no_collective_cause,
          call.line,     call.event_set};
}
inline RequestKey key_of(const Request& request) {
  return {static_cast<std::uint32_t>(request.call),
          static_cast<std::uint32_t>(request.call >> 32U),
          request.kind,
          request.file,
          request.type,
          request.thread,
          request.collective,
          request.failed};
}

inline void add_up(Call& sum, const Call& call) {
  sum.duration += call.duration;
  sum.bytes += call.bytes;
  sum.count += call.count;
}
inline void add_up(Request& sum, const Request& request) {
  sum.duration += request.duration;
  sum.length += request.length;
  sum.span += request.span;
  sum.count += request.count;
}

// Adds rows to those in a vector. One thread at a time.
template <typename Row>
class Sums {
 public:
  // The row of `rows` that `row` was added to: the last one, if it is like none before it.
  Row& add(std::vector<Row>& rows, const Row& row) {
    const auto [known, is_new] = places_.try_emplace(key_of(row), rows.size());
    if (is_new)
      rows.push_back(row);
    else
      add_up(rows[known->second], row);
    return rows[known->second];
  }
  // The rows that follow go to an empty vector.
  void clear() { places_.clear(); }

 private:
  using Key = decltype(key_of(Row{}));
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return std::hash<std::string_view>{}(
          {reinterpret_cast<const char*>(key.data()), sizeof(Key)});
    }
  };

  std::unordered_map<Key, std::size_t, Hash> places_;
};

}  // namespace headrace::trace
