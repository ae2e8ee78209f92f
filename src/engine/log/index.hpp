// What an index of a log says; docs/formats/log.md has how it says it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "engine/log/pattern.hpp"

namespace headrace::engine::log {

// What many datasets have in common.
struct Kind {
  std::uint64_t element = 0;       // bytes
  std::string type;                // what elements are, in words
  std::vector<std::uint64_t> row;  // the extent of all dimensions but the slowest
};

struct LoggedDataset {
  std::shared_ptr<const Kind> kind;   // never null
  std::array<std::byte, 16> token{};  // H5O_token_t
  std::string name;                   // empty where none is known
};

struct LoggedWrite {
  std::uint32_t pattern = 0;   // a place in Index::patterns
  std::uint64_t first = 0;     // the element that the pattern begins at
  std::uint64_t position = 0;  // where its data begins among all data of the file, in bytes
  std::uint64_t epoch = 0;     // how many flushes of the program came before
};

struct Index {
  std::vector<LoggedDataset> datasets;
  std::deque<Pattern> patterns;  // stay where they are
  // Of each dataset, in the order in which the program made them.
  std::vector<std::vector<LoggedWrite>> writes;
  std::uint64_t write_count = 0;  // of all datasets
  std::uint64_t data_bytes = 0;   // of all writes
  std::uint64_t epoch = 0;        // of the last segment
};

// The parts of a segment, each of which holds the same of all that it is about: like follows like,
// which makes few bytes of them once they are compressed.
struct Columns {
  enum Name : std::size_t {
    kinds,
    kind_of,
    token_low,
    token_high,
    name_length,
    names,
    head,
    gap,
    count,
    times,
    dataset,
    pattern,
    unit,
    first,
    kHowMany
  };
};

// Elements between neighbours in each dimension of such a dataset, slowest first; 0 where there are
// more than 64 bits hold. A write may be told in any of them.
std::vector<std::uint64_t> units_of(const Kind& kind);

// How much a segment may hold when it is compressed, where it describes so much new data: no honest
// one needs more, and a reader has to have it in memory. Each write has data.
std::uint64_t most_contents(std::uint64_t compressed, std::uint64_t new_data);

}  // namespace headrace::engine::log
