#include "layers/async/connector/requests/queue.hpp"

#include <unistd.h>

#include <algorithm>
#include <list>
#include <vector>

#include "engine/buffer.hpp"
#include "engine/merge.hpp"
#include "engine/reading/pace.hpp"
#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/async/connector/requests/request.hpp"
#include "layers/async/connector/statistics.hpp"
#include "layers/async/connector/transfers.hpp"

namespace headrace::async {
namespace {

using Clock = std::chrono::steady_clock;
using engine::Box;
using engine::Buffer;
using engine::Index;

struct Waiting {
  Transfer transfer;
  std::byte* buffer;  // the program's
  std::shared_ptr<Request> request;
};

// Requests of one dataset, in the order of their calls.
struct Batch {
  vol::Object* object;
  Elements* elements;
  bool writes;
  std::vector<Waiting> waiting;
};

struct Queue {
  std::list<Batch> batches;
  std::size_t count = 0;  // requests
  std::size_t bytes = 0;
  pid_t process = 0;
};

Queue& queue() {
  static auto& queue = *new Queue;  // leaked: files are closed while the process exits
  return queue;
}

// Between the program's memory and that of the box which the request is a part of.
void copy_part(const Elements& elements, const Waiting& part, const Box& box, Buffer& memory,
               bool to_program) {
  const Index strides = engine::strides_of(elements.rank, box.count, elements.element);
  Index place{};
  for (unsigned d = 0; d < elements.rank; ++d) place[d] = part.transfer.box.start[d] - box.start[d];
  std::byte* inside = memory.data() + engine::offset_of(elements.rank, place, strides);
  std::byte* program = part.buffer + part.transfer.mem_offset;
  const Index& count = part.transfer.box.count;
  if (to_program)
    engine::copy_box(elements.rank, count, elements.element, inside, strides, program,
                     part.transfer.mem_strides);
  else
    engine::copy_box(elements.rank, count, elements.element, program, part.transfer.mem_strides,
                     inside, strides);
}

void end(const Waiting& part, const std::exception_ptr& error) {
  part.request->queued = false;
  part.request->completion->end(error);
}

// False when HDF5 refuses.
bool carry_out(const Batch& batch, const Box& box, std::span<const std::uint32_t> parts) {
  const Elements& elements = *batch.elements;
  Buffer memory(engine::volume(elements.rank, box.count) * elements.element);
  // For reads too: HDF5 leaves memory as it is where nothing was written and there is no fill
  // value.
  for (const std::uint32_t i : parts) copy_part(elements, batch.waiting[i], box, memory, false);
  const bool done = batch.writes ? write_box(*batch.object, *batch.elements, box, memory.data())
                                 : read_box(*batch.object, *batch.elements, box, memory.data());
  if (!done) return false;
  if (!batch.writes)
    for (const std::uint32_t i : parts) copy_part(elements, batch.waiting[i], box, memory, true);
  return true;
}

// A failure is that of all parts, and of what comes after: when reading has failed, HDF5 (1.14.5 to
// 2.2.0) takes its sieve buffer for filled, and the next read of it succeeds with any bytes.
class Outcome {
 public:
  void make(const Batch& batch, const Box& box, std::span<const std::uint32_t> parts) noexcept {
    const Clock::time_point begin = Clock::now();
    if (error_ == nullptr) try {
        if (!carry_out(batch, box, parts)) {
          stack_ = std::make_shared<const ErrorStack>(h5.Eget_current_stack());
          throw Error("HDF5 has refused an asynchronous request");
        }
      } catch (...) {
        error_ = std::current_exception();
      }
    for (const std::uint32_t i : parts) {
      batch.waiting[i].request->stack = stack_;
      end(batch.waiting[i], error_);
    }
    const std::uint64_t reads = reads_for(batch.elements->grid(), batch.elements->element, box);
    reads_ += reads;
    bytes_ += std::max(engine::volume(batch.elements->rank, box.count) * batch.elements->element,
                       reads * ReadPace::kSmall);
    time_ += Clock::now() - begin;
  }

