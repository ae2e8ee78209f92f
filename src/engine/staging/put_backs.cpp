#include "engine/staging/put_backs.hpp"

#include <algorithm>

namespace headrace::engine::staging {

bool PutBacks::go_forward(std::uint64_t offset, std::uint64_t end) {
  constexpr std::uint64_t kNear = std::uint64_t{1} << 16U;  // HDF5's default buffer
  constexpr unsigned kMany = 12;  // of writes in a random order, three in five go forward
  auto place = std::ranges::find_if(
      ends_, [&](std::uint64_t last) { return offset >= last && offset - last <= kNear; });
  const bool forward = place != ends_.end() || offset >= ends_.front();
  forward_ = forward ? forward_ + 1 : 0;
  if (place == ends_.end()) --place;
  std::rotate(ends_.begin(), place, place + 1);
  ends_.front() = end;
  return forward_ >= kMany;
}

}  // namespace headrace::engine::staging
