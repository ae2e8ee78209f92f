#include "connectors/log/boxes.hpp"

#include <headrace/log.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "connectors/log/file.hpp"
#include "connectors/log/write.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/box_spaces.hpp"
#include "vol/operations.hpp"
#include "vol/pass_through.hpp"

namespace headrace::log_layout {
namespace {

using engine::Box;

// Where all boxes of a call are written, and what they are in memory.
struct Boxes {
  vol::Object* object;
  Dataset* dataset;
  hid_t mem_type;
  std::size_t mem_element;
};

// Throws Error for a box that reaches beyond the extent.
std::vector<Box> boxes_of(const Dataset& dataset, const vol::Object& object,
                          const headrace_write_n_t& given) {
  std::vector<Box> boxes;
  boxes.reserve(given.n);
  for (std::size_t i = 0; i < given.n; ++i) {
    Box box;
    std::copy_n(given.start + i * dataset.rank, dataset.rank, box.start.begin());
    std::copy_n(given.count + i * dataset.rank, dataset.rank, box.count.begin());
    if (engine::volume(dataset.rank, box.count) == 0) continue;
    for (unsigned d = 0; d < dataset.rank; ++d)
      if (box.start[d] > dataset.dims[d] || box.count[d] > dataset.dims[d] - box.start[d])
        throw Error("box " + std::to_string(i) + " of a write reaches beyond the extent of " +
                    vol::describe(object));
    boxes.push_back(box);
  }
  return boxes;
}

// False when it is better, or only possible, in smaller parts.
bool log_boxes(const Boxes& all, std::span<const Box> boxes, const std::byte* buffer) {
  const Aside aside;
  auto write = begin_write(*all.object, all.mem_type, buffer);
  if (!write) return false;
  for (const Box& box : boxes)
    if (!append_rows(*write->dataset, box, kMostRows, write->file)) return false;
  write->elements = elements_of(write->file);
  write->memory = {{0, write->elements}};
  return gains(*write) && !too_large_to_convert(*write) &&
         log_all(std::span(&*write, 1), h5.transfer_list.get());
}

void write_one(const Boxes& all, const Box& box, const std::byte* buffer) {
  settle();
  all.dataset->file->require_whole();
  const vol::BoxSpaces spaces(*all.dataset, box);
  void* self = all.object;
  hid_t type = all.mem_type;
  hid_t memory = spaces.memory();
  hid_t file = spaces.file();
  const void* from = buffer;
  if (vol::own::dataset_write(1, &self, &type, &memory, &file, h5.transfer_list.get(), &from,
                              nullptr) < 0)
    throw Error("HDF5 does not write a box of " + vol::describe(*all.object));
}

void write_some(const Boxes& all, std::span<const Box> boxes, const std::byte* buffer) {
  if (boxes.empty() || log_boxes(all, boxes, buffer)) return;
  if (boxes.size() == 1) return write_one(all, boxes.front(), buffer);
  const auto first = boxes.first(boxes.size() / 2);
  std::uint64_t elements = 0;
  for (const Box& box : first) elements += engine::volume(all.dataset->rank, box.count);
  write_some(all, first, buffer);
  write_some(all, boxes.subspan(first.size()), buffer + elements * all.mem_element);
}

void write_n(vol::Object& object, void* args) {
  headrace_write_n_t given{};
  vol::take_arguments(args, &given, sizeof given);
  if (given.n == 0) return;
  if (given.start == nullptr || given.count == nullptr || given.buffer == nullptr)
    throw Error("a write of boxes to " + vol::describe(object) + " has no boxes or no data");
  std::vector<Box> boxes;
  Boxes all{&object, dataset_of(object), given.mem_type, 0};
  {
    const Aside aside;
    all.mem_element = h5.Tget_size(given.mem_type);
    if (all.mem_element == 0 || !vol::update_dims(*all.dataset, object))
      throw Error("HDF5 does not tell the extent of " + vol::describe(object) +
                  ", or the size of the type in memory");
    boxes = boxes_of(*all.dataset, object, given);
  }
  write_some(all, boxes, static_cast<const std::byte*>(given.buffer));
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
  const Aside aside;
  const Dataset* found = dataset_of(dataset);
  return found != nullptr && found->rank > 0 && found->file->logs();
}

void write_boxes(vol::Object& dataset, const H5VL_optional_args_t& args) {
  if (takes_boxes(dataset)) return write_n(dataset, args.args);
  throw Error("the log layer leaves " + vol::describe(dataset) + " to HDF5");
}

}  // namespace headrace::log_layout
