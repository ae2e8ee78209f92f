#include "engine/log/index_reader.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "base/error.hpp"
#include "base/little_endian.hpp"
#include "engine/box.hpp"
#include "engine/codec/deflate.hpp"
#include "engine/varint.hpp"

namespace headrace::engine::log {
namespace {

[[noreturn]] void damaged() { throw Error("the log's index is damaged", ErrorKind::corrupt); }

std::string_view take(std::string_view& bytes, std::uint64_t size) {
  if (size > bytes.size()) damaged();
  const std::string_view front = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return front;
}

Kind take_kind(std::string_view& bytes) {
  Kind kind;
  kind.element = take_varint(bytes);
  if (kind.element == 0) damaged();
  kind.type = take(bytes, take_varint(bytes));
  const std::uint64_t rank = take_varint(bytes);
  if (rank == 0 || rank > kMaxRank) damaged();
  for (std::uint64_t d = 1; d < rank; ++d) kind.row.push_back(take_varint(bytes));
  return kind;
}

}  // namespace

void IndexReader::add(std::string_view segment, std::uint64_t data_bytes) {
  const std::uint64_t size = take_varint(segment);
  if (size == segment.size()) return add_contents(segment, data_bytes);
  if (size < segment.size() || size > most_contents(segment.size(), data_bytes - index_.data_bytes))
    damaged();
  Buffer contents(size);
  inflate(std::as_bytes(std::span(segment)), contents.bytes());
  add_contents({reinterpret_cast<const char*>(contents.data()), size}, data_bytes);
}

void IndexReader::add_contents(std::string_view contents, std::uint64_t data_bytes) {
  const std::uint64_t epoch = take_varint(contents);
  if (epoch < index_.epoch) damaged();
  index_.epoch = epoch;
  std::array<std::uint64_t, Columns::kHowMany> sizes{};
  for (std::uint64_t& size : sizes) size = take_varint(contents);
  Read columns;
  for (std::size_t i = 0; i < sizes.size(); ++i) columns.at(i) = take(contents, sizes.at(i));
  add_kinds(columns[Columns::kinds]);
  add_datasets(columns);
  while (!columns[Columns::dataset].empty()) add_write(columns, data_bytes);
  const auto has_rest = [](std::string_view column) { return !column.empty(); };
  if (!contents.empty() || std::ranges::any_of(columns, has_rest)) damaged();
}

void IndexReader::add_kinds(std::string_view& kinds) {
  while (!kinds.empty()) {
    const auto kind = std::make_shared<const Kind>(take_kind(kinds));
    kinds_.push_back({kind, units_of(*kind)});
  }
}

void IndexReader::add_datasets(Read& columns) {
  while (!columns[Columns::kind_of].empty()) {
    const std::uint64_t kind = take_varint(columns[Columns::kind_of]);
    if (kind >= kinds_.size()) damaged();
    LoggedDataset dataset{kinds_[kind].kind, {}, {}};
    token_.first += take_signed(columns[Columns::token_low]);
    token_.second += take_signed(columns[Columns::token_high]);
    put_little_endian(dataset.token.data(), token_.first);
    put_little_endian(dataset.token.data() + 8, token_.second);
    dataset.name = take(columns[Columns::names], take_varint(columns[Columns::name_length]));
    index_.datasets.push_back(std::move(dataset));
    index_.writes.emplace_back();
    kind_of_.push_back(static_cast<std::uint32_t>(kind));
  }
}

// Each has data that no other has: what it takes in memory is no more than a few times that.
void IndexReader::add_write(Read& columns, std::uint64_t data_bytes) {
  dataset_ += take_signed(columns[Columns::dataset]);
  if (dataset_ >= kind_of_.size()) damaged();
  const KnownKind& kind = kinds_[kind_of_[dataset_]];
  const std::uint64_t dimension = take_varint(columns[Columns::unit]);
  const std::uint64_t unit = dimension < kind.units.size() ? kind.units[dimension] : 0;
  const std::uint64_t back = take_varint(columns[Columns::pattern]);
  if (unit == 0 || back > shapes_.size()) damaged();
  const std::uint64_t element = kind.kind->element;
  const std::uint64_t most = (data_bytes - index_.data_bytes) / element;
  const std::uint32_t pattern =
      back == 0 ? new_pattern(columns, unit, most) : pattern_in(shapes_.size() - back, unit, most);
  Shape& shape = back == 0 ? shapes_.back() : shapes_[shapes_.size() - back];
  shape.first += take_signed(columns[Columns::first]);
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  const Pattern& elements = index_.patterns[pattern];
  if (elements.elements() > most || __builtin_mul_overflow(shape.first, unit, &first) ||
      __builtin_add_overflow(first, elements.extent(), &end))
    damaged();
  index_.writes[dataset_].push_back({pattern, first, index_.data_bytes, index_.epoch});
  ++index_.write_count;
  index_.data_bytes += elements.elements() * element;
}

std::uint32_t IndexReader::new_pattern(Read& columns, std::uint64_t unit, std::uint64_t most) {
  index_.patterns.push_back(Pattern::decode({columns[Columns::head], columns[Columns::gap],
                                             columns[Columns::count], columns[Columns::times]},
                                            unit, most));
  const auto place = static_cast<std::uint32_t>(index_.patterns.size() - 1);
  shapes_.push_back({place, unit, 0});
  return place;
}

std::uint32_t IndexReader::pattern_in(std::uint64_t shape, std::uint64_t unit, std::uint64_t most) {
  const Shape& first = shapes_[shape];
  if (unit == first.unit) return first.pattern;
  const std::pair key{shape, unit};
  if (const auto known = in_other_units_.find(key); known != in_other_units_.end())
    return known->second;
  if (!index_.patterns[first.pattern].is_multiple_of(first.unit)) damaged();
  PatternColumns text;
  index_.patterns[first.pattern].encode(first.unit, text);
  std::string_view head = text.head;
  std::string_view gap = text.gap;
  std::string_view count = text.count;
  std::string_view times = text.times;
  index_.patterns.push_back(Pattern::decode({head, gap, count, times}, unit, most));
  return in_other_units_[key] = static_cast<std::uint32_t>(index_.patterns.size() - 1);
}

}  // namespace headrace::engine::log
