#include "layers/async/connector/chunks/mapped_reads.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/error.hpp"
#include "engine/reading/pace.hpp"
#include "engine/reading/pieces.hpp"
#include "engine/threads/thread_pool.hpp"
#include "layers/async/connector/chunks/cache.hpp"
#include "layers/async/connector/chunks/chunk_maps.hpp"
#include "layers/async/connector/chunks/read.hpp"
#include "layers/async/connector/file_state.hpp"
#include "layers/async/connector/statistics.hpp"

namespace headrace::async {
namespace {

using engine::Buffer;
using engine::Stretch;
using engine::WantedChunk;

constexpr std::uint64_t kFewestAtOnce = 64;  // chunks of a read that makes a map for itself alone
// To find a chunk and read it costs HDF5 some ten times what it costs to put it into a map.
constexpr std::uint64_t kPart = 4;

std::uint64_t chunks_of(const Dataset& dataset, const Transfer& transfer) {
  if (!transfer.is_scattered())
    return engine::count_pieces(dataset.grid(), transfer.box, transfer.step);
  std::uint64_t count = 0;
  engine::each_chunk(transfer.fragments, [&](std::span<const engine::Fragment>) { ++count; });
  return count;
}

// Decodes the chunks of a stretch.
class StretchJob final : public engine::Job {
 public:
  StretchJob(const ChunkTransfer& transfer, const Stretch& stretch, Buffer bytes,
             std::byte* program)
      : transfer_(transfer), stretch_(stretch), bytes_(std::move(bytes)), program_(program) {}

  void work() override {
    for (const WantedChunk& one : stretch_.chunks) {
      const Part part = transfer_.part_in(one.chunk, one.tag);
      decoded_.push_back(decode_part(
          transfer_, part, bytes_.bytes().subspan(one.address - stretch_.address, one.size),
          one.mask, program_, is_kept(transfer_, part)));
    }
  }

  void finish() override {
    for (std::size_t i = 0; i < decoded_.size(); ++i) {
      if (decoded_[i].size() == 0) continue;
      const WantedChunk& one = stretch_.chunks[i];
      finish_part(transfer_, transfer_.part_in(one.chunk, one.tag), one.mask,
                  std::move(decoded_[i]), program_);
    }
  }

 private:
  const ChunkTransfer& transfer_;
  Stretch stretch_;
  Buffer bytes_;
  std::byte* program_;
  std::vector<Buffer> decoded_;
};

class MappedRead {
 public:
  MappedRead(const ChunkTransfer& transfer, const MappedFile& file, std::byte* program)
      : transfer_(transfer), dataset_(transfer.dataset()), file_(file), program_(program) {}

  void read(const engine::ChunkMap& map) {
    constexpr std::size_t kMostWanted = 64U << 10U;
    engine::ChunkMap::Finder finder(map);
    Parts parts(transfer_);
    std::size_t fragment = 0;
    const bool looks = !dataset_.pipeline.empty() && cache().cached(dataset_) > 0;
    for (Part part; parts.next(part); fragment += part.fragments.size()) {
      if (looks && deliver_cached(transfer_, part, program_)) continue;
      if (const engine::ChunkAddress* const stored = finder.find(part.chunk))
        wanted_.push_back({*stored, static_cast<std::uint32_t>(fragment)});
      else
        transfer_.deliver_fill(part, program_);
      if (wanted_.size() == kMostWanted) read_wanted();
    }
    if (!wanted_.empty()) read_wanted();
  }

  [[nodiscard]] bool slow() const { return engine::reading::is_slow(bytes_, time_, requests_); }

 private:
  void read_wanted() {
    if (!std::ranges::is_sorted(wanted_, {}, &WantedChunk::address))
      std::ranges::sort(wanted_, {}, &WantedChunk::address);
    statistics().mapped_chunks += wanted_.size();
    if (dataset_.pipeline.empty())
      copy_wanted();
    else
      decode_wanted();
    wanted_.clear();
  }

  void copy_wanted() {
    constexpr std::size_t kMostBytes = 1U << 20U;
    Buffer bytes;
    for (std::span<const WantedChunk> rest(wanted_); !rest.empty();) {
      const Stretch stretch = engine::first_stretch(rest, rest.size(), kMostBytes);
      if (bytes.size() < stretch.size) bytes = Buffer(std::max(stretch.size, kMostBytes / 4));
      read(stretch, bytes.data());
      for (const WantedChunk& one : stretch.chunks)
        transfer_.deliver(transfer_.part_in(one.chunk, one.tag),
                          bytes.data() + (one.address - stretch.address), program_);
      rest = rest.subspan(stretch.chunks.size());
    }
  }

