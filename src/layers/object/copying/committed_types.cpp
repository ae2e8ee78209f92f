#include "layers/object/copying/committed_types.hpp"

#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "hdf5/error_stack.hpp"
#include "layers/object/container/opened.hpp"

namespace headrace::object {
namespace {

std::uint64_t number_of(const H5O_token_t& token) {
  std::uint64_t number = 0;
  std::memcpy(&number, &token, sizeof number);
  return number;
}

// Of the committed type that HDF5's native connector has for an id.
std::uint64_t native_token(void* object) {
  const Id<Kind::vol> native(h5.VLregister_connector_by_value(H5_VOL_NATIVE, kDefaultPlist));
  H5O_info2_t info{};
  H5VL_object_get_args_t args{H5VL_OBJECT_GET_INFO, {}};
  args.args.get_info.oinfo = &info;
  args.args.get_info.fields = H5O_INFO_BASIC;
  const auto where = itself(H5I_DATATYPE);
  if (h5.VLobject_get(object, &where, native.get(), &args, h5.transfer_list.get(), nullptr) < 0)
    throw Error("HDF5 does not tell which committed type something is of: " + root_cause());
  return number_of(info.token);
}

}  // namespace

std::uint64_t CommittedTypes::token_of(hid_t type) const {
  void* const native = h5.VLobject(type);
  if (!vol::TerminalObject::is(from_.get())) return native_token(native);
  for (vol::TerminalObject* one : file_of(from_.get()).objects())
    if (one->type() == H5I_DATATYPE && (one == native || one->has_face(native)))
      return static_cast<Open*>(one)->found.object->place().object;
  throw Error("a committed type is of another file");
}

CommittedTypes::Copy& CommittedTypes::copy_of(std::uint64_t token, const Held& source) {
  Copy& copy = copies_[token];
  if (copy.id) return copy;
  Held made = to_.new_type(source.datatype().get(), source.creation().get());
  copy.object = Held(made.connector(), made.get(), H5I_DATATYPE);
  copy.id = Id<Kind::datatype>(h5.VLwrap_register(made.get(), H5I_DATATYPE));
  if (!copy.id) throw Error("a committed type gets no id: " + root_cause());
  made.release();
  return copy;
}

hid_t CommittedTypes::of_copy(hid_t type) {
  if (h5.Tcommitted(type) <= 0) return type;
  const std::uint64_t token = token_of(type);
  const auto known = copies_.find(token);
  if (known != copies_.end()) return known->second.id.get();
  H5O_token_t place{};
  std::memcpy(&place, &token, sizeof token);
  return copy_of(token, from_.open(place)).id.get();
}

void CommittedTypes::link(const Held& source, const Held& parent, const std::string& name,
                          hid_t lcpl) {
  const Copy& copy = copy_of(number_of(source.info().token), source);
  parent.link(name, lcpl,
              {H5VL_LINK_CREATE_HARD, {.hard = {copy.object.get(), itself(H5I_DATATYPE)}}});
}

const Held* CommittedTypes::newly_made(const Held& source) {
  Copy& copy = copies_.at(number_of(source.info().token));
  return std::exchange(copy.is_new, false) ? &copy.object : nullptr;
}

}  // namespace headrace::object
