#include "engine/log/index_writer.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "base/little_endian.hpp"
#include "engine/codec/deflate.hpp"
#include "engine/varint.hpp"

namespace headrace::engine::log {
namespace {

// The memory that is spent on telling patterns once only, in bytes, and what each takes beside its
// own.
constexpr std::size_t kMostKnown = 4 << 20;
constexpr std::size_t kEach = 64;

// A little longer on little than on much: a flush waits for it.
std::string compressed(const std::string& contents, std::uint64_t new_data) {
  constexpr std::size_t kLittle = 64 << 10;
  const unsigned level = contents.size() <= kLittle ? 6 : 1;
  std::string segment;
  put_varint(segment, contents.size());
  const Buffer small = deflate(level, std::as_bytes(std::span(contents)));
  if (small.size() < contents.size() && contents.size() <= most_contents(small.size(), new_data))
    return segment.append(reinterpret_cast<const char*>(small.data()), small.size());
  return segment += contents;
}

}  // namespace

std::uint32_t IndexWriter::kind_of(const Kind& kind) {
  std::string encoded;
  put_varint(encoded, kind.element);
  put_varint(encoded, kind.type.size());
  encoded += kind.type;
  put_varint(encoded, kind.row.size() + 1);
  for (const std::uint64_t extent : kind.row) put_varint(encoded, extent);
  const auto number = static_cast<std::uint32_t>(kinds_.size());
  const auto [known, is_new] = kinds_.try_emplace(std::move(encoded), number);
  if (is_new) column(Columns::kinds) += known->first;
  return known->second;
}

std::uint32_t IndexWriter::add(const LoggedDataset& dataset) {
  put_varint(column(Columns::kind_of), kind_of(*dataset.kind));
  const std::pair token{little_endian<std::uint64_t>(dataset.token.data()),
                        little_endian<std::uint64_t>(dataset.token.data() + 8)};
  put_signed(column(Columns::token_low), token.first - token_.first);
  put_signed(column(Columns::token_high), token.second - token_.second);
  token_ = token;
  put_varint(column(Columns::name_length), dataset.name.size());
  column(Columns::names) += dataset.name;
  datasets_.push_back({dataset.kind->element, units_of(*dataset.kind)});
  return static_cast<std::uint32_t>(datasets_.size() - 1);
}

std::pair<IndexWriter::KnownPattern&, bool> IndexWriter::tell(const Pattern& pattern,
                                                              std::uint64_t unit) {
  encoded_.clear();
  pattern.encode(unit, encoded_);
  if (known_bytes_ > kMostKnown) {
    known_.clear();
    told_in_.clear();
    known_bytes_ = 0;
  }
  key_.clear();
  key_.append(encoded_.head).append(encoded_.gap).append(encoded_.count).append(encoded_.times);
  const auto [known, is_new] = known_.try_emplace(key_, KnownPattern{all_patterns_});
  if (is_new) {
    column(Columns::head) += encoded_.head;
    column(Columns::gap) += encoded_.gap;
    column(Columns::count) += encoded_.count;
    column(Columns::times) += encoded_.times;
    ++all_patterns_;
    known_bytes_ += key_.size() + kEach;
  }
  return {known->second, is_new};
}

// A reader has a pattern once for each unit.
void IndexWriter::count_memory(const Pattern& pattern, const KnownPattern& told,
                               std::uint64_t unit) {
  readers_memory_ += sizeof(LoggedWrite);
  if (!told_in_.emplace(told.number, unit).second) return;
  readers_memory_ += pattern.memory() + kEach;
  known_bytes_ += kEach;
}

void IndexWriter::add(std::uint32_t dataset, const Pattern& pattern, std::uint64_t first) {
  const auto& units = datasets_.at(dataset).units;
  const auto fits = [&](std::uint64_t unit) {
    return unit != 0 && first % unit == 0 && pattern.is_multiple_of(unit);
  };
  const auto unit = std::ranges::find_if(units, fits);  // the last is 1
  const auto [told, is_new] = tell(pattern, *unit);
  put_signed(column(Columns::dataset), std::uint64_t{dataset} - dataset_);
  put_varint(column(Columns::pattern), is_new ? 0 : all_patterns_ - told.number);
  put_varint(column(Columns::unit), static_cast<std::uint64_t>(unit - units.begin()));
  put_signed(column(Columns::first), first / *unit - told.first);
  count_memory(pattern, told, *unit);
  dataset_ = dataset;
  told.first = first / *unit;
  ++new_writes_;
  new_data_ += pattern.elements() * datasets_[dataset].element;
}

std::uint64_t IndexWriter::memory() const {
  return std::accumulate(
      columns_.begin(), columns_.end(), std::uint64_t{0},
      [](std::uint64_t sum, const std::string& column) { return sum + column.size(); });
}

std::string IndexWriter::take(std::uint64_t epoch) {
  std::string contents;
  put_varint(contents, epoch);
  for (const std::string& column : columns_) put_varint(contents, column.size());
  contents.reserve(contents.size() + memory());
  for (std::string& column : columns_) contents += std::exchange(column, {});
  std::string segment = compressed(contents, new_data_);
  new_writes_ = new_data_ = 0;
  return segment;
}

}  // namespace headrace::engine::log
