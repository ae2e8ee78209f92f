// What of a read is done for the next ones.
#include <algorithm>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "engine/codec/pipeline.hpp"
#include "engine/reading/pieces.hpp"
#include "engine/threads/thread_pool.hpp"
#include "layers/cache/connector/reading.hpp"
#include "layers/cache/connector/statistics.hpp"
#include "vol/chunks/reader.hpp"

namespace headrace::cache {

using engine::cache::Claim;

namespace {

// Decodes a chunk that nobody has asked for yet.
class AheadJob : public engine::Job {
 public:
  AheadJob(engine::Pipeline pipeline, const Filled& filled, vol::StoredChunk stored, Claim claim)
      : pipeline_(std::move(pipeline)),
        filled_(filled),
        stored_(std::move(stored)),
        claim_(std::move(claim)) {}

  // What is wrong with it is told when it is asked for.
  void work() override {
    const auto error = error_of(
        [&] { engine::decode(pipeline_, stored_.mask, stored_.bytes.bytes(), claim_.bytes()); });
    done_ = error == nullptr;
    stored_ = {};  // finish() may be long in coming
    if (done_)
      claim_.publish();
    else
      claim_.abandon();
  }
  void finish() override {
    if (done_) filled_.note();
  }

 private:
  engine::Pipeline pipeline_;
  Filled filled_;
  vol::StoredChunk stored_;
  Claim claim_;
  bool done_ = false;
};

}  // namespace

// Chunks of the next calls: what goes wrong is no error of this one. Not of calls that leave chunks
// out between others, as a region of rows does: the next ones may want others.
void Reading::decode_ahead(const Uses::Call& call) {
  const std::uint64_t count = call.last + 1 - call.first;
  const std::uint64_t most =
      std::min(std::max<std::uint64_t>(engine::workers(), count), in_a_sixteenth(bytes()));
  error_of([&] {
    dataset_.ahead->jobs().finish_done();
    if (call.bytes != count * bytes()) return;
    dataset_.ahead->note(call.first, call.last, engine::count_chunks(transfer_.grid()), most,
                         [&](std::uint64_t chunk) { decode_ahead(chunk); });
  });
}

// What the program has said comes next, the chunk that it wants now among it.
void Reading::follow_order(std::uint64_t chunk) {
  const std::uint64_t most =
      std::min(std::uint64_t{4} * engine::workers(), in_a_sixteenth(bytes()));
  error_of([&] {
    dataset_.ahead->follow_order(chunk, most, [&](std::uint64_t next) { decode_ahead(next); });
  });
}

void Reading::decode_ahead(std::uint64_t chunk) {
  Claim claim = store().claim({dataset_.key, chunk}, bytes());
  if (!claim) return;
  NodeDisk* const disk = this->disk();
  if (disk != nullptr && disk->store().load({dataset_.on_disk, chunk}, claim.bytes())) {
    claim.publish();
    ++statistics().from_disk;
    statistics().from_disk_bytes += bytes();
    return;
  }
  auto stored = vol::load_chunk(dataset_.chunked, {object_.under, object_.connector->id()},
                                engine::origin_of(transfer_.grid(), chunk));
  if (stored.bytes.size() == 0 || !dataset_.file.is_unchanged()) return;
  dataset_.ahead->jobs().give(std::make_unique<AheadJob>(dataset_.chunked.pipeline, filled(chunk),
                                                         std::move(stored), std::move(claim)));
}

}  // namespace headrace::cache
