#include "engine/stripes.hpp"

#include <algorithm>
#include <exception>
#include <latch>

#include "engine/threads/thread_pool.hpp"

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

// A transfer below this is done by the time that a worker has begun.
constexpr std::uint64_t kSharedOut = std::uint64_t{1} << 20U;

template <typename Action>
void keep_first(std::exception_ptr& failed, const Action& action) {
  try {
    action();
  } catch (...) {
    if (failed == nullptr) failed = std::current_exception();
  }
}

// What one subfile has of a transfer: in the file its stripes lie apart, in the subfile one after
// the other.
template <typename Byte>
struct Part {
  std::uint64_t offset = 0;
  std::vector<std::span<Byte>> pieces;
};

// By subfiles in turn, from that of the first stripe on.
template <typename Byte>
std::vector<Part<Byte>> parts_of(const StripeLayout& layout, std::uint64_t offset,
                                 std::span<const std::span<Byte>> pieces) {
  std::vector<Part<Byte>> parts;
  const std::uint64_t first = offset / layout.stripe;
  for (std::span<Byte> piece : pieces)
    while (!piece.empty()) {
      const Place place = place_of(layout, offset);
      const std::uint64_t size = std::min<std::uint64_t>(piece.size(), place.left);
      const std::uint64_t turn = (offset / layout.stripe - first) % layout.count;
      if (turn >= parts.size()) parts.resize(turn + 1);
      Part<Byte>& part = parts[turn];
      if (part.pieces.empty()) part.offset = place.offset;
      part.pieces.push_back(piece.first(size));
      piece = piece.subspan(size);
      offset += size;
    }
  return parts;
}

// Does all actions but the first on workers, or here when none is free; returns when all are done.
void share_out(std::vector<std::function<void()>>& actions) {
  std::latch done(static_cast<std::ptrdiff_t>(actions.size() - 1));
  for (std::size_t number = 1; number < actions.size(); ++number)
    run_later([&done, &action = actions[number]] {
      action();
      done.count_down();
    });
  actions.front()();
  const WaitForTasks waiting;
  while (!done.try_wait())
    if (!run_one()) return done.wait();
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

void FileOfSubfiles::write(std::uint64_t offset,
                           std::span<const std::span<const std::byte>> pieces) {
  const auto parts = parts_of(layout_, offset, pieces);
  each_turn(offset / layout_.stripe, parts.size(), io::total(pieces),
            [&](std::size_t turn, io::File& subfile) {
              subfile.write(parts[turn].offset, parts[turn].pieces);
            });
}

void FileOfSubfiles::read(std::uint64_t offset, std::span<std::byte> bytes) {
  if (const Place place = place_of(layout_, offset); bytes.size() <= place.left)
    return subfiles_(place.number).read(place.offset, bytes);
  read_pieces(offset, {&bytes, 1});
}

void FileOfSubfiles::read_pieces(std::uint64_t offset,
                                 std::span<const std::span<std::byte>> pieces) {
  const auto parts = parts_of(layout_, offset, pieces);
  each_turn(offset / layout_.stripe, parts.size(), io::total(pieces),
            [&](std::size_t turn, io::File& subfile) {
              subfile.read_pieces(parts[turn].offset, parts[turn].pieces);
            });
}

template <typename Action>
void FileOfSubfiles::each_turn(std::uint64_t first, std::size_t turns, std::uint64_t bytes,
                               const Action& action) {
  if (turns == 1) return action(0, subfiles_(static_cast<std::uint32_t>(first % layout_.count)));
  std::vector<std::exception_ptr> failed(turns);
  std::vector<std::function<void()>> actions;
  for (std::size_t turn = 0; turn < turns; ++turn)
    keep_first(failed[turn], [&] {
      // Subfiles are found, and opened, on the calling thread.
      io::File& subfile = subfiles_(static_cast<std::uint32_t>((first + turn) % layout_.count));
      actions.emplace_back([&, turn] { keep_first(failed[turn], [&] { action(turn, subfile); }); });
    });
  if (on_workers_ && actions.size() > 1 && bytes >= kSharedOut)
    share_out(actions);
  else
    for (const auto& each : actions) each();
  for (const std::exception_ptr& each : failed)
    if (each != nullptr) std::rethrow_exception(each);
}

void FileOfSubfiles::sync() {
  each_subfile([&](std::uint32_t number) { subfiles_(number).sync(); });
}

void FileOfSubfiles::resize(std::uint64_t size) {
  each_subfile(
      [&](std::uint32_t number) { subfiles_(number).resize(layout_.subfile_size(number, size)); });
}

template <typename Action>
void FileOfSubfiles::each_subfile(const Action& action) {
  std::exception_ptr failed;
  for (std::uint32_t number = 0; number < layout_.count; ++number)
    keep_first(failed, [&] { action(number); });
  if (failed != nullptr) std::rethrow_exception(failed);
}

}  // namespace headrace::engine
