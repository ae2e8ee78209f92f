#include "connectors/log/sequences.hpp"

#include <array>

namespace headrace::log_layout {
namespace {

struct Iterator {
  explicit Iterator(hid_t space) : id(h5.Ssel_iter_create(space, 1, 0)) {}
  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;
  ~Iterator() {
    if (id >= 0) h5.Ssel_iter_close(id);
  }
  hid_t id;
};

// HDF5 lists rows in parts; a row that goes on in the next part is one.
void append(std::vector<engine::Run>& runs, hsize_t first, std::size_t count) {
  if (!runs.empty() && runs.back().first + runs.back().count == first)
    runs.back().count += count;
  else
    runs.push_back({first, count});
}

}  // namespace

std::optional<std::vector<engine::Run>> sequences_of(hid_t space, std::size_t most) {
  constexpr std::size_t kPart = 1024;
  const hssize_t selected = h5.Sget_select_npoints(space);
  if (selected <= 0 || h5.Sselect_valid(space) <= 0) return std::nullopt;
  auto left = static_cast<std::size_t>(selected);
  const Iterator iterator(space);
  if (iterator.id < 0) return std::nullopt;
  std::vector<engine::Run> runs;
  std::array<hsize_t, kPart> first;
  std::array<std::size_t, kPart> count;
  while (left > 0) {
    std::size_t rows = 0;
    std::size_t elements = 0;
    if (h5.Ssel_iter_get_seq_list(iterator.id, kPart, left, &rows, &elements, first.data(),
                                  count.data()) < 0 ||
        elements == 0 || elements > left)
      return std::nullopt;
    for (std::size_t i = 0; i < rows; ++i) append(runs, first.at(i), count.at(i));
    if (runs.size() > most) return std::nullopt;
    left -= elements;
  }
  return runs;
}

}  // namespace headrace::log_layout
