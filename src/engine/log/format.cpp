#include "engine/log/format.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "base/little_endian.hpp"
#include "engine/box.hpp"
#include "engine/log/varint.hpp"

namespace headrace::engine::log {
namespace {

constexpr std::uint32_t kVersion = 1;

// The memory that is spent on telling patterns once only, in bytes, and what each takes beside its
// own.
constexpr std::size_t kMostKnown = 4 << 20;
constexpr std::size_t kEach = 64;

[[noreturn]] void damaged() { throw Error("the log's index is damaged"); }

std::string_view take(std::string_view& bytes, std::uint64_t size) {
  if (size > bytes.size()) damaged();
  const std::string_view front = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return front;
}

LoggedDataset take_dataset(std::string_view& bytes) {
  LoggedDataset dataset;
  dataset.element = take_varint(bytes);
  if (dataset.element == 0) damaged();
  const std::string_view token = take(bytes, dataset.token.size());
  std::memcpy(dataset.token.data(), token.data(), token.size());
  dataset.name = take(bytes, take_varint(bytes));
  dataset.type = take(bytes, take_varint(bytes));
  const std::uint64_t rank = take_varint(bytes);
  if (rank == 0 || rank > kMaxRank) damaged();
  for (std::uint64_t d = 1; d < rank; ++d) dataset.row.push_back(take_varint(bytes));
  return dataset;
}

}  // namespace

std::array<std::byte, kHeaderBytes> SegmentHeader::encode() const {
  std::array<std::byte, kHeaderBytes> result{};
  std::byte* const to = result.data();
  std::memcpy(to, kMagic.data(), kMagic.size());
  put_little_endian(to + 4, static_cast<std::uint32_t>(kind));
  put_little_endian(to + 8, sequence);
  put_little_endian(to + 16, bytes);
  put_little_endian(to + 24, checksum);
  put_little_endian(to + 28, log::checksum(std::span(result).first(28)));
  return result;
}

bool decode(std::span<const std::byte, kHeaderBytes> bytes, SegmentHeader& header) {
  const std::byte* const at = bytes.data();
  const auto kind = little_endian<std::uint32_t>(at + 4);
  if (std::memcmp(at, kMagic.data(), kMagic.size()) != 0 || kind < 1 || kind > 4 ||
      little_endian<std::uint32_t>(at + 28) != checksum(bytes.first(28)))
    return false;
  header = {static_cast<SegmentKind>(kind), little_endian<std::uint64_t>(at + 8),
            little_endian<std::uint64_t>(at + 16), little_endian<std::uint32_t>(at + 24)};
  return true;
}

std::array<std::byte, kOwnerBytes> encode(const Belonging& belonging) {
  std::array<std::byte, kOwnerBytes> result{};
  std::byte* const numbers = result.data() + sizeof kVersion + sizeof(Owner);
  put_little_endian(result.data(), kVersion);
  std::ranges::copy(belonging.owner, result.begin() + sizeof kVersion);
  put_little_endian(numbers, belonging.rank);
  put_little_endian(numbers + sizeof belonging.rank, belonging.ranks);
  return result;
}

Belonging decode_owner(std::span<const std::byte> bytes) {
  Belonging belonging;
  if (bytes.size() < sizeof kVersion) throw Error("the log does not say what it belongs to");
  const auto version = little_endian<std::uint32_t>(bytes.data());
  if (version != kVersion)
    throw Error("the log is of version " + std::to_string(version) + " of the format, not " +
                std::to_string(kVersion));
  if (bytes.size() != kOwnerBytes) throw Error("the log does not say what it belongs to");
  const auto numbers = bytes.last(sizeof belonging.rank + sizeof belonging.ranks);
  std::ranges::copy(bytes.subspan(sizeof kVersion, sizeof(Owner)), belonging.owner.begin());
  belonging.rank = little_endian<std::uint32_t>(numbers.data());
  belonging.ranks = little_endian<std::uint32_t>(numbers.data() + sizeof belonging.rank);
  if (belonging.rank >= belonging.ranks) throw Error("the log is of a rank that there is not");
  return belonging;
}

std::array<std::byte, kClosingBytes> encode_closing(std::uint64_t segments, std::uint64_t bytes) {
  std::array<std::byte, kClosingBytes> result{};
  put_little_endian(result.data(), segments);
  put_little_endian(result.data() + 8, bytes);
  return result;
}

std::uint32_t checksum(std::span<const std::byte> bytes, std::uint32_t before) {
  return libdeflate_crc32(before, bytes.data(), bytes.size());
}

std::uint32_t IndexWriter::add(LoggedDataset dataset) {
  put_varint(datasets_, dataset.element);
  datasets_.append(reinterpret_cast<const char*>(dataset.token.data()), dataset.token.size());
  put_varint(datasets_, dataset.name.size());
  datasets_ += dataset.name;
  put_varint(datasets_, dataset.type.size());
  datasets_ += dataset.type;
  put_varint(datasets_, dataset.row.size() + 1);
  for (const std::uint64_t extent : dataset.row) put_varint(datasets_, extent);
  ++new_datasets_;
  last_.push_back(0);
  return static_cast<std::uint32_t>(last_.size() - 1);
}

void IndexWriter::add(std::uint32_t dataset, const Pattern& pattern, std::uint64_t first) {
  std::string encoded = pattern.encode();
  if (known_bytes_ > kMostKnown) {
    known_.clear();
    known_bytes_ = 0;
  }
  const auto [known, is_new] = known_.try_emplace(std::move(encoded), all_patterns_);
  if (is_new) {
    patterns_ += known->first;
    ++new_patterns_;
    ++all_patterns_;
    readers_memory_ += pattern.memory();
    known_bytes_ += known->first.size() + kEach;
  }
  put_signed(writes_, std::uint64_t{dataset} - dataset_);
  put_varint(writes_, known->second);
  put_signed(writes_, first - last_[dataset]);
  dataset_ = dataset;
  last_[dataset] = first;
  ++new_writes_;
  readers_memory_ += sizeof(LoggedWrite);
}

std::string IndexWriter::take(std::uint64_t epoch) {
  std::string segment;
  put_varint(segment, epoch);
  put_varint(segment, new_datasets_);
  segment += datasets_;
  put_varint(segment, new_patterns_);
  segment += patterns_;
  put_varint(segment, new_writes_);
  segment += writes_;
  for (std::string* each : {&datasets_, &patterns_, &writes_}) each->clear();
  new_datasets_ = new_patterns_ = new_writes_ = 0;
  return segment;
}

void IndexReader::add(std::string_view segment, std::uint64_t data_bytes) {
  const std::uint64_t epoch = take_varint(segment);
  if (epoch < epoch_) damaged();
  epoch_ = epoch;
  for (std::uint64_t left = take_varint(segment); left > 0; --left) {
    index_.datasets.push_back(take_dataset(segment));
    last_.push_back(0);
  }
  add_patterns(segment, data_bytes);
  add_writes(segment, data_bytes);
  if (!segment.empty() || used_ != index_.patterns.size()) damaged();
}

// A write of this segment has each of them, so that together they are no more than new data.
void IndexReader::add_patterns(std::string_view& segment, std::uint64_t data_bytes) {
  std::uint64_t room = data_bytes - index_.data_bytes;
  for (std::uint64_t left = take_varint(segment); left > 0; --left) {
    index_.patterns.push_back(Pattern::decode(segment, room));
    room -= index_.patterns.back().elements();
  }
}

// Patterns are numbered in the order of their first writes.
void IndexReader::add_writes(std::string_view& segment, std::uint64_t data_bytes) {
  for (std::uint64_t left = take_varint(segment); left > 0; --left) {
    dataset_ += take_signed(segment);
    const std::uint64_t pattern = take_varint(segment);
    if (dataset_ >= last_.size() || pattern >= index_.patterns.size() || pattern > used_) damaged();
    used_ = std::max<std::size_t>(used_, pattern + 1);
    const std::uint64_t first = last_[dataset_] += take_signed(segment);
    const Pattern& shape = index_.patterns[pattern];
    const std::uint64_t room = (data_bytes - index_.data_bytes) / index_.datasets[dataset_].element;
    if (shape.elements() > room || first + shape.extent() < first) damaged();
    index_.writes.push_back({static_cast<std::uint32_t>(dataset_),
                             static_cast<std::uint32_t>(pattern), first, index_.data_bytes,
                             epoch_});
    index_.data_bytes += shape.elements() * index_.datasets[dataset_].element;
  }
}

}  // namespace headrace::engine::log
