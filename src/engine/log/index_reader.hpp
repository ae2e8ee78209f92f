// Reads the index's segments, in their order.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/log/index.hpp"

namespace headrace::engine::log {

class IndexReader {
 public:
  // `data_bytes`: those of all data segments before it. Throws Error for whatever IndexWriter
  // cannot have made, and may then have added a part of the segment.
  void add(std::string_view segment, std::uint64_t data_bytes);
  [[nodiscard]] const Index& index() const { return index_; }

 private:
  using Read = std::array<std::string_view, Columns::kHowMany>;
  struct KnownKind {
    std::shared_ptr<const Kind> kind;
    std::vector<std::uint64_t> units;
  };
  // What writes of several units have in common.
  struct Shape {
    std::uint32_t pattern;  // its place where it was first told
    std::uint64_t unit;     // in that
    std::uint64_t first;    // of the last write
  };
  void add_contents(std::string_view contents, std::uint64_t data_bytes);
  void add_kinds(std::string_view& kinds);
  void add_datasets(Read& columns);
  void add_write(Read& columns, std::uint64_t data_bytes);
  // Places in the index.
  std::uint32_t new_pattern(Read& columns, std::uint64_t unit, std::uint64_t most);
  std::uint32_t pattern_in(std::uint64_t shape, std::uint64_t unit, std::uint64_t most);

  Index index_;
  std::vector<KnownKind> kinds_;
  std::vector<std::uint32_t> kind_of_;  // by dataset
  std::vector<Shape> shapes_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> in_other_units_;
  std::pair<std::uint64_t, std::uint64_t> token_;
  std::uint64_t dataset_ = 0;
};

}  // namespace headrace::engine::log
