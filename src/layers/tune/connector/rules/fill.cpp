#include "layers/tune/connector/rules/fill.hpp"

#include "hdf5/quiet_errors.hpp"
#include "layers/tune/driver/deferred_fill.hpp"
#include "vol/own_question.hpp"

namespace headrace::tune {
namespace {

bool is_number(hid_t type) {
  const H5T_class_t kind = h5.Tget_class(type);
  return (kind == H5T_INTEGER || kind == H5T_FLOAT) && h5.Tcommitted(type) <= 0;
}

}  // namespace

std::vector<std::byte> fill_value_of(hid_t type, hid_t dcpl) {
  const PrivateErrors own;
  H5D_fill_value_t defined = H5D_FILL_VALUE_ERROR;
  if (h5.Pget_layout(dcpl) != H5D_CONTIGUOUS || h5.Pget_external_count(dcpl) != 0 ||
      !vol::fills(dcpl) || !is_number(type) || h5.Pfill_value_defined(dcpl, &defined) < 0)
    return {};
  std::vector<std::byte> value(h5.Tget_size(type));
  if (defined == H5D_FILL_VALUE_USER_DEFINED && h5.Pget_fill_value(dcpl, type, value.data()) < 0)
    return {};
  return value;
}

std::shared_ptr<OpenFile*> driver_of(const vol::Object& file, const vol::Opening& opening) {
  const auto* const state = file.connector->state.find<FileState>();
  if (file.connector->seat().serial.empty() ||
      (file.connector->native() == nullptr && !state->over_async) || !opening.writes() ||
      opening.swmr() || vol::is_parallel(opening.fapl))
    return nullptr;
  FileInquiry inquiry;
  vol::ask_driver(file);
  return inquiry.found;
}

void keep_no_more_fills(const vol::UnderConnector& file) {
  const auto* const state = file.state.find<FileState>();
  if (state != nullptr && state->driver != nullptr && *state->driver != nullptr)
    keep_no_more(**state->driver);
}

}  // namespace headrace::tune
