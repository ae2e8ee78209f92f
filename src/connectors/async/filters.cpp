#include "connectors/async/filters.hpp"

#include <array>
#include <new>

#include "base/events.hpp"
#include "base/log.hpp"
#include "connectors/async/chunk_cache.hpp"
#include "connectors/async/chunk_io.hpp"
#include "connectors/async/file_state.hpp"
#include "connectors/async/selection.hpp"
#include "engine/ordered.hpp"
#include "hdf5/quiet_errors.hpp"

namespace headrace::async {
namespace {

using engine::Buffer;
using engine::Index;
using engine::Piece;

// Where the elements of a piece are in memory. Const is std::byte or const std::byte.
template <typename Byte>
struct Place {
  Byte* data;
  Index strides;
};

// A call that is being carried out.
struct Call {
  Dataset& dataset;
  const Transfer& transfer;
  hid_t dxpl;
  engine::Grid grid;
  Index chunk_strides;

  Call(Dataset& of, const Transfer& what, hid_t list)
      : dataset(of),
        transfer(what),
        dxpl(list),
        grid(of.grid()),
        chunk_strides(engine::strides_of(of.rank, of.chunk, of.element)) {}

  [[nodiscard]] std::size_t elements(const Piece& piece) const {
    return engine::volume(dataset.rank, piece.box.count);
  }

  template <typename Byte>
  [[nodiscard]] Place<Byte> in_program(const Piece& piece, Byte* buffer) const {
    std::size_t offset = transfer.mem_offset;
    for (unsigned d = 0; d < dataset.rank; ++d)
      offset += (piece.box.start[d] - transfer.box.start[d]) * transfer.mem_strides[d];
    return {buffer + offset, transfer.mem_strides};
  }

  template <typename Byte>
  [[nodiscard]] Place<Byte> in_chunk(const Piece& piece, Byte* chunk) const {
    std::size_t offset = 0;
    for (unsigned d = 0; d < dataset.rank; ++d)
      offset += (piece.box.start[d] - piece.origin[d]) * chunk_strides[d];
    return {chunk + offset, chunk_strides};
  }

  [[nodiscard]] Place<std::byte> dense(const Piece& piece, Buffer& buffer,
                                       std::size_t element) const {
    return {buffer.data(), engine::strides_of(dataset.rank, piece.box.count, element)};
  }

  // Room for the elements of a piece in either type.
  [[nodiscard]] Buffer conversion_buffer(const Piece& piece) const {
    return Buffer(elements(piece) * std::max(dataset.element, transfer.mem_element));
  }

  void convert(hid_t from, hid_t to, const Piece& piece, Buffer& buffer) const {
    if (h5.Tconvert(from, to, elements(piece), buffer.data(), nullptr, dxpl) < 0)
      throw Error("HDF5 cannot convert the elements of a chunk");
  }

  void copy(const Piece& piece, std::size_t element, const Place<const std::byte>& from,
            const Place<std::byte>& to) const {
    engine::copy_box(dataset.rank, piece.box.count, element, from.data, from.strides, to.data,
                     to.strides);
  }

  // A piece of a decoded chunk to the program; converted on the way where that is needed, which
  // calls HDF5.
  void deliver(const Piece& piece, const Place<const std::byte>& from, std::byte* program) const {
    if (!transfer.converts) {
      copy(piece, dataset.element, from, in_program(piece, program));
      return;
    }
    Buffer buffer = conversion_buffer(piece);
    copy(piece, dataset.element, from, dense(piece, buffer, dataset.element));
    convert(dataset.type.get(), transfer.mem_type, piece, buffer);
    const Place<std::byte> converted = dense(piece, buffer, transfer.mem_element);
    copy(piece, transfer.mem_element, {converted.data, converted.strides},
         in_program(piece, program));
  }

