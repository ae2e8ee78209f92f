#include <algorithm>
#include <cmath>

#include "disk.hpp"

namespace headrace::model {

// Weighted least squares: dividing by the time makes a microsecond of a small request count as much
// as a millisecond of a large one.
Line fit(std::span<const double> sizes, std::span<const double> times) {
  double w = 0;
  double wx = 0;
  double wy = 0;
  double wxx = 0;
  double wxy = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double weight = 1 / (times[i] * times[i]);
    w += weight;
    wx += weight * sizes[i];
    wy += weight * times[i];
    wxx += weight * sizes[i] * sizes[i];
    wxy += weight * sizes[i] * times[i];
  }
  const double determinant = w * wxx - wx * wx;
  const double slope = determinant > 0 ? (w * wxy - wx * wy) / determinant : 0;
  const double latency = slope > 0 ? (wy - slope * wx) / w : wy / w;
  return {std::max(latency, 0.0), slope > 0 ? 1 / slope : 0};
}

}  // namespace headrace::model
