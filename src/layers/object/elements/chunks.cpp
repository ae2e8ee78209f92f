#include "layers/object/elements/chunks.hpp"

#include <cstring>

#include "base/error.hpp"

namespace headrace::object {

void ChunkInHeader::read(const Coordinates& /*at*/, std::span<std::byte> chunk) {
  const auto& data = dataset_->header().data;
  if (!data) return engine::fill_all(fill_, chunk);
  if (data->size() != chunk.size())
    throw Error("the elements in the header are cut off", ErrorKind::corrupt);
  std::memcpy(chunk.data(), data->data(), chunk.size());
}

void ChunkInHeader::read_all(std::span<const Coordinates> all, const Deliver& deliver) {
  engine::Buffer chunk(chunk_bytes_);
  for (std::size_t i = 0; i < all.size(); ++i) {
    read(all[i], chunk.bytes());
    deliver(i, chunk.data());
  }
}

void ChunkInHeader::write(const Coordinates& /*at*/, engine::Buffer chunk) {
  container_.change(dataset_).data.emplace(reinterpret_cast<const char*>(chunk.data()),
                                           chunk.size());
}

void ChunkInHeader::write_part(const Coordinates& at, const Put& put, const Touched& /*touched*/) {
  engine::Buffer chunk(chunk_bytes_);
  read(at, chunk.bytes());
  put(chunk.data(), nullptr);
  write(at, std::move(chunk));
}

}  // namespace headrace::object