  void deliver_fill(const Piece& piece, std::byte* program) const {
    if (!dataset.fills) return;  // HDF5 leaves the program's memory as it is
    Buffer chunk(elements(piece) * dataset.element);
    engine::fill_all(dataset.fill, chunk.bytes());
    const Place<std::byte> from = dense(piece, chunk, dataset.element);
    deliver(piece, {from.data, from.strides}, program);
  }
};

// ---- reading

class ReadJob final : public engine::Job {
 public:
  ReadJob(const Call& call, const Piece& piece, StoredChunk stored, std::byte* program, bool keep)
      : call_(call), piece_(piece), stored_(std::move(stored)), program_(program), keep_(keep) {}

  void work() override {
    const Dataset& dataset = call_.dataset;
    if (straight()) {
      const auto to = call_.in_program(piece_, program_);
      engine::decode(dataset.pipeline, stored_.mask, stored_.bytes.bytes(),
                     {to.data, dataset.chunk_bytes});
      return;
    }
    chunk_ = Buffer(dataset.chunk_bytes);
    engine::decode(dataset.pipeline, stored_.mask, stored_.bytes.bytes(), chunk_.bytes());
    if (!call_.transfer.converts) deliver();
  }

  void finish() override {
    if (call_.transfer.converts) deliver();
    if (!keep_) return;
    cache().insert(std::make_shared<CachedChunk>(call_.dataset, piece_, std::move(chunk_)));
  }

 private:
  // Whether the chunk lies in the program's memory as it is.
  [[nodiscard]] bool straight() const {
    if (!piece_.whole || keep_ || call_.transfer.converts) return false;
    for (unsigned d = 0; d < call_.dataset.rank; ++d)
      if (piece_.box.count[d] != 1 && call_.transfer.mem_strides[d] != call_.chunk_strides[d])
        return false;
    return true;
  }

  void deliver() {
    const auto from = call_.in_chunk<const std::byte>(piece_, chunk_.data());
    call_.deliver(piece_, from, program_);
  }

  const Call& call_;
  Piece piece_;
  StoredChunk stored_;
  std::byte* program_;
  bool keep_;
  Buffer chunk_;
};

void read_pieces(const Call& call, std::byte* program) {
  engine::Ordered ordered(window_of(call.dataset));
  engine::Pieces pieces(call.grid, call.transfer.box);
  for (Piece piece; pieces.next(piece);) {
    if (const ChunkRef chunk = cache().find(call.dataset, piece.chunk)) {
      ++statistics().cache_hits;
      call.deliver(piece, call.in_chunk<const std::byte>(piece, chunk->bytes.data()), program);
      continue;
    }
    StoredChunk stored = load_chunk(call.dataset, piece.origin);
    if (stored.bytes.size() == 0)
      call.deliver_fill(piece, program);
    else
      ordered.give(
          std::make_unique<ReadJob>(call, piece, std::move(stored), program, !piece.covers));
  }
  ordered.finish();
}

// ---- writing

// A piece of what the program writes, in the file's type.
struct Source {
  Place<const std::byte> place;
  Buffer converted;  // where it is, unless that is the program's memory
};

Source source_of(const Call& call, const Piece& piece, const std::byte* program) {
  const Place<const std::byte> given = call.in_program(piece, program);
  if (!call.transfer.converts) return {given, Buffer()};
  Buffer buffer = call.conversion_buffer(piece);
  call.copy(piece, call.transfer.mem_element, given,
            call.dense(piece, buffer, call.transfer.mem_element));
  call.convert(call.transfer.mem_type, call.dataset.type.get(), piece, buffer);
  const Place<std::byte> dense = call.dense(piece, buffer, call.dataset.element);
  return {{dense.data, dense.strides}, std::move(buffer)};
}

// A chunk all of which is written.
class WriteJob final : public engine::Job {
 public:
  WriteJob(const Call& call, const Piece& piece, Source source)
      : call_(call), piece_(piece), source_(std::move(source)) {}

