// Rows that are alike but for their times and sizes, as one: of the level `profile`.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "layers/trace/recorder/tables.hpp"

namespace headrace::trace {

using Key = std::array<std::uint64_t, 5>;

constexpr std::uint64_t both(std::uint32_t high, std::uint32_t low) {
  return std::uint64_t{high} << 32U | low;
}
constexpr std::uint32_t flags(bool first, bool second, bool third = false) {
  return (first ? 1U : 0U) | (second ? 2U : 0U) | (third ? 4U : 0U);
}

// What calls have in common that are summed up; the same of requests.
inline Key key_of(const Call& call) {
  return {both(call.object, call.name),
          both(call.callback, static_cast<std::uint32_t>(call.operation)),
          both(call.line, call.type),
          both(call.thread, flags(call.failed, call.collective, call.event_set)),
          both(call.io_mode, call.no_collective_cause)};
}
inline Key key_of(const Request& request) {
  return {request.call, both(request.kind, request.type), both(request.file, request.thread),
          flags(request.collective, request.failed), 0};
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

// Adds rows to those in a vector. One thread at a time. A table of places in that vector, which is
// emptied often: a map would allocate for each row.
template <typename Row>
class Sums {
 public:
  // The row of `rows` that `row` was added to: the last one, if it is like none before it.
  Row& add(std::vector<Row>& rows, const Row& row) {
    const Key key = key_of(row);
    if (places_.empty()) places_.resize(kPlaces);
    for (std::size_t at = hash_of(key); rows.size() < kPlaces / 2; ++at) {
      std::uint32_t& place = places_[at % kPlaces];
      if (place == 0) {
        place = static_cast<std::uint32_t>(rows.size() + 1);
        break;
      }
      if (Row& known = rows[place - 1]; key_of(known) == key) {
        add_up(known, row);
        return known;
      }
    }
    rows.push_back(row);
    return rows.back();
  }
  // The rows that follow go to an empty vector.
  void clear() { std::ranges::fill(places_, 0); }

 private:
  static constexpr std::size_t kPlaces = 1U << 15U;

  static std::size_t hash_of(const Key& key) {
    std::size_t hash = 0;
    for (const std::uint64_t part : key) hash = (hash ^ part) * 0x9e3779b97f4a7c15U;
    return hash ^ hash >> 32U;
  }

  std::vector<std::uint32_t> places_;  // from 1; 0: none
};

}  // namespace headrace::trace
