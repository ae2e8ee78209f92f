#include "hdf5/lent_property.hpp"

#include <bit>
#include <cstdint>

#include "hdf5/id.hpp"
#include "hdf5/quiet_errors.hpp"

namespace headrace {
namespace {

// H5VL_connector_prop_t and H5FD_driver_prop_t of 1.14 to 2.2: an id or a connector, and pointers.
constexpr std::size_t kConnectorBytes = 2 * sizeof(void*);
constexpr std::size_t kDriverBytes = 3 * sizeof(void*);

bool has_size(const char* name, std::size_t bytes) {
  std::size_t size = 0;
  return h5.Pget_size(h5.access_list.get(), name, &size) >= 0 && size == bytes;
}

bool lies_as_expected() {
  if (library.thread_safe || h5.peek_property == nullptr) return false;
  const PrivateErrors own;
  return has_size(LentProperty::kConnector, kConnectorBytes) &&
         has_size(LentProperty::kDriver, kDriverBytes);
}

}  // namespace

bool LentProperty::possible() {
  static const bool possible = lies_as_expected();
  return possible;
}

bool LentProperty::lend(hid_t list, const char* name, const Value& value) {
  void* const object = h5.object_of(list);
  if (object == nullptr || h5.peek_property(object, name, &before_) < 0 ||
      h5.poke_property(object, name, &value) < 0)
    return false;
  list_ = object;
  name_ = name;
  return true;
}

void LentProperty::give_back() {
  if (list_ != nullptr) h5.poke_property(list_, name_, &before_);
  list_ = nullptr;
}

LentProperty::Value connector_value(hid_t connector) {
  const PrivateErrors own;
  LentProperty::Value value{};
  const Id<Kind::plist> list(h5.Pcopy(h5.access_list.get()));
  if (!list || h5.Pset_vol(list.get(), connector, nullptr) < 0 ||
      h5.peek_property(h5.object_of(list.get()), LentProperty::kConnector, &value) < 0)
    return {};
  return value;
}

LentProperty::Value driver_value(hid_t driver, const char* config) {
  static_assert(sizeof(hid_t) == sizeof(void*));
  return {std::bit_cast<const void*>(driver), nullptr, config};
}

}  // namespace headrace
