#include "vol/operations.hpp"

#include <algorithm>
#include <cstring>

#include "hdf5/quiet_errors.hpp"

namespace headrace::vol {
namespace {

// What both have of a struct, without its size.
std::size_t shared_size(const void* args, std::size_t size) {
  std::size_t told = 0;
  if (args != nullptr) std::memcpy(&told, args, sizeof told);
  if (told < sizeof told) throw Error("the operation needs a struct that tells its size");
  return std::min(told, size) - sizeof told;
}

void copy_behind_size(void* to, const void* from, std::size_t size) {
  std::memcpy(static_cast<std::byte*>(to) + sizeof(std::size_t),
              static_cast<const std::byte*>(from) + sizeof(std::size_t), size);
}

}  // namespace

void register_operations(std::span<Operation> operations) {
  const PrivateErrors own;
  for (Operation& one : operations) {
    // Known still when the connector was unloaded and comes back.
    if (h5.VLfind_opt_operation(one.kind, one.name, &one.number) >= 0) continue;
    if (h5.VLregister_opt_operation(one.kind, one.name, &one.number) < 0) one.number = -1;
  }
}

const Operation* find_operation(std::span<const Operation> operations, H5VL_subclass_t kind,
                                int number) {
  const auto found = std::ranges::find_if(
      operations, [&](const Operation& one) { return one.kind == kind && one.number == number; });
  return number < 0 || found == operations.end() ? nullptr : &*found;
}

bool is_known_below(const Object& object, H5VL_subclass_t kind, const char* name) {
  const PrivateErrors own;
  int number = -1;
  std::uint64_t flags = 0;
  return h5.VLfind_opt_operation(kind, name, &number) >= 0 &&
         h5.VLintrospect_opt_query(object.under, object.connector->id(), kind, number, &flags) >=
             0 &&
         (flags & H5VL_OPT_QUERY_SUPPORTED) != 0;
}

void take_arguments(const void* args, void* given, std::size_t size) {
  copy_behind_size(given, args, shared_size(args, size));
}

void give_answer(void* args, const void* answer, std::size_t size) {
  copy_behind_size(args, answer, shared_size(args, size));
}

}  // namespace headrace::vol
