// The first four bytes choose filters, left out ones, a place and its damage; the others are a
// chunk. It survives being stored; damaged, or taken for a stored chunk itself, it is decoded to
// the chunk's size or is an Error.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "engine/codec/pipeline.hpp"
#include "percent.hpp"

namespace {

using namespace headrace;
using Kind = engine::Filter::Kind;

engine::Pipeline pipeline_of(unsigned choice) {
  constexpr std::array kCodecs{Kind::deflate, Kind::zstd, Kind::lz4, Kind::lzf};
  constexpr std::array kParameters{1U, 3U, 64U, 0U};
  const std::size_t codec = choice % kCodecs.size();
  engine::Pipeline pipeline;
  if ((choice & 4U) != 0) pipeline.push_back({Kind::shuffle, 1 + (choice >> 4U) % 8});
  pipeline.push_back({kCodecs.at(codec), kParameters.at(codec)});
  if ((choice & 8U) != 0) pipeline.push_back({Kind::fletcher32});
  return pipeline;
}

void try_to_decode(const engine::Pipeline& pipeline, unsigned mask,
                   std::span<const std::byte> stored, std::size_t size) {
  std::vector<std::byte> raw(size);
  try {
    engine::decode(pipeline, mask, stored, raw);
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): what damage should end in
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kChoices = 4;
  const std::string input = from_percent(data, size);
  if (input.size() <= kChoices) return 0;
  const auto choice = [&](std::size_t i) { return static_cast<unsigned char>(input[i]); };
  const engine::Pipeline pipeline = pipeline_of(choice(0));
  const auto chunk = std::as_bytes(std::span(input)).subspan(kChoices);
  try_to_decode(pipeline, choice(1), chunk, chunk.size() * (1 + choice(2) % 4U));

  engine::Buffer stored = engine::encode(pipeline, chunk);
  if (stored.size() == 0) return 0;  // the filter gains nothing
  std::vector<std::byte> found(chunk.size());
  engine::decode(pipeline, 0, stored.bytes(), found);
  if (!std::ranges::equal(found, chunk)) std::abort();
  stored.bytes()[choice(2) % stored.size()] ^= static_cast<std::byte>(choice(3));
  try_to_decode(pipeline, choice(1), stored.bytes(), chunk.size());
  try_to_decode(pipeline, 0, stored.bytes().first(stored.size() - choice(2) % stored.size()),
                chunk.size());
  return 0;
}
