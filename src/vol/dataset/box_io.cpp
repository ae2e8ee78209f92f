#include "vol/dataset/box_io.hpp"

#include "vol/pass_through.hpp"

namespace headrace::vol {
namespace {

template <auto call, typename Pointer>
bool transfer(Object& dataset, const Elements& elements, const BoxSpaces& spaces, Pointer buffer,
              const BoxTransfer& how) {
  void* self = &dataset;
  hid_t type = how.type >= 0 ? how.type : elements.type.get();
  hid_t memory = spaces.memory();
  hid_t file = spaces.file();
  const hid_t list = how.list >= 0 ? how.list : h5.transfer_list.get();
  return call(1, &self, &type, &memory, &file, list, &buffer, nullptr) >= 0;
}

// HDF5 wants a buffer even for no elements.
constexpr std::byte kNone{};

}  // namespace

bool read_box(Object& dataset, const Elements& elements, const engine::Box& box, std::byte* to,
              const BoxTransfer& how) {
  return transfer<&own::dataset_read>(dataset, elements, BoxSpaces(elements, box),
                                      static_cast<void*>(to), how);
}

bool write_box(Object& dataset, const Elements& elements, const engine::Box& box,
               const std::byte* from, const BoxTransfer& how) {
  return transfer<&own::dataset_write>(dataset, elements, BoxSpaces(elements, box),
                                       static_cast<const void*>(from), how);
}

bool write_parts(Object& dataset, const Elements& elements, const engine::Box& box,
                 std::span<const engine::Box> parts, const std::byte* from,
                 const BoxTransfer& how) {
  BoxSpaces spaces(elements, box);
  spaces.select(parts);
  return transfer<&own::dataset_write>(
      dataset, elements, spaces, static_cast<const void*>(parts.empty() ? &kNone : from), how);
}

void read_nothing(Object& dataset, Elements& elements) {
  if (!update_dims(elements, dataset)) return;
  engine::Box first;
  first.count.fill(1);
  BoxSpaces spaces(elements, first);
  spaces.select({});
  std::byte none{};
  transfer<&own::dataset_read>(dataset, elements, spaces, static_cast<void*>(&none), {});
}

}  // namespace headrace::vol
