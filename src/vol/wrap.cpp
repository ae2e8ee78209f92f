// Wrapping of objects that the connector below makes on its own (iteration, references, links).
#include <memory>
#include <utility>

#include "vol/pass_through.hpp"

namespace headrace::vol::own {
namespace {

struct WrapContext {
  UnderRef connector;
  void* under = nullptr;
};

// One that HDF5 has given back: it asks for one in almost every call, one at a time.
WrapContext*& spare() {
  static WrapContext* context = nullptr;
  return context;
}

std::unique_ptr<WrapContext> take_context() {
  if (spare() == nullptr) return std::make_unique<WrapContext>();
  return std::unique_ptr<WrapContext>(std::exchange(spare(), nullptr));
}

void give_back(std::unique_ptr<WrapContext> context) {
  context->connector.reset();
  if (spare() == nullptr) spare() = context.release();
}

}  // namespace

void* wrap_get_object(const void* self) {
  const Object& object = Object::from(self);
  return h5.VLget_object(object.under, object.connector->id());
}

herr_t wrap_get_wrap_ctx(const void* self, void** context) {
  const Object& object = Object::from(self);
  void* under = nullptr;
  // The native connector has none. An object whose close failed half-way has nothing below it, but
  // HDF5 asks before it closes again.
  if (object.under != nullptr && object.connector->native() == nullptr &&
      h5.VLget_wrap_ctx(object.under, object.connector->id(), &under) < 0)
    return -1;
  auto made = take_context();
  *made = {object.connector, under};
  *context = made.release();
  return 0;
}

void* wrap_wrap_object(void* object, H5I_type_t type, void* context) {
  const auto& wrap = *static_cast<WrapContext*>(context);
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
  std::unique_ptr<WrapContext> wrap(static_cast<WrapContext*>(context));
  herr_t result = 0;
  if (wrap->under != nullptr) {  // the native connector has no context
    const ErrorStackKeeper keep;
    result = h5.VLfree_wrap_ctx(wrap->under, wrap->connector->id());
  }
  give_back(std::move(wrap));
  return result;
}

herr_t info_cmp(int* result, const void* a, const void* b) {
  *result = compare_info(*static_cast<const Info*>(a), *static_cast<const Info*>(b));
  return 0;
}

}  // namespace headrace::vol::own
