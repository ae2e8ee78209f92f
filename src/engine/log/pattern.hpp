// Which elements of a dataset one write selects, told in few bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/runs.hpp"

namespace headrace::engine {

// A list of runs, again and again: `count` times, `stride` elements apart.
struct Repeat {
  std::uint64_t count = 1;
  std::uint64_t stride = 0;
};

// A pattern as an index has it: numbers one after the other, of each sort apart, so that those of
// many patterns can be told together.
struct PatternColumns {
  std::string head;   // the repeats, and how many runs there are
  std::string gap;    // of runs that are alike: from the end of the run before
  std::string count;  // how many elements they have
  std::string times;  // how many they are
  void clear();
};
// Where those of the next pattern begin.
struct PatternCursors {
  std::string_view& head;
  std::string_view& gap;
  std::string_view& count;
  std::string_view& times;
};

// The runs of a write relative to the first element that it reaches, in the order of its data:
// those of the list for each repetition, the outermost repeat slowest. Nothing changes once made.
class Pattern {
 public:
  // Of at least one run, each of at least one element, of a dataset. `strides`: elements between
  // neighbours in each of its dimensions but the last, slowest first; they only make the pattern
  // smaller.
  Pattern(std::vector<Run> runs, std::span<const std::uint64_t> strides);

  // The inverse of encode(); takes its bytes off the front of the columns. Throws Error for
  // whatever encode() cannot have made, and for more than `most` elements.
  static Pattern decode(const PatternCursors& from, std::uint64_t unit, std::uint64_t most);
  // Appends it, told in `unit`, of which it is_multiple_of(). Equal for equal patterns made from
  // equal strides; what is equal in its unit may be another pattern in another one.
  void encode(std::uint64_t unit, PatternColumns& to) const;
  [[nodiscard]] bool is_multiple_of(std::uint64_t unit) const;

  // How many elements there are, and from the first to behind the last.
  [[nodiscard]] std::uint64_t elements() const { return elements_; }
  [[nodiscard]] std::uint64_t extent() const { return extent_; }
  // The list, whether it is in the order of the elements, and what repeats it, the outermost first.
  [[nodiscard]] std::span<const Run> runs() const { return runs_; }
  [[nodiscard]] bool ascends() const { return ascending_; }
  [[nodiscard]] std::span<const Repeat> repeats() const { return repeats_; }
  // The memory that it takes, in bytes.
  [[nodiscard]] std::uint64_t memory() const {
    const std::uint64_t found = ascending_ ? 0 : 2 * sizeof(std::uint64_t);
    return sizeof *this + runs_.size() * (sizeof(Run) + sizeof(std::uint64_t) + found) +
           repeats_.size() * (sizeof(Repeat) + sizeof(Extent));
  }

  // Calls visit(Run, position) for what lies within [begin, end), in the order of the data,
  // clipped; `position` is that of the run's first element among all elements of the write.
  template <typename Visit>
  void within(std::uint64_t begin, std::uint64_t end, const Visit& visit) const {
    descend(0, 0, 0, begin, end, visit);
  }

  // The first element from `begin` on; ~0 when there is none.
  [[nodiscard]] std::uint64_t next(std::uint64_t begin) const { return next(0, 0, begin); }

 private:
  Pattern() = default;
  [[nodiscard]] std::uint64_t next(std::size_t level, std::uint64_t offset,
                                   std::uint64_t begin) const;
  [[nodiscard]] std::uint64_t next_in_list(std::uint64_t begin) const;
  // The first repetition that reaches `begin`.
  [[nodiscard]] std::uint64_t first_of(std::size_t level, std::uint64_t offset,
                                       std::uint64_t begin) const {
    const std::uint64_t end = offset + inner_[level].extent;  // of the first of all
    return begin > end ? (begin - end) / repeats_[level].stride : 0;
  }
  void fold(std::span<const std::uint64_t> strides);
  // Fills what follows from the runs and repeats; throws Error when it does not fit in 64 bits.
  void measure();
  // Makes those findable that do not ascend; without it all of them are looked at.
  void sort();
  // Those that reach into a range, in the order of the data.
  [[nodiscard]] std::vector<std::size_t> find(std::uint64_t begin, std::uint64_t end) const;
  // Runs from this one on reach `begin`, where they ascend.
  [[nodiscard]] std::size_t first_reaching(std::uint64_t begin) const;

  template <typename Visit>
  void descend(std::size_t level, std::uint64_t offset, std::uint64_t position, std::uint64_t begin,
               std::uint64_t end, const Visit& visit) const {
    if (level == repeats_.size()) {
      leaf(offset, position, begin, end, visit);
      return;
    }
    const Repeat& repeat = repeats_[level];
    const Extent& inner = inner_[level];
    for (std::uint64_t k = first_of(level, offset, begin);
         k < repeat.count && offset + k * repeat.stride < end; ++k)
      descend(level + 1, offset + k * repeat.stride, position + k * inner.elements, begin, end,
              visit);
  }

  template <typename Visit>
  void leaf(std::uint64_t offset, std::uint64_t position, std::uint64_t begin, std::uint64_t end,
            const Visit& visit) const {
    if (!by_first_.empty()) {
      if (end > offset)
        for (const std::size_t i : find(begin > offset ? begin - offset : 0, end - offset))
          visit_run(i, offset, position, begin, end, visit);
      return;
    }
    std::size_t i = ascending_ && begin > offset ? first_reaching(begin - offset) : 0;
    for (; i < runs_.size(); ++i) {
      if (ascending_ && offset + runs_[i].first >= end) return;
      visit_run(i, offset, position, begin, end, visit);
    }
  }

  template <typename Visit>
  void visit_run(std::size_t i, std::uint64_t offset, std::uint64_t position, std::uint64_t begin,
                 std::uint64_t end, const Visit& visit) const {
    const std::uint64_t first = offset + runs_[i].first;
    const std::uint64_t from = std::max(first, begin);
    const std::uint64_t to = std::min(first + runs_[i].count, end);
    if (from < to) visit(Run{from, to - from}, position + before_[i] + (from - first));
  }

  struct Extent {
    std::uint64_t elements = 0;
    std::uint64_t extent = 0;
  };

  std::vector<Run> runs_;
  std::vector<Repeat> repeats_;         // the outermost first
  std::vector<Extent> inner_;           // what each of them repeats
  std::vector<std::uint64_t> before_;   // elements before each run, in one list
  bool ascending_ = true;               // no run begins before the one before it ends
  std::vector<std::size_t> by_first_;   // the runs by their first elements, once sorted
  std::vector<std::uint64_t> reaches_;  // and the end of all up to each
  std::uint64_t elements_ = 0;
  std::uint64_t extent_ = 0;
};

}  // namespace headrace::engine