  // Failed calls are not worth making at once.
  [[nodiscard]] bool slow() const {
    return error_ != nullptr || engine::reading::is_slow(bytes_, time_, reads_);
  }

 private:
  std::uint64_t reads_ = 0;
  std::uint64_t bytes_ = 0;
  std::chrono::nanoseconds time_{};
  std::exception_ptr error_;
  std::shared_ptr<const ErrorStack> stack_;
};

engine::MergedBoxes merged(const Batch& batch) {
  std::vector<Box> boxes;
  boxes.reserve(batch.waiting.size());
  for (const Waiting& part : batch.waiting) boxes.push_back(part.transfer.box);
  return engine::merge(batch.elements->rank, boxes);
}

void carry_out(const Batch& batch, Outcome& outcome) noexcept {
  engine::MergedBoxes together;
  try {
    together = merged(batch);
  } catch (const std::exception&) {
    together.overlap = true;  // out of memory
  }
  // What was written last must stay.
  if (together.overlap && (batch.writes || together.boxes.empty())) {
    for (std::uint32_t i = 0; i < batch.waiting.size(); ++i)
      outcome.make(batch, batch.waiting[i].transfer.box, std::span(&i, 1));
    return;
  }
  for (const engine::MergedBox& one : together.boxes) {
    outcome.make(batch, one.box, one.parts);
    if (one.parts.size() > 1) statistics().requests_merged += one.parts.size();
  }
}

void carry_out(const Batch& batch) noexcept {
  if (batch.waiting.empty()) return;  // all taken back
  Outcome outcome;
  carry_out(batch, outcome);
  if (!batch.writes) batch.elements->pace.note_waited(outcome.slow());
}

// The batch that the request belongs to; what may not be put off any longer is carried out first.
Batch& batch_for(vol::Object& object, Elements& elements, bool writes) {
  for (Batch& batch : queue().batches) {
    const Identity& other = batch.elements->identity;
    if (other < elements.identity || elements.identity < other) continue;
    if (batch.object == &object && batch.writes == writes) return batch;
    carry_out_queue();
    break;
  }
  return queue().batches.emplace_back(Batch{&object, &elements, writes, {}});
}

}  // namespace

bool queue_is_empty() { return queue().batches.empty(); }

void enqueue(vol::Object& object, Elements& elements, const Transfer& transfer, bool writes,
             std::byte* buffer, void** req) {
  constexpr std::size_t kMostBytes = 16U << 20U;
  const auto request = std::make_shared<Request>(std::make_shared<engine::Completion>());
  std::unique_ptr<vol::Object> handle(Request::make(request, object.connector));
  batch_for(object, elements, writes).waiting.push_back({transfer, buffer, request});
  request->completion->begin();
  request->queued = true;
  *req = handle.release();
  queue().process = ::getpid();
  queue().bytes += transfer.elements * elements.element;
  const std::size_t most = writes ? ReadPace::kMost : elements.pace.most_waiting();
  if (++queue().count >= most || queue().bytes >= kMostBytes) carry_out_queue();
}

void carry_out_queue() noexcept {
  if (queue().batches.empty()) return;
  const Queue taken = std::exchange(queue(), Queue{});
  if (taken.process != ::getpid()) {  // the parent's, who carries it out
    for (const Batch& batch : taken.batches)
      for (const Waiting& part : batch.waiting) end(part, nullptr);
    return;
  }
  const LibraryContext context;
  const PrivateErrors own;
  for (const Batch& batch : taken.batches) carry_out(batch);
}

void remove_from_queue(Request& request) {
  for (Batch& batch : queue().batches)
    std::erase_if(batch.waiting, [&](const Waiting& part) {
      if (part.request.get() != &request) return false;
      end(part, nullptr);
      return true;
    });
  request.canceled = true;
}

}  // namespace headrace::async
