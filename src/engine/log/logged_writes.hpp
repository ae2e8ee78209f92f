// All that logs hold of a dataset, the later writes on top of the earlier ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/log/range.hpp"
#include "engine/log/reader.hpp"

namespace headrace::engine::log {

// Which elements of a range a log has something for.
class Covered {
 public:
  explicit Covered(std::uint64_t elements)
      : words_((elements + kBits - 1) / kBits), elements_(elements) {}
  void add(std::uint64_t begin, std::uint64_t end);
  [[nodiscard]] bool none() const { return count_ == 0; }
  [[nodiscard]] bool all() const { return count_ == elements_; }

 private:
  static constexpr std::uint64_t kBits = 64;
  std::vector<std::uint64_t> words_;
  std::uint64_t elements_;
  std::uint64_t count_ = 0;
};

class LoggedWrites {
 public:
  // The writes of the dataset at place `dataset` of a log. Those of later logs come after those of
  // earlier ones of the same epoch; none before epoch `begin`, or of epoch `end` or later. The
  // reader must outlive this. A few more cost little.
  void add(const Reader& reader, std::uint32_t dataset, std::uint64_t end = ~std::uint64_t{0},
           std::uint64_t begin = 0);

  [[nodiscard]] bool empty() const { return writes_.empty(); }
  [[nodiscard]] std::size_t size() const { return writes_.size(); }
  // Behind the last element that there is anything of.
  [[nodiscard]] std::uint64_t end() const;

  // Copies what there is of the elements of some runs over `bytes`, which holds them one after the
  // other, and marks them in `covered`, where the first of them is number `place`. Throws Error
  // when a log cannot be read.
  void apply(std::span<const Run> runs, std::span<std::byte> bytes, Covered& covered,
             std::uint64_t place = 0) const;
  // The first element from `begin` on that there is something of, or any such one before `enough`;
  // ~0 when there is none.
  [[nodiscard]] std::uint64_t next(std::uint64_t begin, std::uint64_t enough) const;

 private:
  struct Write {
    const Reader* reader;
    const Pattern* pattern;
    std::uint64_t first;
    std::uint64_t position;
    std::uint64_t epoch;
    std::uint64_t number;  // in the order in which later ones win

    [[nodiscard]] std::uint64_t end() const { return first + pattern->extent(); }
  };
  // Calls visit(write) for those that may hold elements of the range, until it returns false.
  template <typename Visit>
  void visit_within(std::uint64_t begin, std::uint64_t end, const Visit& visit) const;
  // Those, the earliest first.
  [[nodiscard]] std::vector<const Write*> within(std::uint64_t begin, std::uint64_t end) const;
  [[nodiscard]] std::span<const Write> sorted() const {
    return std::span(writes_).first(reaches_.size());
  }
  [[nodiscard]] std::span<const Write> unsorted() const {
    return std::span(writes_).subspan(reaches_.size());
  }
  void sort();
  void apply_ascending(std::span<const Run> runs, std::span<std::byte> bytes, Covered& covered,
                       std::uint64_t place) const;
  template <typename Visit>
  static void match(const Write& write, const Range& range, const Visit& visit);
  void copy(const Write& write, const Range& range, std::span<std::byte> bytes, Covered& covered,
            std::uint64_t place) const;

  std::size_t element_ = 1;
  std::vector<Write> writes_;           // by their first element, but for a few at the end
  std::vector<std::uint64_t> reaches_;  // of those in order: the end of the writes up to each
};

}  // namespace headrace::engine::log
