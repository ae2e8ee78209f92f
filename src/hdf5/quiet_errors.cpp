#include "hdf5/quiet_errors.hpp"

#include <string_view>

namespace headrace {
namespace {

// The handler that is set, of either version of the interface; null when HDF5 prints nothing.
void get_handler(H5E_auto2_t& function2, H5E_auto1_t& function1, void*& data) {
  unsigned v2 = 1;
  h5.Eauto_is_v2(kDefaultStack, &v2);
  if (v2 != 0)
    h5.Eget_auto2(kDefaultStack, &function2, &data);
  else if (h5.Eget_auto1 != nullptr)
    h5.Eget_auto1(&function1, &data);
}

// True when the function that failed is one that a forwarder has called.
bool failed_in_forwarding(hid_t stack) {
  bool forwarding = false;
  const auto first = [](unsigned /*n*/, const H5E_error2_t* record, void* found) -> herr_t {
    *static_cast<bool*>(found) = std::string_view(record->func_name).starts_with("H5VL");
    return 1;  // the first record only: that of the function that was called
  };
  h5.Ewalk2(stack, H5E_WALK_DOWNWARD, first, &forwarding);
  return forwarding;
}

}  // namespace

thread_local unsigned QuietErrors::depth_ = 0;

QuietErrors::QuietErrors() {
  if (depth_++ > 0) return;
  get_handler(function2_, function1_, data_);
  if (function2_ != nullptr) h5.Eset_auto2(kDefaultStack, nullptr, nullptr);
  if (function1_ != nullptr) h5.Eset_auto1(nullptr, nullptr);
}

QuietErrors::~QuietErrors() {
  --depth_;
  if (function2_ != nullptr) h5.Eset_auto2(kDefaultStack, function2_, data_);
  if (function1_ != nullptr) h5.Eset_auto1(function1_, data_);
}

QuietForwarding::QuietForwarding() {
  get_handler(function2_, function1_, data_);
  // A layer above has set ours already, which lives longer than this one.
  if (function2_ == &on_error2) function2_ = nullptr;
  if (function1_ == &on_error1) function1_ = nullptr;
  if (function2_ != nullptr) h5.Eset_auto2(kDefaultStack, &on_error2, this);
  if (function1_ != nullptr) h5.Eset_auto1(&on_error1, this);
}

QuietForwarding::~QuietForwarding() {
  if (function2_ == nullptr && function1_ == nullptr) return;
  H5E_auto2_t now2 = nullptr;
  H5E_auto1_t now1 = nullptr;
  void* now_data = nullptr;
  get_handler(now2, now1, now_data);
  if (now_data != this) return;  // the program's own function has set another one
  if (function2_ != nullptr) h5.Eset_auto2(kDefaultStack, function2_, data_);
  if (function1_ != nullptr) h5.Eset_auto1(function1_, data_);
}

herr_t QuietForwarding::on_error2(hid_t stack, void* self) {
  const auto& quiet = *static_cast<QuietForwarding*>(self);
  return failed_in_forwarding(stack) ? 0 : quiet.function2_(stack, quiet.data_);
}

herr_t QuietForwarding::on_error1(void* self) {
  const auto& quiet = *static_cast<QuietForwarding*>(self);
  return failed_in_forwarding(kDefaultStack) ? 0 : quiet.function1_(quiet.data_);
}

}  // namespace headrace
