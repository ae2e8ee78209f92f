// A read or write of a dataset, chunk by chunk. The program's thread only; throws Error.
#pragma once

#include "layers/object/elements/chunks.hpp"
#include "layers/object/elements/conversion.hpp"
#include "layers/object/elements/selection.hpp"
#include "vol/chunks/parts.hpp"

namespace headrace::object {

class Transfer {
 public:
  // All outlive the object. `array`: the dims are those of the file selection's dataspace.
  // `conversion`: the one way that is called for.
  Transfer(const vol::Chunked& array, Chunks& chunks, const Conversion& conversion)
      : array_(array), chunks_(chunks), conversion_(conversion) {}

  void read(const Selection& selection, std::size_t mem_element, std::byte* buffer);
  // `is_extent`: the array's dims are those of the dataset; `may_flush`: much that is pending may
  // be stored meanwhile.
  void write(const Selection& selection, std::size_t mem_element, bool is_extent, bool may_flush,
             const std::byte* buffer);

 private:
  // What is transferred at a time.
  template <typename Do>
  void each(const Selection& selection, std::size_t mem_element, const Do& act) const;
  void read_chunks(const vol::ChunkTransfer& transfer, std::byte* buffer) const;
  void deliver(const vol::ChunkTransfer& transfer, const vol::Part& part, const std::byte* chunk,
               std::byte* buffer) const;
  void write_chunk(const vol::ChunkTransfer& transfer, const vol::Part& part, bool is_extent,
                   const std::byte* buffer) const;
  [[nodiscard]] vol::Source source(const vol::ChunkTransfer& transfer, const vol::Part& part,
                                   const std::byte* buffer, engine::Buffer& room) const;
  [[nodiscard]] Coordinates at(const vol::Part& part) const;

  const vol::Chunked& array_;
  Chunks& chunks_;
  const Conversion& conversion_;
};

}  // namespace headrace::object
