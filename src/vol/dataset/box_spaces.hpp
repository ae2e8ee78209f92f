// The dataspaces that HDF5 is given for a box of a dataset.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "base/error.hpp"
#include "hdf5/id.hpp"
#include "vol/dataset/elements.hpp"

namespace headrace::vol {

// A box of a dataset, and the same number of elements row by row in memory.
class BoxSpaces {
 public:
  BoxSpaces(const Elements& elements, const engine::Box& box) : box_(box), rank_(elements.rank) {
    const Numbers dims = numbers(elements.dims);
    const Numbers start = numbers(box.start);
    const Numbers count = numbers(box.count);
    file_ = Id<Kind::dataspace>(h5.Screate_simple(rank(), dims.data(), nullptr));
    memory_ = Id<Kind::dataspace>(h5.Screate_simple(rank(), count.data(), nullptr));
    if (!file_ || !memory_ ||
        h5.Sselect_hyperslab(file_.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                             nullptr) < 0)
      throw Error("HDF5 makes no dataspaces for a box");
  }
  // No more of the box than some parts of it, which do not overlap.
  void select(std::span<const engine::Box> parts) {
    bool done = h5.Sselect_none(file_.get()) >= 0 && h5.Sselect_none(memory_.get()) >= 0;
    for (const engine::Box& part : parts) {
      engine::Index inside{};
      for (unsigned d = 0; d < rank_; ++d) inside[d] = part.start[d] - box_.start[d];
      done = done && add(file_, part.start, part.count) && add(memory_, inside, part.count);
    }
    if (!done) throw Error("HDF5 makes no dataspaces for parts of a box");
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
  [[nodiscard]] int rank() const { return static_cast<int>(rank_); }
  static bool add(const Id<Kind::dataspace>& space, const engine::Index& from,
                  const engine::Index& size) {
    const Numbers start = numbers(from);
    const Numbers count = numbers(size);
    return h5.Sselect_hyperslab(space.get(), H5S_SELECT_OR, start.data(), nullptr, count.data(),
                                nullptr) >= 0;
  }

  engine::Box box_;
  unsigned rank_;
  Id<Kind::dataspace> file_;
  Id<Kind::dataspace> memory_;
};

}  // namespace headrace::vol
