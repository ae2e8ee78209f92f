#include "connectors/async/chunks/reads_behind.hpp"

#include <limits>
#include <new>

#include "connectors/async/chunks/cache.hpp"
#include "connectors/async/chunks/closings.hpp"
#include "connectors/async/chunks/read.hpp"
#include "connectors/async/requests/request.hpp"
#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/box_io.hpp"

namespace headrace::async {
namespace {

using engine::Piece;

// A read under way.
struct Reading {
  Reading(std::shared_ptr<Dataset> of, const Transfer& what, hid_t dxpl, std::byte* to)
      : dataset(std::move(of)), transfer(what), call(*dataset, transfer, dxpl), program(to) {}

  std::shared_ptr<Dataset> dataset;
  Transfer transfer;
  Call call;
  std::byte* program;
  std::shared_ptr<Request> request =
      std::make_shared<Request>(std::make_shared<engine::Completion>());
};

// Those of all datasets.
struct Pending {
  engine::Ordered jobs{std::numeric_limits<std::size_t>::max()};
  std::size_t bytes = 0;  // as stored
};

Pending& pending() {
  static auto& pending = *new Pending;  // leaked: files are closed while the process exits
  return pending;
}

// What cannot be decoded here; HDF5 may find an error, too. Throws Error. The handle is open: who
// closes it ends its reads before.
void read_by_hdf5(const Reading& reading, const Piece& piece) {
  Dataset& dataset = *reading.dataset;
  const LibraryContext context;
  const Aside aside;
  if (!update_dims(dataset, *dataset.handle)) throw Error("HDF5 does not tell the extent");
  engine::Buffer dense(reading.call.elements(piece) * dataset.element);
  if (!vol::read_box(*dataset.handle, dataset, piece.box, dense.data())) {
    reading.request->stack = std::make_shared<const ErrorStack>(h5.Eget_current_stack());
    throw Error("reading " + describe(*dataset.handle) + " failed");
  }
  const auto from = reading.call.dense(piece, dense, dataset.element);
  reading.call.deliver(piece, {from.data, from.strides}, reading.program);
}

class ReadBehindJob final : public engine::Job {
 public:
  ReadBehindJob(std::shared_ptr<Reading> reading, const Piece& piece, StoredChunk stored)
      : reading_(std::move(reading)), piece_(piece), stored_(std::move(stored)) {
    reading_->request->completion->begin();
    ++reading_->dataset->reading;
    pending().bytes += stored_.bytes.size();
  }
  ReadBehindJob(const ReadBehindJob&) = delete;
  ReadBehindJob& operator=(const ReadBehindJob&) = delete;
  ~ReadBehindJob() override {
    pending().bytes -= stored_.bytes.size();
    --reading_->dataset->reading;
    if (!worked_) reading_->request->completion->end(std::make_exception_ptr(std::bad_alloc()));
  }

  void work() override {
    worked_ = true;
    try {
      decode_piece(reading_->call, piece_, stored_, reading_->program, false);
      reading_->request->completion->end(nullptr);
    } catch (...) {
      failed_ = true;
    }
  }

  void finish() override {
    if (!failed_) return;
    try {
      read_by_hdf5(*reading_, piece_);
      reading_->request->completion->end(nullptr);
    } catch (...) {
      reading_->request->completion->end(std::current_exception());
    }
  }

 private:
  std::shared_ptr<Reading> reading_;
  Piece piece_;
  StoredChunk stored_;
  bool failed_ = false;
  bool worked_ = false;
};

void give(const std::shared_ptr<Reading>& reading, const Piece& piece, StoredChunk stored) {
  Pending& all = pending();
  const std::size_t limit = ChunkCache::behind_limit(*reading->dataset);
  while (!all.jobs.empty() && all.bytes + stored.bytes.size() > limit) all.jobs.finish_oldest();
  all.jobs.give(std::make_unique<ReadBehindJob>(reading, piece, std::move(stored)));
  ++statistics().decoded_behind;
}

// Whether anything is left to do.
bool start(const std::shared_ptr<Reading>& reading) {
  const Call& call = reading->call;
  engine::Ordered now(window_of(call.dataset));
  engine::Pieces pieces(call.grid, call.transfer.box);
  bool left = false;
  for (Piece piece; pieces.next(piece);) {
    if (deliver_cached(call, piece, reading->program)) continue;
    StoredChunk stored = load_chunk(call.dataset, piece.origin);
    if (stored.bytes.size() == 0) {
      call.deliver_fill(piece, reading->program);
    } else if (piece.covers) {
      give(reading, piece, std::move(stored));
      left = true;
    } else {
      read_now(call, piece, std::move(stored), reading->program, now);
    }
  }
  now.finish();
  return left;
}

}  // namespace

bool may_read_behind(const Dataset& dataset, const Transfer& transfer) {
  constexpr std::size_t kSmallest = 128U << 10U;
  return !transfer.converts && engine::may_run_behind(dataset.pipeline) &&
         engine::volume(dataset.rank, transfer.box.count) * dataset.element >= kSmallest;
}

void read_pieces_behind(const std::shared_ptr<Dataset>& dataset, const Transfer& transfer,
                        hid_t dxpl, std::byte* program, void** req) {
  cache().store_encoded();
  end_reads(false);
  const auto reading = std::make_shared<Reading>(dataset, transfer, dxpl, program);
  try {
    if (!start(reading)) return;
    reading->request->ends_here = true;
    *req = Request::make(reading->request, dataset->handle->connector);
  } catch (...) {  // HDF5 will read into the same memory
    end_reads(true);
    throw;
  }
}

void end_reads(bool all) noexcept {
  if (pending().jobs.empty()) return;
  if (all)
    pending().jobs.finish();
  else
    pending().jobs.finish_done();
  close_stored();
}

}  // namespace headrace::async
