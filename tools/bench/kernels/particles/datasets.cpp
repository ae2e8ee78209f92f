#include "kernels/particles/datasets.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace headrace::bench::particles {
namespace {

constexpr const char* kCompoundName = "particles";

bool has_structures(Layout layout) {
  return layout == Layout::structures || layout == Layout::struct_to_arrays;
}

Handle copy_of(hid_t type) { return {H5Tcopy(type), H5Tclose, "copy a type"}; }

void check_dataset(const Handle& dataset, const Handle& type, hsize_t total,
                   const std::string& name) {
  const Handle found(H5Dget_type(dataset.get()), H5Tclose, "type of " + name);
  if (check(H5Tequal(found.get(), type.get()), "compare types") == 0)
    throw Error("dataset " + name + " is of another type than it was written with");
  const Handle space(H5Dget_space(dataset.get()), H5Sclose, "dataspace of " + name);
  hsize_t size = 0;
  if (check(H5Sget_simple_extent_ndims(space.get()), "rank") != 1 ||
      check(H5Sget_simple_extent_dims(space.get(), &size, nullptr), "extent") != 1 || size != total)
    throw Error("dataset " + name + " has " + std::to_string(size) + " particles instead of " +
                std::to_string(total));
}

}  // namespace

ParticleBuffer::ParticleBuffer(const Record& record, Layout layout, hsize_t count)
    : record_(record),
      structures_(has_structures(layout)),
      count_(count),
      bytes_(count * (structures_ ? record.memory_size() : record.packed_size())) {}

std::byte* ParticleBuffer::begin(std::size_t variable) {
  return bytes_.data() +
         (structures_ ? record_.memory_offset(variable) : record_.packed_offset(variable) * count_);
}

std::size_t ParticleBuffer::step(std::size_t variable) const {
  return structures_ ? record_.memory_size() : size_of(record_.variables()[variable].scalar);
}

void ParticleBuffer::fill(const std::string& path, const Pick& pick) {
  for (std::size_t i = 0; i < record_.variables().size(); ++i) {
    const Variable& variable = record_.variables()[i];
    const std::uint64_t key = key_of(path + std::string(variable.name));
    fill_values(begin(i), step(i), variable.scalar, key, pick);
  }
}

void ParticleBuffer::verify(const std::string& path, const Pick& pick) {
  for (std::size_t i = 0; i < record_.variables().size(); ++i) {
    const Variable& variable = record_.variables()[i];
    const std::string name = path + std::string(variable.name);
    verify_values(begin(i), step(i), variable.scalar, key_of(name), pick, name);
  }
}

Handle transfer_list(const Run& run, bool collective, const Record& record, hsize_t count) {
  Handle list = run.dxpl(collective);
  if (list.get() == H5P_DEFAULT) return list;
  const std::size_t least = H5Pget_buffer(list.get(), nullptr, nullptr);
  const std::size_t size = std::max<std::size_t>(least, count * record.memory_size());
  check(H5Pset_buffer(list.get(), size, nullptr, nullptr), "conversion buffer");
  return list;
}

ParticleDatasets::ParticleDatasets(const Record& record, Layout layout, ParticleBuffer& buffer) {
  const bool one = layout == Layout::structures || layout == Layout::arrays_to_struct;
  if (one) descriptions_.push_back({kCompoundName, record.file_compound()});
  if (layout == Layout::structures) {
    transfers_.push_back({0, record.memory_compound(), buffer.data()});
    return;
  }
  for (std::size_t i = 0; i < record.variables().size(); ++i) {
    const Variable& variable = record.variables()[i];
    const bool plain = layout == Layout::arrays;
    if (!one)
      descriptions_.push_back({std::string(variable.name), plain
                                                               ? copy_of(file_type(variable.scalar))
                                                               : record.file_member(i)});
    if (plain)
      transfers_.push_back({i, copy_of(memory_type(variable.scalar)), buffer.begin(i)});
    else if (one)
      transfers_.push_back({0, record.packed_memory_member(i), buffer.begin(i)});
    else
      transfers_.push_back({i, record.memory_member(i), buffer.data()});
  }
}

void ParticleDatasets::create(hid_t group, hsize_t total) {
  const Handle space(H5Screate_simple(1, &total, nullptr), H5Sclose, "dataspace");
  for (const Description& each : descriptions_)
    open_.emplace_back(H5Dcreate2(group, each.name.c_str(), each.type.get(), space.get(),
                                  H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                       H5Dclose, "create dataset " + each.name);
}

void ParticleDatasets::open(hid_t group, hsize_t total) {
  for (const Description& each : descriptions_) {
    open_.emplace_back(H5Dopen2(group, each.name.c_str(), H5P_DEFAULT), H5Dclose,
                       "open dataset " + each.name);
    check_dataset(open_.back(), each.type, total, each.name);
  }
}

void ParticleDatasets::close() {
  for (Handle& each : open_) each.close();
  open_.clear();
}

void ParticleDatasets::write(const Pick& pick, hsize_t total, const Handle& dxpl) const {
  const Handle space = pick.file_space(total);
  const Handle memory = pick.memory_space();
  for (const Transfer& each : transfers_)
    check(H5Dwrite(open_[each.dataset].get(), each.type.get(), memory.get(), space.get(),
                   dxpl.get(), each.buffer),
          "write dataset " + descriptions_[each.dataset].name);
}

void ParticleDatasets::read(const Pick& pick, hsize_t total, const Handle& dxpl) const {
  const Handle space = pick.file_space(total);
  const Handle memory = pick.memory_space();
  for (const Transfer& each : transfers_)
    check(H5Dread(open_[each.dataset].get(), each.type.get(), memory.get(), space.get(), dxpl.get(),
                  each.buffer),
          "read dataset " + descriptions_[each.dataset].name);
}

}  // namespace headrace::bench::particles
