// A read or write of a dataset whose chunks are cached, part by part.
#pragma once

#include "layers/async/connector/dataset.hpp"
#include "vol/chunks/parts.hpp"

namespace headrace::async {

using vol::Part;
using vol::Parts;
using vol::Source;

class ChunkTransfer : public vol::ChunkTransfer {
 public:
  // The dataset and the transfer must outlive the object.
  ChunkTransfer(Dataset& of, const Transfer& what, hid_t list)
      : vol::ChunkTransfer(of, what, list), dataset_(of) {}
  [[nodiscard]] Dataset& dataset() const { return dataset_; }

 private:
  Dataset& dataset_;
};

// All parts of a transfer. `program`: its buffer. Throws when HDF5 must do it, or tell what is
// wrong.
void read_parts(const ChunkTransfer& transfer, std::byte* program);
void write_parts(const ChunkTransfer& transfer, const std::byte* program);

}  // namespace headrace::async