  void work() override {
    const Dataset& dataset = call_.dataset;
    Buffer raw;
    std::span<const std::byte> bytes(source_.place.data, dataset.chunk_bytes);
    if (!lies_as_stored()) {
      raw = Buffer(dataset.chunk_bytes);
      if (!piece_.whole) engine::fill_all(dataset.fill, raw.bytes());
      call_.copy(piece_, dataset.element, source_.place, call_.in_chunk(piece_, raw.data()));
      bytes = raw.bytes();
    }
    encoded_ = engine::encode(dataset.pipeline, bytes);
  }

  void finish() override { store_chunk(call_.dataset, piece_.origin, encoded_.bytes()); }

 private:
  [[nodiscard]] bool lies_as_stored() const {
    for (unsigned d = 0; d < call_.dataset.rank; ++d)
      if (piece_.box.count[d] != 1 && source_.place.strides[d] != call_.chunk_strides[d])
        return false;
    return piece_.whole;
  }

  const Call& call_;
  Piece piece_;
  Source source_;
  Buffer encoded_;
};

// A part of a chunk that is not in the cache.
class UpdateJob final : public engine::Job {
 public:
  UpdateJob(const Call& call, const Piece& piece, Source source, StoredChunk stored)
      : call_(call), piece_(piece), source_(std::move(source)), stored_(std::move(stored)) {}

  void work() override {
    const Dataset& dataset = call_.dataset;
    chunk_ = Buffer(dataset.chunk_bytes);
    if (stored_.bytes.size() == 0)
      engine::fill_all(dataset.fill, chunk_.bytes());
    else
      engine::decode(dataset.pipeline, stored_.mask, stored_.bytes.bytes(), chunk_.bytes());
    call_.copy(piece_, dataset.element, source_.place, call_.in_chunk(piece_, chunk_.data()));
  }

  void finish() override {
    const auto chunk = std::make_shared<CachedChunk>(call_.dataset, piece_, std::move(chunk_));
    cache().insert(chunk);
    cache().mark_dirty(chunk);
  }

