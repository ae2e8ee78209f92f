#include "connectors/async/requests/queue.hpp"

#include <unistd.h>

#include <algorithm>
#include <list>
#include <vector>

#include "connectors/async/chunks/chunk_io.hpp"
#include "connectors/async/file_state.hpp"
#include "connectors/async/filters.hpp"
#include "connectors/async/requests/request.hpp"
#include "connectors/async/selections/direct_reads.hpp"
#include "connectors/async/selections/transfer.hpp"
#include "engine/buffer.hpp"
#include "engine/merge.hpp"
#include "engine/reading/pace.hpp"
#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/box_io.hpp"
#include "vol/pass_through.hpp"
#include "vol/transfer.hpp"

namespace headrace::async {
namespace {

constexpr std::size_t kSmall = ReadPace::kSmall;  // what is larger is written from where it lies

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

// The call that the program would have made for the box. False when HDF5 refuses.
bool transfer_box(const Batch& batch, const Box& box, Buffer& memory) {
  const vol::BoxSpaces spaces(*batch.elements, box);
  vol::Object& object = *batch.object;
  const hid_t type = batch.elements->type.get();
  const hid_t dxpl = h5.transfer_list.get();
  if (batch.writes)
    return write_chunks(object, type, spaces.memory(), spaces.file(), dxpl, memory.data()) ==
               Taken::done ||
           vol::write_box(object, *batch.elements, box, memory.data());
  return read_chunks(object, type, spaces.memory(), spaces.file(), dxpl, memory.data()) ==
             Taken::done ||
         vol::read_box(object, *batch.elements, box, memory.data());
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
  if (!transfer_box(batch, box, memory)) return false;
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
    ++calls_;
    bytes_ += engine::volume(batch.elements->rank, box.count) * batch.elements->element;
    time_ += Clock::now() - begin;
  }

  // Failed calls are not worth making at once.
  [[nodiscard]] bool slow() const {
    return error_ != nullptr || engine::reading::is_slow(bytes_, time_, calls_);
  }

 private:
  std::size_t calls_ = 0;
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

bool add(vol::Object& object, bool writes, hid_t mem_type, hid_t mem_space, hid_t file_space,
         hid_t dxpl, std::byte* buffer, void** req) {
  constexpr std::size_t kMostBytes = 16U << 20U;
  if (req == nullptr || buffer == nullptr || !filters_on(*object.connector) ||
      (writes && !may_write(*object.connector)))
    return false;
  Elements* elements = elements_of(object);
  if (elements == nullptr) return false;
  std::string_view why;
  auto transfer = transfer_of(*elements, object, mem_type, mem_space, file_space, dxpl, why);
  if (!transfer || transfer->converts) return false;
  const std::size_t bytes = engine::volume(elements->rank, transfer->box.count) * elements->element;
  if (bytes > kSmall) return false;
  const auto request = std::make_shared<Request>(std::make_shared<engine::Completion>());
  std::unique_ptr<vol::Object> handle(Request::make(request, object.connector));
  batch_for(object, *elements, writes).waiting.push_back({*transfer, buffer, request});
  request->completion->begin();
  request->queued = true;
  *req = handle.release();
  queue().process = ::getpid();
  queue().bytes += bytes;
  const std::size_t most = writes ? ReadPace::kMost : elements->pace.most_waiting();
  if (++queue().count >= most || queue().bytes >= kMostBytes) carry_out_queue();
  return true;
}

}  // namespace

bool better_at_once(vol::Object& object, hid_t mem_type, hid_t mem_space, void* const* req) {
  // Beside what waits it may find its place, and what waits may be what it reads.
  if (req == nullptr || !queue().batches.empty() || !filters_on(*object.connector)) return false;
  const Elements* elements = elements_of(object);
  return elements != nullptr && elements->pace.fast() && vol::is_dataspace(mem_space) &&
         vol::transfer_bytes(&object, mem_type, mem_space, mem_space) <= kSmall;
}

herr_t read_at_once(vol::Object& object, hid_t mem_type, hid_t mem_space, hid_t file_space,
                    hid_t dxpl, void* buffer) {
  const Clock::time_point begin = Clock::now();
  void* self = &object;
  const bool done =
      read_directly(object, mem_type, mem_space, file_space, dxpl, buffer) ||
      read_chunks(object, mem_type, mem_space, file_space, dxpl, buffer) == Taken::done;
  const herr_t result = done ? 0
                             : vol::own::dataset_read(1, &self, &mem_type, &mem_space, &file_space,
                                                      dxpl, &buffer, nullptr);
  elements_of(object)->pace.note_at_once(Clock::now() - begin);
  return result;
}

bool queue_read(vol::Object& object, hid_t mem_type, hid_t mem_space, hid_t file_space, hid_t dxpl,
                void* buffer, void** req) {
  return add(object, false, mem_type, mem_space, file_space, dxpl, static_cast<std::byte*>(buffer),
             req);
}

bool queue_write(vol::Object& object, hid_t mem_type, hid_t mem_space, hid_t file_space, hid_t dxpl,
                 const void* buffer, void** req) {
  // Nobody writes to it.
  return add(object, true, mem_type, mem_space, file_space, dxpl,
             static_cast<std::byte*>(const_cast<void*>(buffer)), req);
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
  const Aside aside;
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
