// Where the chunks of a dataset are kept: in the store, or one in the header. The program's thread
// only; throws Error.
#pragma once

#include "objects/container.hpp"
#include "objects/pending_chunks.hpp"

namespace headrace::object {

using objects::Coordinates;

class Chunks {
 public:
  Chunks() = default;
  Chunks(const Chunks&) = delete;
  Chunks& operator=(const Chunks&) = delete;
  virtual ~Chunks() = default;

  using Deliver = objects::PendingChunks::Deliver;
  using Put = objects::PutElements;
  using Touched = objects::Touched;
  // As the functions of PendingChunks.
  virtual void read(const Coordinates& at, std::span<std::byte> chunk) = 0;
  virtual void read_all(std::span<const Coordinates> all, const Deliver& deliver) = 0;
  virtual void write(const Coordinates& at, engine::Buffer chunk) = 0;
  virtual void write_part(const Coordinates& at, const Put& put, const Touched& touched) = 0;
  virtual void flush() = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;
  // The dataset has shrunk.
  virtual void cut(const objects::Header& header) = 0;
};

// Those in the store.
class StoredChunks final : public Chunks {
 public:
  // The codec outlives the object.
  StoredChunks(store::Store& store, const objects::Codec& codec, objects::ChunksOf dataset)
      : chunks_(store, codec, std::move(dataset)) {}

  void read(const Coordinates& at, std::span<std::byte> chunk) override { chunks_.read(at, chunk); }
  void read_all(std::span<const Coordinates> all, const Deliver& deliver) override {
    chunks_.read_all(all, deliver);
  }
  void write(const Coordinates& at, engine::Buffer chunk) override {
    chunks_.write(at, std::move(chunk));
  }
  void write_part(const Coordinates& at, const Put& put, const Touched& touched) override {
    chunks_.write_part(at, put, touched);
  }
  void flush() override { chunks_.flush(); }
  [[nodiscard]] std::size_t size() const override { return chunks_.size(); }
  void cut(const objects::Header& header) override {
    chunks_.cut(header.epoch, header.dims, header.cuts);
  }

  // As they are stored, with what is pending.
  objects::PendingChunks& stored() { return chunks_; }

 private:
  objects::PendingChunks chunks_;
};

// The only chunk of a small dataset.
class ChunkInHeader final : public Chunks {
 public:
  // The container outlives the object.
  ChunkInHeader(objects::Container& container, objects::Handle dataset, std::size_t chunk_bytes,
                std::vector<std::byte> fill)
      : container_(container),
        dataset_(std::move(dataset)),
        chunk_bytes_(chunk_bytes),
        fill_(std::move(fill)) {}

  void read(const Coordinates& at, std::span<std::byte> chunk) override;
  void read_all(std::span<const Coordinates> all, const Deliver& deliver) override;
  void write(const Coordinates& at, engine::Buffer chunk) override;
  void write_part(const Coordinates& at, const Put& put, const Touched& touched) override;
  void flush() override {}
  [[nodiscard]] std::size_t size() const override { return 0; }
  void cut(const objects::Header& /*header*/) override {}

 private:
  objects::Container& container_;
  objects::Handle dataset_;
  std::size_t chunk_bytes_;
  std::vector<std::byte> fill_;
};

}  // namespace headrace::object