 private:
  const Call& call_;
  Piece piece_;
  Source source_;
  StoredChunk stored_;
  Buffer chunk_;
};

// A part of a chunk, or all that the array has of it yet: rows may be appended.
void write_part(const Call& call, const Piece& piece, Source source, engine::Ordered& ordered) {
  Dataset& dataset = call.dataset;
  if (const ChunkRef chunk = cache().find(dataset, piece.chunk)) {
    ++statistics().cache_hits;
    call.copy(piece, dataset.element, source.place, call.in_chunk(piece, chunk->bytes.data()));
    cache().mark_dirty(chunk);
    return;
  }
  StoredChunk stored;
  if (piece.covers)
    require_all_filters(dataset, piece.origin);
  else
    stored = load_chunk(dataset, piece.origin);
  require_all_filters(stored.mask);
  ordered.give(std::make_unique<UpdateJob>(call, piece, std::move(source), std::move(stored)));
}

void write_pieces(const Call& call, const std::byte* program) {
  engine::Ordered ordered(window_of(call.dataset));
  engine::Pieces pieces(call.grid, call.transfer.box);
  for (Piece piece; pieces.next(piece);) {
    Source source = source_of(call, piece, program);
    const bool alone = piece.box.count == call.transfer.box.count;
    if (!piece.covers || (!piece.whole && alone && cache().fits(call.dataset))) {
      write_part(call, piece, std::move(source), ordered);
    } else {
      cache().drop(call.dataset, piece.chunk);
      require_all_filters(call.dataset, piece.origin);
      ordered.give(std::make_unique<WriteJob>(call, piece, std::move(source)));
    }
  }
  ordered.finish();
}

// ---- what is left to HDF5

struct Ours {
  std::shared_ptr<Dataset> dataset;
  std::optional<Transfer> transfer;
};

Ours ours(vol::Object& object, hid_t mem_type, hid_t mem_space, hid_t file_space, hid_t dxpl,
          const void* buffer) {
  Ours result{dataset_of(object), std::nullopt};
  if (result.dataset == nullptr || buffer == nullptr) return result;
  Dataset& dataset = *result.dataset;
  result.transfer = transfer_of(dataset, object, mem_type, mem_space, file_space, dxpl);
  // Parts of chunks that cannot be kept would be decoded once for each part, as HDF5 does; which
  // may have the larger cache.
  if (result.transfer && !cache().fits(dataset) && !dataset.grid().aligned(result.transfer->box))
    result.transfer.reset();
  if (result.transfer) dataset.handle = &object;
  return result;
}

Taken leave_to_hdf5(const Ours& ours, bool writes) {
  ++statistics().native_calls;
  settle();
  if (writes && ours.dataset != nullptr) {
    cache().drop(*ours.dataset);
    ours.dataset->fresh = false;  // HDF5 leaves out a filter that gains nothing
  }
  return Taken::left_to_hdf5;
}

}  // namespace

Taken read_chunks(vol::Object& object, hid_t mem_type, hid_t mem_space, hid_t file_space,
                  hid_t dxpl, void* buffer) {
  const Ours call = ours(object, mem_type, mem_space, file_space, dxpl, buffer);
  if (!call.transfer) return leave_to_hdf5(call, false);
  try {
    const Aside aside;
    read_pieces(Call(*call.dataset, *call.transfer, dxpl), static_cast<std::byte*>(buffer));
    return Taken::done;
  } catch (const std::exception& error) {
    // HDF5 finds the error itself, if there is one, and tells it in its own words.
    log(Level::info, describe(object) + " is read by HDF5: " + error.what());
  }
  return leave_to_hdf5(call, false);
}

Taken write_chunks(vol::Object& object, hid_t mem_type, hid_t mem_space, hid_t file_space,
                   hid_t dxpl, const void* buffer) {
  const Ours call = ours(object, mem_type, mem_space, file_space, dxpl, buffer);
  if (!call.transfer || !may_write(*object.connector)) return leave_to_hdf5(call, true);
  try {
    const Aside aside;
    write_pieces(Call(*call.dataset, *call.transfer, dxpl), static_cast<const std::byte*>(buffer));
    return Taken::done;
  } catch (const std::exception& error) {
    log(Level::info, describe(object) + " is written by HDF5: " + error.what());
  }
  return leave_to_hdf5(call, true);
}

void settle() noexcept { cache().settle(); }

void distrust(const vol::Object& object, bool masks) {
  extents_may_have_changed();
  const auto dataset = known_dataset_of(object);
  for_each_dataset([&](Dataset& one) {
    if (dataset != nullptr && &one != dataset.get()) return;
    cache().drop(one);
    if (masks) one.fresh = false;
  });
}

bool only_grows(const vol::Object& object, const hsize_t* extent) {
  const auto dataset = known_dataset_of(object);
  if (dataset == nullptr || !extent_known(*dataset) || extent[0] < dataset->dims[0]) return false;
  for (unsigned d = 1; d < dataset->rank; ++d)
    if (extent[d] != dataset->dims[d]) return false;
  extents_may_have_changed();
  return true;
}

void let_go(const vol::Object& object) {
  const auto dataset = known_dataset_of(object);
  if (dataset != nullptr && dataset->handle == &object) dataset->handle = nullptr;
}

void report_filters() {
  const Statistics done = std::exchange(statistics(), {});
  const std::array<std::pair<std::string_view, std::uint64_t>, 6> values{{
      {"chunks_encoded", done.encoded},
      {"encoded_bytes", done.encoded_bytes},
      {"chunks_decoded", done.decoded},
      {"decoded_bytes", done.decoded_bytes},
      {"chunk_cache_hits", done.cache_hits},
      {"calls_left_to_hdf5", done.native_calls},
  }};
  report_statistics(Seat::vol, "headrace_async", "", values);
}

}  // namespace headrace::async
