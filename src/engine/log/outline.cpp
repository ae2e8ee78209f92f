#include "engine/log/outline.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace headrace::engine::log {
namespace {

// outline = pieces end *( at bytes ) *byte
struct Piece {
  std::uint64_t at = 0;     // in the log
  std::uint64_t bytes = 0;  // which come one piece after the other
};

class Outlined final : public io::File {
 public:
  Outlined(std::vector<std::byte> outline, std::unique_ptr<io::File> file)
      : outline_(std::move(outline)), file_(std::move(file)) {
    std::uint64_t pieces = 0;
    std::size_t at = take(&pieces, sizeof pieces, 0);
    if (pieces > outline_.size() / sizeof(Piece))
      throw Error("an outline of a log is cut off", ErrorKind::corrupt);
    pieces_.resize(pieces);
    at = take(pieces_.data(), pieces * sizeof(Piece), at);
    for (const Piece& piece : pieces_) {
      if (piece.bytes > outline_.size() - at)
        throw Error("an outline of a log is cut off", ErrorKind::corrupt);
      places_.push_back(at);
      at += piece.bytes;
    }
  }

  void read(std::uint64_t offset, std::span<std::byte> bytes) override {
    const auto next = std::ranges::upper_bound(pieces_, offset, {}, &Piece::at);
    if (next != pieces_.begin()) {
      const Piece& piece = *std::prev(next);
      const std::uint64_t within = offset - piece.at;
      if (within <= piece.bytes && bytes.size() <= piece.bytes - within) {
        const auto number = static_cast<std::size_t>(std::prev(next) - pieces_.begin());
        std::memcpy(bytes.data(), outline_.data() + places_[number] + within, bytes.size());
        return;
      }
    }
    file_->read(offset, bytes);
  }
  void write(std::uint64_t offset, std::span<const std::span<const std::byte>> pieces) override {
    file_->write(offset, pieces);
  }
  void sync() override { file_->sync(); }
  void resize(std::uint64_t size) override { file_->resize(size); }

 private:
  std::size_t take(void* to, std::size_t bytes, std::size_t at) {
    if (bytes > outline_.size() - at)
      throw Error("an outline of a log is cut off", ErrorKind::corrupt);
    if (bytes > 0) std::memcpy(to, outline_.data() + at, bytes);
    return at + bytes;
  }

  std::vector<std::byte> outline_;
  std::vector<Piece> pieces_;
  std::vector<std::size_t> places_;  // of their bytes
  std::unique_ptr<io::File> file_;
};

void put_bytes(std::vector<std::byte>& to, const void* from, std::size_t bytes) {
  const auto* const begin = static_cast<const std::byte*>(from);
  to.insert(to.end(), begin, begin + bytes);
}

}  // namespace

std::vector<std::byte> outline_of(const Reader& reader) {
  std::vector<Piece> pieces;
  std::uint64_t at = 0;
  reader.for_data([&](std::uint64_t data, std::uint64_t bytes) {
    pieces.push_back({at, data - at});
    at = data + bytes;
  });
  pieces.push_back({at, reader.end() - at});
  std::vector<std::byte> outline;
  const std::uint64_t count = pieces.size();
  put_bytes(outline, &count, sizeof count);
  put_bytes(outline, pieces.data(), pieces.size() * sizeof(Piece));
  for (const Piece& piece : pieces) {
    const std::size_t place = outline.size();
    outline.resize(place + piece.bytes);
    reader.read_at(piece.at, std::span(outline).subspan(place));
  }
  return outline;
}

std::unique_ptr<io::File> outlined(std::vector<std::byte> outline, std::unique_ptr<io::File> file) {
  return std::make_unique<Outlined>(std::move(outline), std::move(file));
}

}  // namespace headrace::engine::log
