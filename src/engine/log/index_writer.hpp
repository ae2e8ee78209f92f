// Makes the index's segments.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/log/index.hpp"

namespace headrace::engine::log {

class IndexWriter {
 public:
  // Returns the place of a new dataset.
  std::uint32_t add(const LoggedDataset& dataset);
  // The next write; its data follows that of the one before.
  void add(std::uint32_t dataset, const Pattern& pattern, std::uint64_t first);
  [[nodiscard]] bool empty() const { return new_writes_ == 0; }
  // The memory of what was added since the last take(), in bytes, and about that of an IndexReader
  // of all.
  [[nodiscard]] std::uint64_t memory() const;
  [[nodiscard]] std::uint64_t readers_memory() const { return readers_memory_; }
  // The segment for what was added since the last call, in that epoch or a later one.
  std::string take(std::uint64_t epoch);

 private:
  struct Added {
    std::uint64_t element;
    std::vector<std::uint64_t> units;
  };
  // A pattern that was told.
  struct KnownPattern {
    std::uint64_t number;
    std::uint64_t first = 0;  // of the last write
  };
  std::uint32_t kind_of(const Kind& kind);
  // And whether it is told just now.
  std::pair<KnownPattern&, bool> tell(const Pattern& pattern, std::uint64_t unit);
  void count_memory(const Pattern& pattern, const KnownPattern& told, std::uint64_t unit);
  std::string& column(Columns::Name name) { return columns_[name]; }

  std::unordered_map<std::string, std::uint32_t> kinds_;  // encoded
  std::vector<Added> datasets_;
  std::pair<std::uint64_t, std::uint64_t> token_;              // of the last one
  std::unordered_map<std::string, KnownPattern> known_;        // patterns, encoded; the latest ones
  std::set<std::pair<std::uint64_t, std::uint64_t>> told_in_;  // numbers of those, and units
  std::size_t known_bytes_ = 0;                                // of both
  std::uint64_t all_patterns_ = 0;
  std::uint64_t readers_memory_ = 0;
  std::uint32_t dataset_ = 0;  // of the last write
  PatternColumns encoded_;     // memory that is used again
  std::string key_;
  // Since the last take().
  std::array<std::string, Columns::kHowMany> columns_;
  std::uint64_t new_writes_ = 0;
  std::uint64_t new_data_ = 0;
};

}  // namespace headrace::engine::log
