#include "vol/dataset/box_io.hpp"

#include "vol/dataset/transfer.hpp"

namespace headrace::vol {
namespace {

template <typename Bytes>
bool transfer(Object& dataset, const Elements& elements, const BoxSpaces& spaces, Bytes* buffer,
              const BoxTransfer& how) {
  const Transfer whole{dataset, how.type >= 0 ? how.type : elements.type.get(), spaces.memory(),
                       spaces.file(), how.list >= 0 ? how.list : h5.transfer_list.get()};
  return pass_on(whole, buffer) >= 0;
}

// HDF5 wants a buffer even for no elements.
constexpr std::byte kNone{};

}  // namespace

bool read_box(Object& dataset, const Elements& elements, const engine::Box& box, std::byte* to,
              const BoxTransfer& how) {
  return transfer<void>(dataset, elements, BoxSpaces(elements, box), to, how);
}

bool write_box(Object& dataset, const Elements& elements, const engine::Box& box,
               const std::byte* from, const BoxTransfer& how) {
  return transfer<const void>(dataset, elements, BoxSpaces(elements, box), from, how);
}

bool write_parts(Object& dataset, const Elements& elements, const engine::Box& box,
                 std::span<const engine::Box> parts, const std::byte* from,
                 const BoxTransfer& how) {
  BoxSpaces spaces(elements, box);
  spaces.select(parts);
  return transfer<const void>(dataset, elements, spaces, parts.empty() ? &kNone : from, how);
}

void read_nothing(Object& dataset, Elements& elements) {
  if (!update_dims(elements, dataset)) return;
  engine::Box first;
  first.count.fill(1);
  BoxSpaces spaces(elements, first);
  spaces.select({});
  std::byte none{};
  transfer<void>(dataset, elements, spaces, &none, {});
}

}  // namespace headrace::vol
