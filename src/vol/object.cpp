#include "vol/object.hpp"

#include <algorithm>
#include <vector>

#include "base/report/log.hpp"
#include "hdf5/quiet_errors.hpp"

namespace headrace::vol {
namespace {

std::vector<const H5VL_class_t*>& classes() {
  static auto& classes = *new std::vector<const H5VL_class_t*>;
  return classes;
}

}  // namespace

void note_class(const H5VL_class_t& cls) { classes().push_back(&cls); }

UnderConnector::~UnderConnector() {
  try {
    throw_deferred();
  } catch (const std::exception& error) {
    log(Level::error,
        std::string("not told to the program, which had closed the file: ") + error.what());
  } catch (...) {
    log(Level::error, "an error was not told to the program, which had closed the file");
  }
}

std::optional<LentProperty::Value> UnderConnector::in_list(const void* info) const {
  auto& known = class_->in_list;
  if (!known) known = connector_value(id());
  LentProperty::Value value = *known;
  if (value.front() == nullptr) return std::nullopt;
  value.at(1) = info;
  return value;
}

// A library for threads has locks that its H5VL functions take and give back around a connector.
void UnderConnector::look_below(void* under_file) {
  if (library.thread_safe) return;
  const PrivateErrors own;
  const H5VL_class_t* found = nullptr;
  if (h5.VLintrospect_get_conn_cls(under_file, id(), H5VL_GET_CONN_LVL_CURR, &found) < 0 ||
      found == nullptr || found->version != H5VL_VERSION)
    return;
  is_native_ = found->value == H5_VOL_NATIVE;
  if (!is_native_ && std::ranges::find(classes(), found) == classes().end()) return;
  direct_ = found;
  void* context = nullptr;
  if (is_native_ || found->wrap_cls.get_wrap_ctx(under_file, &context) < 0) return;
  if (is_tagged(context))
    context_below_ = context;
  else if (context != nullptr)
    found->wrap_cls.free_wrap_ctx(context);
}

void UnderConnector::require_same(const UnderConnector& other) const {
  if (id() == other.id()) return;
  const PrivateErrors own;
  int differ = 1;
  if (h5.VLcmp_connector_cls(&differ, id(), other.id()) < 0 || differ != 0)
    throw Error("the two files have different connectors below");
}

}  // namespace headrace::vol
