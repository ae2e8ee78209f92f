#include "engine/stripes.hpp"

#include <algorithm>
#include <exception>

namespace headrace::engine {
namespace {

// Where a byte of the file is.
struct Place {
  std::uint32_t number;  // of the subfile
  std::uint64_t offset;  // in it
  std::uint64_t left;    // bytes up to the end of the stripe
};

Place place_of(const StripeLayout& layout, std::uint64_t offset) {
  const std::uint64_t stripe = offset / layout.stripe;
  const std::uint64_t inside = offset % layout.stripe;
  return {static_cast<std::uint32_t>(stripe % layout.count),
          stripe / layout.count * layout.stripe + inside, layout.stripe - inside};
}

// What one subfile gets of a write: in the file its stripes lie apart, in the subfile one after the
// other.
struct Part {
  std::uint64_t offset = 0;
  std::vector<std::span<const std::byte>> pieces;
};

template <typename Action>
void keep_first(std::exception_ptr& failed, const Action& action) {
  try {
    action();
  } catch (...) {
    if (failed == nullptr) failed = std::current_exception();
  }
}

}  // namespace

std::uint64_t StripeLayout::whole_size(std::span<const std::uint64_t> sizes) const {
  std::uint64_t end = 0;
  for (std::uint32_t number = 0; number < sizes.size(); ++number) {
    if (sizes[number] == 0) continue;
    const std::uint64_t last = sizes[number] - 1;
    const std::uint64_t row = last / stripe;
    end = std::max(end, (row * count + number) * stripe + last % stripe + 1);
  }
  return end;
}

std::uint64_t StripeLayout::subfile_size(std::uint32_t number, std::uint64_t whole) const {
  const std::uint64_t stripes = whole / stripe;
  const std::uint64_t rows = stripes / count;
  const std::uint64_t more = stripes % count;
  if (number < more) return (rows + 1) * stripe;
  return rows * stripe + (number == more ? whole % stripe : 0);
}

void StripedDevice::write(std::uint64_t offset,
                          std::span<const std::span<const std::byte>> pieces) {
  std::vector<Part> parts;  // of the subfiles in turn, from that of the first stripe on
  const std::uint64_t first = offset / layout_.stripe;
  for (std::span<const std::byte> piece : pieces) {
    while (!piece.empty()) {
      const Place place = place_of(layout_, offset);
      const std::uint64_t turn = (offset / layout_.stripe - first) % layout_.count;
      if (turn >= parts.size()) parts.resize(turn + 1);
      Part& part = parts[turn];
      if (part.pieces.empty()) part.offset = place.offset;
      const auto bytes = piece.first(std::min<std::uint64_t>(piece.size(), place.left));
      part.pieces.push_back(bytes);
      piece = piece.subspan(bytes.size());
      offset += bytes.size();
    }
  }
  std::exception_ptr failed;
  for (std::size_t turn = 0; turn < parts.size(); ++turn) {
    const auto number = static_cast<std::uint32_t>((first + turn) % layout_.count);
    keep_first(failed, [&] { subfiles_(number).write(parts[turn].offset, parts[turn].pieces); });
  }
  if (failed != nullptr) std::rethrow_exception(failed);
}

void StripedDevice::read(std::uint64_t offset, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const Place place = place_of(layout_, offset);
    const auto part = bytes.first(std::min<std::uint64_t>(bytes.size(), place.left));
    subfiles_(place.number).read(place.offset, part);
    bytes = bytes.subspan(part.size());
    offset += part.size();
  }
}

void StripedDevice::sync() {
  each_subfile([&](std::uint32_t number) { subfiles_(number).sync(); });
}

void StripedDevice::resize(std::uint64_t size) {
  each_subfile(
      [&](std::uint32_t number) { subfiles_(number).resize(layout_.subfile_size(number, size)); });
}

template <typename Action>
void StripedDevice::each_subfile(const Action& action) {
  std::exception_ptr failed;
  for (std::uint32_t number = 0; number < layout_.count; ++number)
    keep_first(failed, [&] { action(number); });
  if (failed != nullptr) std::rethrow_exception(failed);
}

}  // namespace headrace::engine
