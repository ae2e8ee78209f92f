#include "layers/log/connector/boxes.hpp"

#include <headrace/log.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/log/connector/ranks/transfers.hpp"
#include "layers/log/connector/serial/all_files.hpp"
#include "layers/log/connector/serial/elsewhere.hpp"
#include "layers/log/connector/writing/write.hpp"
#include "vol/dataset/box_spaces.hpp"
#include "vol/dataset/selection.hpp"
#include "vol/operations.hpp"
#include "vol/pass_through.hpp"

namespace headrace::log_layout {

using vol::Runs;
namespace {

// Boxes `begin` to `end` of a call. A climate model's have 50 bytes each, and there are millions:
// they are read where the program has them.
struct Boxes {
  vol::Object* object;
  Dataset* dataset;
  const headrace_write_n_t* given;
  std::size_t mem_element;
  std::size_t begin;
  std::size_t end;
  const std::byte* buffer;

  [[nodiscard]] std::span<const hsize_t> start(std::size_t i) const {
    return {given->start + i * dataset->rank, dataset->rank};
  }
  [[nodiscard]] std::span<const hsize_t> count(std::size_t i) const {
    return {given->count + i * dataset->rank, dataset->rank};
  }
  [[nodiscard]] std::uint64_t elements(std::size_t i) const {
    std::uint64_t product = 1;
    for (const hsize_t one : count(i)) product *= one;
    return product;
  }
};

bool is_empty(std::span<const hsize_t> count) {
  return std::ranges::find(count, hsize_t{0}) != count.end();
}

// Throws Error for a box that reaches beyond the extent.
void require_inside(const Boxes& boxes) {
  const engine::Index& dims = boxes.dataset->dims;
  for (std::size_t i = boxes.begin; i < boxes.end; ++i) {
    const auto start = boxes.start(i);
    const auto count = boxes.count(i);
    if (is_empty(count)) continue;
    for (unsigned d = 0; d < boxes.dataset->rank; ++d)
      if (start[d] > dims[d] || count[d] > dims[d] - start[d])
        throw Error("box " + std::to_string(i) + " of a write reaches beyond the extent of " +
                    vol::describe(*boxes.object));
  }
}

// The rows of all of them; false when there are more than `most`.
bool append_all(const Boxes& boxes, std::size_t most, Runs& rows) {
  const engine::Index strides = engine::strides_of(boxes.dataset->rank, boxes.dataset->dims, 1);
  rows.reserve(boxes.end - boxes.begin);
  for (std::size_t i = boxes.begin; i < boxes.end; ++i)
    if (!is_empty(boxes.count(i)) &&
        !vol::append_rows(boxes.start(i), boxes.count(i), strides, most, rows))
      return false;
  return true;
}

// False when it is better, or only possible, in smaller parts.
bool log_boxes(const Boxes& boxes) {
  const PrivateErrors own;
  auto begun = begin_write(*boxes.object, boxes.given->mem_type, boxes.buffer);
  auto* const write = std::get_if<Write>(&begun);
  if (write == nullptr || !append_all(boxes, kMostRows, write->file)) return false;
  if (write->file.empty()) return true;
  write->elements = elements_of(write->file);
  write->memory = {{0, write->elements}};
  return boxes.dataset->file->log_rows(*write);
}

void write_one(const Boxes& boxes) {
  const bool of_ranks = boxes.dataset->file->of_ranks();
  if (!of_ranks) {
    count_left(Left::rows);
    drain(touched_by(*boxes.object));
    boxes.dataset->file->require_whole();
  }
  engine::Box box;
  std::ranges::copy(boxes.start(boxes.begin), box.start.begin());
  std::ranges::copy(boxes.count(boxes.begin), box.count.begin());
  const vol::BoxSpaces spaces(*boxes.dataset, box);
  const vol::Transfer transfer(*boxes.object, boxes.given->mem_type, spaces.memory(), spaces.file(),
                               h5.transfer_list.get());
  vol::SingleTransfer<const void> single(transfer, boxes.buffer);
  const herr_t done = of_ranks ? write_over_ranks(single.call()) : vol::pass_on(single.call());
  if (done < 0) throw Error("HDF5 does not write a box of " + vol::describe(*boxes.object));
}

void write_some(const Boxes& boxes) {
  if (boxes.end - boxes.begin == 1 && is_empty(boxes.count(boxes.begin))) return;
  if (log_boxes(boxes)) return;
  if (boxes.end - boxes.begin == 1) return write_one(boxes);
  Boxes first = boxes;
  Boxes second = boxes;
  second.begin = first.end = boxes.begin + (boxes.end - boxes.begin) / 2;
  std::uint64_t elements = 0;
  for (std::size_t i = first.begin; i < first.end; ++i) elements += boxes.elements(i);
  second.buffer += elements * boxes.mem_element;
  write_some(first);
  write_some(second);
}

void write_n(vol::Object& object, void* args) {
  headrace_write_n_t given{};
  vol::take_arguments(args, &given, sizeof given);
  if (given.n == 0) return;
  if (given.start == nullptr || given.count == nullptr || given.buffer == nullptr)
    throw Error("a write of boxes to " + vol::describe(object) + " has no boxes or no data");
  Boxes boxes{&object,
              dataset_of(object),
              &given,
              0,
              0,
              given.n,
              static_cast<const std::byte*>(given.buffer)};
  {
    const LibraryContext apart;
    const PrivateErrors own;
    boxes.mem_element = h5.Tget_size(given.mem_type);
    if (boxes.mem_element == 0 || !vol::update_dims(*boxes.dataset, object))
      throw Error("HDF5 does not tell the extent of " + vol::describe(object) +
                  ", or the size of the type in memory");
    require_inside(boxes);
    if (boxes.dataset->file->of_ranks() && !vol::countable(*boxes.dataset))
      throw Error(vol::describe(object) + " has grown beyond what 64 bits count");
  }
  write_some(boxes);
}

std::span<vol::Operation> operations() {
  static std::array<vol::Operation, 1> operations{
      {{HEADRACE_OPERATION_WRITE_N, H5VL_SUBCLS_DATASET, &write_n}}};
  return operations;
}

}  // namespace

void register_operations() { vol::register_operations(operations()); }

bool is_operation(int operation) {
  return vol::find_operation(operations(), H5VL_SUBCLS_DATASET, operation) != nullptr;
}

bool takes_boxes(vol::Object& dataset) {
  require_no_log_elsewhere(dataset);
  const PrivateErrors own;
  const Dataset* const found = dataset_of(dataset);
  return found != nullptr && found->rank > 0 && found->file->logs();
}

void write_boxes(vol::Object& dataset, const H5VL_optional_args_t& args) {
  if (takes_boxes(dataset)) return write_n(dataset, args.args);
  throw Error("the log layer leaves " + vol::describe(dataset) + " to HDF5");
}

}  // namespace headrace::log_layout
