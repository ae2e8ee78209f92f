#include "engine/merge.hpp"

#include <algorithm>
#include <utility>

namespace headrace::engine {
namespace {

std::uint64_t end_of(const Box& box, unsigned d) { return box.start[d] + box.count[d]; }

bool meet(unsigned rank, const Box& a, const Box& b) {
  for (unsigned d = 0; d < rank; ++d)
    if (a.start[d] >= end_of(b, d) || b.start[d] >= end_of(a, d)) return false;
  return true;
}

bool contains(unsigned rank, const Box& outer, const Box& inner) {
  for (unsigned d = 0; d < rank; ++d)
    if (inner.start[d] < outer.start[d] || end_of(inner, d) > end_of(outer, d)) return false;
  return true;
}

// Orders boxes by all dimensions but `along`, then by their start in that.
struct Rows {
  unsigned rank;
  unsigned along;
  [[nodiscard]] int compare_others(const Box& a, const Box& b) const {
    for (unsigned d = 0; d < rank; ++d) {
      if (d == along) continue;
      if (a.start[d] != b.start[d]) return a.start[d] < b.start[d] ? -1 : 1;
      if (a.count[d] != b.count[d]) return a.count[d] < b.count[d] ? -1 : 1;
    }
    return 0;
  }
  bool operator()(const MergedBox& a, const MergedBox& b) const {
    const int others = compare_others(a.box, b.box);
    return others != 0 ? others < 0 : a.box.start[along] < b.box.start[along];
  }
};

void absorb(MergedBox& whole, const MergedBox& part) {
  whole.parts.insert(whole.parts.end(), part.parts.begin(), part.parts.end());
}

void merge_along(const Rows& rows, std::vector<MergedBox>& boxes) {
  std::ranges::sort(boxes, rows);
  std::size_t kept = 0;
  const unsigned d = rows.along;
  for (std::size_t i = 1; i < boxes.size(); ++i) {
    MergedBox& last = boxes[kept];
    const Box& next = boxes[i].box;
    if (rows.compare_others(last.box, next) == 0 && next.start[d] <= end_of(last.box, d)) {
      last.box.count[d] = std::max(end_of(last.box, d), end_of(next, d)) - last.box.start[d];
      absorb(last, boxes[i]);
    } else if (++kept != i) {
      boxes[kept] = std::move(boxes[i]);
    }
  }
  boxes.resize(kept + 1);
}

// Sweeps along the first dimension: only boxes that reach as far are compared.
void absorb_nested(unsigned rank, MergedBoxes& merged) {
  std::ranges::sort(merged.boxes, [](const MergedBox& a, const MergedBox& b) {
    return a.box.start[0] != b.box.start[0] ? a.box.start[0] < b.box.start[0]
                                            : a.box.count[0] > b.box.count[0];
  });
  std::vector<MergedBox> kept;
  std::vector<std::size_t> reaching;
  for (MergedBox& next : merged.boxes) {
    std::erase_if(reaching,
                  [&](std::size_t i) { return end_of(kept[i].box, 0) <= next.box.start[0]; });
    const auto outer = std::ranges::find_if(
        reaching, [&](std::size_t i) { return contains(rank, kept[i].box, next.box); });
    if (outer != reaching.end()) {
      absorb(kept[*outer], next);
      continue;
    }
    merged.overlap = merged.overlap || std::ranges::any_of(reaching, [&](std::size_t i) {
                       return meet(rank, kept[i].box, next.box);
                     });
    reaching.push_back(kept.size());
    kept.push_back(std::move(next));
  }
  merged.boxes = std::move(kept);
}

}  // namespace

MergedBoxes merge(unsigned rank, std::span<const Box> boxes) {
  MergedBoxes merged;
  for (std::uint32_t i = 0; i < boxes.size(); ++i) merged.boxes.push_back({boxes[i], {i}});
  if (boxes.size() < 2 || rank == 0) return merged;
  for (unsigned d = rank; d-- > 0;) merge_along({rank, d}, merged.boxes);
  if (merged.boxes.size() > 1) absorb_nested(rank, merged);
  for (MergedBox& one : merged.boxes) std::ranges::sort(one.parts);
  return merged;
}

}  // namespace headrace::engine
