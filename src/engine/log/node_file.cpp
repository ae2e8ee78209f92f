#include "engine/log/node_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/little_endian.hpp"
#include "engine/checksum.hpp"

namespace headrace::engine::log {
namespace {

constexpr std::string_view kNodeMagic = "HRLN";
constexpr std::uint32_t kNodeFileVersion = 1;
constexpr std::size_t kFixed = 48;     // bytes of the header before the numbers of ranks
constexpr std::size_t kChecksum = 44;  // where its checksum is
constexpr std::size_t kLength = 16;    // what tells the length of a log
constexpr std::uint64_t kPage = 4096;
constexpr std::uint32_t kMostRanks = 1 << 20;
constexpr std::uint64_t kLargestBlock = 1 << 30;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::uint64_t lengths_at(std::uint64_t ranks) {
  return round_up(kFixed + ranks * sizeof(std::uint32_t), kLength);
}

using Length = std::array<std::byte, kLength>;

// With its place, so that it is no other log's.
Length encode_length(std::size_t place, std::uint64_t bytes) {
  Length result{};
  put_little_endian(result.data(), bytes);
  put_little_endian(result.data() + 8, static_cast<std::uint32_t>(place));
  put_little_endian(result.data() + 12, checksum(std::span(result).first(12)));
  return result;
}

void put(io::File& file, std::uint64_t offset, std::span<const std::byte> bytes) {
  file.write(offset, std::array{bytes});
}

std::uint32_t checksum_of(std::span<const std::byte> header) {
  return checksum(header.subspan(kFixed), checksum(header.first(kChecksum)));
}

class LogInNode final : public io::File {
 public:
  LogInNode(std::unique_ptr<io::File> file, NodeFile node, std::size_t place)
      : file_(std::move(file)), node_(std::move(node)), place_(place) {}

  void read(std::uint64_t offset, std::span<std::byte> bytes) override {
    while (!bytes.empty()) {
      const auto part = bytes.first(in_block(offset, bytes.size()));
      file_->read(node_.at(place_, offset), part);
      offset += part.size();
      bytes = bytes.subspan(part.size());
    }
  }

  void write(std::uint64_t offset, std::span<const std::span<const std::byte>> pieces) override {
    std::vector<std::span<const std::byte>> together;  // of one block
    std::uint64_t begin = offset;
    const auto pass_on = [&] {
      if (!together.empty()) file_->write(node_.at(place_, begin), together);
      together.clear();
      begin = offset;
    };
    for (std::span<const std::byte> piece : pieces)
      while (!piece.empty()) {
        const auto part = piece.first(in_block(offset, piece.size()));
        together.push_back(part);
        offset += part.size();
        piece = piece.subspan(part.size());
        if (offset % node_.block == 0) pass_on();
      }
    pass_on();
    note_end(offset);
  }

  void sync() override { file_->sync(); }
  void resize(std::uint64_t /*size*/) override {
    throw Error("a log in a file with others has no size of its own");
  }

 private:
  [[nodiscard]] std::size_t in_block(std::uint64_t offset, std::size_t most) const {
    return std::min<std::uint64_t>(most, node_.block - offset % node_.block);
  }

  // When the bytes before are in the file; other threads may be writing some.
  void note_end(std::uint64_t end) {
    const std::lock_guard lock(mutex_);
    if (end <= end_) return;
    put(*file_, lengths_at(node_.ranks.size()) + place_ * kLength, encode_length(place_, end));
    end_ = end;
  }

