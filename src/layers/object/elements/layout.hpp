// How the elements of a dataset lie in chunks, whatever layout the program has chosen. The
// program's thread only; throws Error.
#pragma once

#include "objects/format/header.hpp"
#include "vol/chunks/chunked.hpp"

namespace headrace::object {

struct Layout {
  // Of a dataset without dimensions those of one with a single one, of one element; of a null
  // dataspace of no element. The dims are those of its last resize that is known.
  vol::Chunked chunks;
  H5D_layout_t program = H5D_LAYOUT_ERROR;  // as the creation list says
  bool in_header = false;                   // all elements are one chunk, kept in the header

  // Bytes of all elements; of a contiguous or compact dataset.
  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] std::uint64_t count_chunks() const;
};

// All but the fill value.
Layout layout_of(const objects::Header& header, hid_t dcpl, hid_t file_type);

// Takes the extent anew.
void update_dims(const objects::Header& header, vol::Chunked& chunks);

}  // namespace headrace::object