  void decode_wanted() {
    constexpr std::size_t kMostBytes = 256U << 10U;
    constexpr std::size_t kMostDecoded = 1U << 20U;
    constexpr std::size_t kFewest = 8;  // a task costs as much as some chunks
    const std::size_t tasks = 2 * std::size_t{engine::workers()};
    const std::size_t most = std::clamp(wanted_.size() / tasks, kFewest,
                                        std::max(kFewest, kMostDecoded / dataset_.chunk_bytes));
    engine::Ordered ordered(tasks + 2);
    for (std::span<const WantedChunk> rest(wanted_); !rest.empty();) {
      const Stretch stretch = engine::first_stretch(rest, most, kMostBytes);
      Buffer bytes(stretch.size);
      read(stretch, bytes.data());
      statistics().decoded += stretch.chunks.size();
      statistics().decoded_bytes += stretch.chunks.size() * dataset_.chunk_bytes;
      ordered.give(std::make_unique<StretchJob>(transfer_, stretch, std::move(bytes), program_));
      rest = rest.subspan(stretch.chunks.size());
    }
    ordered.finish();
  }

  void read(const Stretch& stretch, std::byte* to) {
    const auto begin = std::chrono::steady_clock::now();
    if (file_.driver->cls->read(file_.driver, H5FD_MEM_DRAW, h5.transfer_list.get(),
                                stretch.address, stretch.size, to) < 0)
      throw Error("the file cannot be read");
    time_ += std::chrono::steady_clock::now() - begin;
    bytes_ += stretch.size;
    ++requests_;
    ++statistics().mapped_requests;
  }

  const ChunkTransfer& transfer_;
  Dataset& dataset_;
  const MappedFile& file_;
  std::byte* program_;
  std::vector<WantedChunk> wanted_;
  std::chrono::nanoseconds time_{};
  std::uint64_t bytes_ = 0;
  std::size_t requests_ = 0;
};

// Data that HDF5 keeps once it has read it, where reading it again would take long.
bool better_kept_by_hdf5(const Dataset& dataset, const Mapping& mapping, std::uint64_t chunks) {
  constexpr unsigned kSlow = 3;  // reads: one may have waited for a core
  return !mapping.fast && mapping.slow_reads >= kSlow && dataset.pipeline.empty() &&
         chunks * dataset.chunk_bytes <= dataset.native_cache;
}

}  // namespace

bool may_gain_by_map(const Dataset& dataset, std::uint64_t chunks, const vol::Object& object) {
  if (dataset.chunk_bytes > kLargestMapped || chunks < kFewestMapped) return false;
  const std::uint64_t all = engine::count_chunks(dataset.grid());
  const bool at_once = std::min(chunks, all) >= kFewestAtOnce && chunks >= all / kPart;
  return all <= kMostMapped && (at_once || !may_write(*object.connector)) &&
         reads_pass_by(*object.connector);
}

bool gains_by_map(const std::shared_ptr<Dataset>& dataset, const Transfer& transfer,
                  const vol::Object& object) {
  const std::uint64_t chunks = chunks_of(*dataset, transfer);
  if (!may_gain_by_map(*dataset, chunks, object) || cache().cached(*dataset) > chunks / 2)
    return false;
  if (dataset->mapping == nullptr) dataset->mapping = mapping_of(*dataset, object);
  Mapping& mapping = *dataset->mapping;
  mapping.update(dataset->grid());
  const std::uint64_t all = engine::count_chunks(dataset->grid());
  const bool at_once = chunks >= kFewestAtOnce && chunks >= all / kPart;
  if (mapping.kept == nullptr) {
    mapping.touched += chunks;
    if (!at_once && (may_write(*object.connector) || mapping.touched < all / kPart)) return false;
  }
  if (!dataset->mappable) dataset->mappable = complete(*dataset, object);
  if (!*dataset->mappable || better_kept_by_hdf5(*dataset, mapping, chunks)) return false;
  if (mapping.kept != nullptr) return true;
  const MappedFile file = mapped_file_of(*dataset, object);
  return file.driver != nullptr && (at_once || (file.constant && may_keep_map(all)));
}

void read_by_map(const ChunkTransfer& transfer, const vol::Object& object, std::byte* program) {
  Dataset& dataset = transfer.dataset();
  store_encoded();
  if (dataset.unstored() > 0) store_chunks(vol::Touched::dataset(dataset.identity));
  const MappedFile file = mapped_file_of(dataset, object);
  if (file.driver == nullptr) throw Error("the file is no longer read past HDF5");
  const auto map = map_of(dataset, *dataset.mapping, file, object);
  MappedRead reading(transfer, file, program);
  reading.read(*map);
  if (reading.slow())
    ++dataset.mapping->slow_reads;
  else
    dataset.mapping->fast = true;
  ++statistics().mapped_reads;
}

}  // namespace headrace::async
