#include "model/two_phase.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace headrace::model {

void TwoPhase::add(Kind kind, std::uint32_t file, std::uint64_t offset, std::uint64_t length,
                   std::uint64_t span) {
  kind_ = kind;
  extents_.push_back({file, offset, offset + span});
  bytes_ += length;
  client_bytes_ += length;
  most_ = std::max(most_, client_bytes_);
}

std::uint64_t TwoPhase::merge() {
  std::ranges::sort(extents_, [](const Extent& a, const Extent& b) {
    return std::tie(a.file, a.begin, a.end) < std::tie(b.file, b.begin, b.end);
  });
  std::vector<Extent> merged;
  for (const Extent& extent : extents_) {
    if (!merged.empty() && merged.back().file == extent.file && extent.begin <= merged.back().end)
      merged.back().end = std::max(merged.back().end, extent.end);
    else
      merged.push_back(extent);
  }
  extents_ = std::move(merged);
  std::uint64_t covered = 0;
  for (const Extent& extent : extents_) covered += extent.end - extent.begin;
  return covered;
}

double TwoPhase::run(Machine& machine, std::uint32_t clients, double ready) {
  const std::uint64_t covered = merge();
  if (covered == 0) return ready;
  // Scattered requests tell their span only; together the ranks usually fill it.
  const double filled = std::min(1.0, static_cast<double>(bytes_) / static_cast<double>(covered));
  const Parameters& parameters = machine.parameters();
  const std::uint32_t aggregators = std::min(parameters.used_servers(), clients);
  // First the ranks and the aggregators exchange what they have.
  const double start = ready + parameters.sending(std::max(most_, bytes_ / aggregators));
  std::vector<double> links(aggregators, start);
  double end = start;
  for (const Extent& extent : extents_) {
    for (std::uint64_t at = extent.begin; at < extent.end;) {
      Piece piece = first_piece(parameters, extent.file, at, extent.end - at);
      at += piece.bytes;
      piece.bytes =
          static_cast<std::uint64_t>(std::ceil(static_cast<double>(piece.bytes) * filled));
      const auto index =
          static_cast<std::uint32_t>(piece.stripe % parameters.used_servers() % aggregators);
      const auto client = static_cast<std::uint32_t>(std::uint64_t{index} * clients / aggregators);
      const double served = machine.serve(client, kind_, piece, links[index]);
      links[index] += parameters.sending(piece.bytes);
      end = std::max({end, served, links[index]});
    }
  }
  return end;
}

}  // namespace headrace::model
