// Wrapping of objects that the connector below makes on its own (iteration, references, links).
#include "vol/pass_through.hpp"

namespace headrace::vol::own {
namespace {

struct WrapContext {
  UnderRef connector;
  void* under;
};

// HDF5 asks for a context in nearly every call, and uses it while the object's file is open.
WrapContext context_of(void* context) {
  if (!is_tagged(context)) return *static_cast<WrapContext*>(context);
  auto* connector = reinterpret_cast<UnderConnector*>(static_cast<std::byte*>(context) - 1);
  return {connector->shared_from_this(), connector->context_below()};
}

}  // namespace

void* wrap_get_object(const void* self) {
  if (!Object::is(self)) return nullptr;
  const Object& object = Object::from(self);
  return h5.VLget_object(object.under, object.connector->id());
}

herr_t wrap_get_wrap_ctx(const void* self, void** context) {
  const Object& object = Object::from(self);
  if (object.connector->knows_context_below()) {
    *context = tagged_context(*object.connector);
    return 0;
  }
  void* under = nullptr;
  // An object whose close failed half-way has nothing below it, but HDF5 asks before it closes
  // again.
  if (object.under != nullptr &&
      h5.VLget_wrap_ctx(object.under, object.connector->id(), &under) < 0)
    return -1;
  *context = new WrapContext{object.connector, under};
  return 0;
}

void* wrap_wrap_object(void* object, H5I_type_t type, void* context) {
  const WrapContext wrap = context_of(context);
  void* under = h5.VLwrap_object(object, type, wrap.connector->id(), wrap.under);
  return under == nullptr ? nullptr : new Object{under, wrap.connector};
}

void* wrap_unwrap_object(void* self) {
  Object& object = Object::from(self);
  void* under = h5.VLunwrap_object(object.under, object.connector->id());
  if (under != nullptr) delete &object;
  return under;
}

herr_t wrap_free_wrap_ctx(void* context) {
  if (is_tagged(context)) return 0;
  const std::unique_ptr<WrapContext> wrap(static_cast<WrapContext*>(context));
  if (wrap->under == nullptr) return 0;
  const ErrorStackKeeper keep;
  return h5.VLfree_wrap_ctx(wrap->under, wrap->connector->id());
}

herr_t info_cmp(int* result, const void* a, const void* b) {
  *result = compare_info(*static_cast<const Info*>(a), *static_cast<const Info*>(b));
  return 0;
}

}  // namespace headrace::vol::own
