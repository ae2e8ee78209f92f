// The dataspaces that HDF5 is given for a box of a dataset.
#pragma once

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "hdf5/id.hpp"
#include "vol/elements.hpp"

namespace headrace::vol {

// A box of a dataset, and the same number of elements row by row in memory.
class BoxSpaces {
 public:
  BoxSpaces(const Elements& elements, const engine::Box& box)
      : rank_(static_cast<int>(elements.rank)) {
    const Numbers dims = numbers(elements.dims);
    const Numbers start = numbers(box.start);
    const Numbers count = numbers(box.count);
    file_ = Id<Kind::dataspace>(h5.Screate_simple(rank_, dims.data(), nullptr));
    memory_ = Id<Kind::dataspace>(h5.Screate_simple(rank_, count.data(), nullptr));
    if (!file_ || !memory_ ||
        h5.Sselect_hyperslab(file_.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                             nullptr) < 0)
      throw Error("HDF5 makes no dataspaces for a box");
  }
  [[nodiscard]] hid_t file() const { return file_.get(); }
  [[nodiscard]] hid_t memory() const { return memory_.get(); }

 private:
  using Numbers = std::array<hsize_t, engine::kMaxRank>;
  static Numbers numbers(const engine::Index& index) {
    Numbers result{};
    std::ranges::copy(index, result.begin());
    return result;
  }
  int rank_;
  Id<Kind::dataspace> file_;
  Id<Kind::dataspace> memory_;
};

}  // namespace headrace::vol
