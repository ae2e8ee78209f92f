#include "layers/model/driver/statistics.hpp"

#include <string_view>

#include "base/report/json.hpp"
#include "model/quantity.hpp"

namespace headrace::model {
namespace {

struct Bound {
  std::string_view name;
  std::uint64_t below;
};

constexpr std::array<Bound, Statistics::kSizes> kBounds{{{"<1KiB", 1ULL << 10},
                                                         {"<4KiB", 1ULL << 12},
                                                         {"<64KiB", 1ULL << 16},
                                                         {"<1MiB", 1ULL << 20},
                                                         {"<4MiB", 1ULL << 22},
                                                         {"<64MiB", 1ULL << 26},
                                                         {">=64MiB", ~0ULL}}};

}  // namespace

void Statistics::add(std::uint64_t offset, std::uint64_t length, std::uint64_t span,
                     bool metadata) {
  ++requests;
  bytes += length;
  ++(offset == end_ ? sequential : seeks);
  end_ = offset + span;
  if (metadata) {
    ++metadata_requests;
    metadata_bytes += length;
  }
  std::size_t size = 0;
  while (length >= kBounds.at(size).below) ++size;
  ++sizes.at(size);
}

std::string Statistics::json() const {
  const auto number = [](std::uint64_t value) { return static_cast<long long>(value); };
  return JsonObject()
      .number("requests", number(requests))
      .number("bytes", number(bytes))
      .number("sequential", number(sequential))
      .number("seeks", number(seeks))
      .number("metadata_requests", number(metadata_requests))
      .number("metadata_bytes", number(metadata_bytes))
      .raw("seconds", json_number(static_cast<double>(nanoseconds) / 1e9))
      .number("calls", number(calls))
      .str();
}

std::string Statistics::sizes_json() const {
  JsonObject object;
  for (std::size_t i = 0; i < kSizes; ++i)
    object.number(kBounds.at(i).name, static_cast<long long>(sizes.at(i)));
  return object.str();
}

}  // namespace headrace::model