  std::unique_ptr<io::File> file_;
  NodeFile node_;
  std::size_t place_;
  std::mutex mutex_;
  std::uint64_t end_ = 0;  // that the file tells
};

}  // namespace

std::uint64_t NodeFile::begin() const {
  return round_up(lengths_at(ranks.size()) + ranks.size() * kLength, kPage);
}

std::uint64_t NodeFile::at(std::size_t place, std::uint64_t offset) const {
  return begin() + (offset / block * ranks.size() + place) * block + offset % block;
}

void make_node_file(io::File& file, const NodeFile& node) {
  std::vector<std::byte> header(node.begin());
  std::byte* const to = header.data();
  std::memcpy(to, kNodeMagic.data(), kNodeMagic.size());
  put_little_endian(to + 4, kNodeFileVersion);
  std::ranges::copy(node.owner, to + 8);
  put_little_endian(to + 24, node.node);
  put_little_endian(to + 28, node.nodes);
  put_little_endian(to + 32, node.block);
  put_little_endian(to + 40, static_cast<std::uint32_t>(node.ranks.size()));
  for (std::size_t place = 0; place < node.ranks.size(); ++place) {
    put_little_endian(to + kFixed + place * sizeof(std::uint32_t), node.ranks[place]);
    std::ranges::copy(encode_length(place, 0),
                      to + lengths_at(node.ranks.size()) + place * kLength);
  }
  const std::size_t end = kFixed + node.ranks.size() * sizeof(std::uint32_t);
  put_little_endian(to + kChecksum, checksum_of(std::span(header).first(end)));
  put(file, 0, header);
}

bool is_node_file(io::File& file) {
  std::array<std::byte, kNodeMagic.size()> magic{};
  file.read(0, magic);
  return std::memcmp(magic.data(), kNodeMagic.data(), magic.size()) == 0;
}

NodeFile node_file_of(io::File& file) {
  std::vector<std::byte> header(kFixed);
  file.read(0, header);
  if (!is_node_file(file)) throw Error("it is no file of logs", ErrorKind::corrupt);
  const auto version = little_endian<std::uint32_t>(header.data() + 4);
  if (version != kNodeFileVersion)
    throw Error("it is of version " + std::to_string(version) + " of the format, not " +
                    std::to_string(kNodeFileVersion),
                ErrorKind::unsupported);
  NodeFile node;
  std::ranges::copy(std::span(header).subspan(8, sizeof(Owner)), node.owner.begin());
  node.node = little_endian<std::uint32_t>(header.data() + 24);
  node.nodes = little_endian<std::uint32_t>(header.data() + 28);
  node.block = little_endian<std::uint64_t>(header.data() + 32);
  const auto ranks = little_endian<std::uint32_t>(header.data() + 40);
  const auto expected = little_endian<std::uint32_t>(header.data() + kChecksum);
  if (ranks == 0 || ranks > kMostRanks) throw Error("its header is damaged", ErrorKind::corrupt);
  header.resize(kFixed + ranks * sizeof(std::uint32_t));
  file.read(0, header);
  if (checksum_of(header) != expected || node.node >= node.nodes ||
      !std::has_single_bit(node.block) || node.block < kPage || node.block > kLargestBlock)
    throw Error("its header is damaged", ErrorKind::corrupt);
  for (std::size_t at = kFixed; at < header.size(); at += sizeof(std::uint32_t))
    node.ranks.push_back(little_endian<std::uint32_t>(header.data() + at));
  return node;
}

void empty_node_file(io::File& file, const NodeFile& node) {
  std::vector<std::byte> lengths;
  for (std::size_t place = 0; place < node.ranks.size(); ++place) {
    const Length none = encode_length(place, 0);
    lengths.insert(lengths.end(), none.begin(), none.end());
  }
  // New logs are shorter than old ones for a while, and must not find those behind their ends.
  file.resize(node.begin());
  put(file, lengths_at(node.ranks.size()), lengths);
}

std::uint64_t length_of(io::File& file, const NodeFile& node, std::size_t place,
                        std::uint64_t bytes) {
  Length found{};
  file.read(lengths_at(node.ranks.size()) + place * kLength, found);
  const auto length = little_endian<std::uint64_t>(found.data());
  if (found != encode_length(place, length))
    throw Error("the length of a log in it is damaged", ErrorKind::corrupt);
  // A power cut may leave a length without the bytes.
  const std::uint64_t all = bytes - std::min(bytes, node.begin());
  const std::uint64_t round = node.block * node.ranks.size();
  const std::uint64_t before = place * node.block;
  const std::uint64_t rest = all % round - std::min(all % round, before);
  return std::min(length, all / round * node.block + std::min(rest, node.block));
}

std::unique_ptr<io::File> log_in(std::unique_ptr<io::File> file, const NodeFile& node,
                                 std::size_t place) {
  return std::make_unique<LogInNode>(std::move(file), node, place);
}

}  // namespace headrace::engine::log
