#include "layers/async/connector/chunks/reads_behind.hpp"

#include <limits>
#include <new>

#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/async/connector/chunks/cache.hpp"
#include "layers/async/connector/chunks/closings.hpp"
#include "layers/async/connector/chunks/read.hpp"
#include "layers/async/connector/requests/request.hpp"
#include "layers/async/connector/statistics.hpp"
#include "vol/dataset/box_io.hpp"

namespace headrace::async {
namespace {

// A read under way.
struct Reading {
  Reading(std::shared_ptr<Dataset> of, Transfer what, hid_t dxpl, std::byte* to)
      : dataset(std::move(of)),
        selected(std::move(what)),
        transfer(*dataset, selected, dxpl),
        program(to) {}

  std::shared_ptr<Dataset> dataset;
  Transfer selected;
  ChunkTransfer transfer;
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
void read_by_hdf5(const Reading& reading, const Part& part) {
  Dataset& dataset = *reading.dataset;
  const LibraryContext context;
  const PrivateErrors own;
  if (!update_dims(dataset, *dataset.handle)) throw Error("HDF5 does not tell the extent");
  engine::Buffer dense = reading.transfer.buffer_for(part);
  if (!vol::read_box(*dataset.handle, dataset, part.box, dense.data())) {
    reading.request->stack = std::make_shared<const ErrorStack>(h5.Eget_current_stack());
    throw Error("reading " + describe(*dataset.handle) + " failed");
  }
  reading.transfer.deliver_dense(part, dense, reading.program);
}

class ReadBehindJob final : public engine::Job {
 public:
  ReadBehindJob(std::shared_ptr<Reading> reading, const Part& part, StoredChunk stored)
      : reading_(std::move(reading)), part_(part), stored_(std::move(stored)) {
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
      decode_part(reading_->transfer, part_, stored_.bytes.bytes(), stored_.mask, reading_->program,
                  false);
      reading_->request->completion->end(nullptr);
    } catch (...) {
      failed_ = true;
    }
  }

  void finish() override {
    if (!failed_) return;
    try {
      read_by_hdf5(*reading_, part_);
      reading_->request->completion->end(nullptr);
    } catch (...) {
      reading_->request->completion->end(std::current_exception());
    }
  }

 private:
  std::shared_ptr<Reading> reading_;
  Part part_;
  StoredChunk stored_;
  bool failed_ = false;
  bool worked_ = false;
};

void give(const std::shared_ptr<Reading>& reading, const Part& part, StoredChunk stored) {
  Pending& all = pending();
  const std::size_t limit = reading->dataset->share->behind_limit();
  while (!all.jobs.empty() && all.bytes + stored.bytes.size() > limit) all.jobs.finish_oldest();
  all.jobs.give(std::make_unique<ReadBehindJob>(reading, part, std::move(stored)));
  ++statistics().decoded_behind;
}

// Whether anything is left to do.
bool start(const std::shared_ptr<Reading>& reading) {
  const ChunkTransfer& transfer = reading->transfer;
  engine::Ordered now(window_of(transfer.dataset()));
  Parts parts(transfer);
  bool left = false;
  for (Part part; parts.next(part);) {
    if (deliver_cached(transfer, part, reading->program)) continue;
    StoredChunk stored = load_chunk(transfer.dataset(), part.origin);
    if (stored.bytes.size() == 0) {
      transfer.deliver_fill(part, reading->program);
    } else if (part.covers) {
      give(reading, part, std::move(stored));
      left = true;
    } else {
      read_now(transfer, part, std::move(stored), reading->program, now);
    }
  }
  now.finish();
  return left;
}

}  // namespace

bool may_read_behind(const Dataset& dataset, const Transfer& transfer) {
  constexpr std::size_t kSmallest = 128U << 10U;
  return !transfer.converts && !transfer.is_scattered() && dataset.encodes_behind() &&
         transfer.elements * dataset.element >= kSmallest;
}

void read_parts_behind(const std::shared_ptr<Dataset>& dataset, const Transfer& transfer,
                       hid_t dxpl, std::byte* program, void** req) {
  store_encoded();
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
