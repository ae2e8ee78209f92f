#include "layers/object/maps/transfer_elements.hpp"

#include <cstring>

#include "hdf5/id.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/dataset/elements.hpp"

namespace headrace::object {
namespace {

void reclaim(hid_t type, std::size_t count, void* elements) {
  if (count == 0 || vol::is_flat(type)) return;
  const PrivateErrors own;
  const auto all = static_cast<hsize_t>(count);
  const Id<Kind::dataspace> space(h5.Screate_simple(1, &all, nullptr));
  h5.Treclaim(type, space.get(), kDefaultPlist, elements);
}

engine::Buffer zeros(std::size_t size) {
  engine::Buffer buffer(size);
  if (size > 0) std::memset(buffer.data(), 0, size);
  return buffer;
}

}  // namespace

Converted::Converted(hid_t from, hid_t to, std::size_t count, const void* memory)
    : type_(to),
      count_(count),
      size_(h5.Tget_size(to)),
      first_(static_cast<const std::byte*>(memory)) {
  const Conversion conversion(from, to);
  if (!conversion.converts() || count == 0) return;
  engine::Buffer elements = zeros(count * conversion.room());
  std::memcpy(elements.data(), memory, count * h5.Tget_size(from));
  engine::Buffer background = zeros(count * conversion.room());
  conversion.run(count, elements, background);
  own_ = std::move(elements);
  first_ = own_.data();
}

Converted::~Converted() {
  if (own_.size() > 0) reclaim(type_, count_, own_.data());
}

Reclaimed::~Reclaimed() { reclaim(type_, count_, elements_); }

Given::Given(hid_t type, std::size_t count)
    : type_(type), count_(count), size_(h5.Tget_size(type)), elements_(zeros(count * size_)) {}

Given::~Given() {
  if (elements_.size() > 0) reclaim(type_, count_, elements_.data());
}

void Given::give(hid_t mem_type, void* memory, std::span<const std::size_t> places) {
  if (count_ == 0) return;
  const Conversion conversion(type_, mem_type);
  const std::size_t size = h5.Tget_size(mem_type);
  auto* const to = static_cast<std::byte*>(memory);
  const auto place = [&](std::size_t i) { return to + (places.empty() ? i : places[i]) * size; };
  engine::Buffer elements = zeros(count_ * conversion.room());
  std::memcpy(elements.data(), elements_.data(), elements_.size());
  if (conversion.converts()) {
    engine::Buffer background = zeros(count_ * conversion.room());
    if (conversion.keeps())
      for (std::size_t i = 0; i < count_; ++i)
        std::memcpy(background.data() + i * size, place(i), size);
    conversion.run(count_, elements, background);
  } else {
    elements_ = engine::Buffer();  // what they lead to is the program's
  }
  for (std::size_t i = 0; i < count_; ++i) std::memcpy(place(i), elements.data() + i * size, size);
}

}  // namespace headrace::object
