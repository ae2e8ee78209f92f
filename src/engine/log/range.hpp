// What is looked up in a log, and what a write has to do with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/log/pattern.hpp"

namespace headrace::engine::log {

// Runs of elements of a dataset that ascend.
class Range {
 public:
  // At least one.
  explicit Range(std::span<const Run> runs);

  [[nodiscard]] std::span<const Run> runs() const { return runs_; }
  // How many elements come before a run.
  [[nodiscard]] std::uint64_t before(std::size_t run) const { return before_[run]; }
  [[nodiscard]] std::uint64_t elements() const { return before_.back() + runs_.back().count; }
  [[nodiscard]] std::uint64_t begin() const { return runs_.front().first; }
  [[nodiscard]] std::uint64_t end() const { return runs_.back().first + runs_.back().count; }

  // Whether these are the elements of the pattern that begins at `first`, in the order of its data.
  bool is(const Pattern& pattern, std::uint64_t first);
  // Whether it is plain to see that the pattern has none of them. What many processes write of a
  // field lies between one another; all but one of it is of no use to who reads it like that.
  bool misses(const Pattern& pattern, std::uint64_t first);

 private:
  // What is the same in each of some rows of a dataset.
  struct Rows {
    std::uint64_t stride = 0;  // of elements
    std::uint64_t first = 0;   // the number of the first row
    std::size_t runs = 0;      // in a row; 0 when rows are not the same
  };
  const Rows& rows(std::uint64_t stride);
  [[nodiscard]] Rows find_rows(std::uint64_t stride) const;

  std::span<const Run> runs_;
  std::vector<std::uint64_t> before_;
  Rows rows_;  // by the stride that was asked for last
};

}  // namespace headrace::engine::log
