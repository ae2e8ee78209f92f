// Reads and writes of boxes of a dataset through the connector below, on a connector's own account.
//
// Memory holds the box row by row. The functions return false when HDF5 refuses; its error stack
// then says why. They throw Error when there is no memory for dataspaces. The program's thread
// only; outside of a call of the program within a LibraryContext.
#pragma once

#include <cstddef>
#include <span>

#include "vol/dataset/box_spaces.hpp"
#include "vol/dataset/elements.hpp"

namespace headrace::vol {

// How a box is transferred.
struct BoxTransfer {
  hid_t type = kInvalidId;  // in memory; that of the dataset where none is given
  hid_t list = kInvalidId;  // transfer properties; HDF5's default where none are given
};

bool read_box(Object& dataset, const Elements& elements, const engine::Box& box, std::byte* to,
              const BoxTransfer& how = {});
bool write_box(Object& dataset, const Elements& elements, const engine::Box& box,
               const std::byte* from, const BoxTransfer& how = {});

// No more of the box than some parts of it, which do not overlap; without parts nothing, as a rank
// does that takes part in what others transfer.
bool write_parts(Object& dataset, const Elements& elements, const engine::Box& box,
                 std::span<const engine::Box> parts, const std::byte* from,
                 const BoxTransfer& how = {});

// With the first transfer of a chunked dataset, also an independent one, HDF5 reads where its
// chunks are. Where metadata is read collectively ranks wait for each other then: so all that have
// opened the dataset make a transfer of nothing before one of them goes on alone.
void read_nothing(Object& dataset, Elements& elements);

}  // namespace headrace::vol
