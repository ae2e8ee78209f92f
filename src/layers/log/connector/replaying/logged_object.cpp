#include "layers/log/connector/replaying/logged_object.hpp"

#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "hdf5/error_stack.hpp"
#include "layers/log/connector/replaying/fit.hpp"

namespace headrace::log_layout {
namespace {

OpenedObject opened_by(const Token& token, const vol::BelowFile& file) {
  H5O_token_t own{};
  static_assert(sizeof own == sizeof token);
  std::memcpy(&own, token.data(), sizeof own);
  H5VL_loc_params_t where{H5I_FILE, H5VL_OBJECT_BY_TOKEN, {}};
  where.loc_data.loc_by_token.token = &own;
  return {file, where};
}

}  // namespace

engine::log::LoggedWrites writes_in(std::span<const Part> parts) {
  engine::log::LoggedWrites writes;
  for (const Part& part : parts) writes.add(*part.reader, part.place, part.end);
  return writes;
}

LoggedObject::LoggedObject(const OpenFile& place, const vol::UnderRef& connector,
                           std::span<const Part> parts, engine::log::LoggedWrites writes)
    : opened_(opened_by(parts.front().logged().token, place.below)),
      object_(opened_.under(), connector),
      name_("dataset " + parts.front().logged().name + " of file " + place.path),
      writes_(std::move(writes)) {
  if (opened_.under() == nullptr || opened_.type() != H5I_DATASET)
    throw Error("dataset " + parts.front().logged().name + " of the log is not in file " +
                place.path);
  try {
    dataset_ = examine(object_);
  } catch (const Error& error) {  // HDF5 does not know the name of what was opened by its token
    throw Error(name_ + " cannot be examined: " + error.what());
  }
  if (dataset_ == nullptr || !vol::update_dims(*dataset_, object_))
    throw Error(name_ + " is none that is logged");
  for (const Part& part : parts) require_fit(*dataset_, part.logged(), writes_, place.path);
  dataset_->handle = &object_;
}

void LoggedObject::close() {
  if (!opened_.close())
    throw Error(name_ + " could not be closed, and misses data: " + root_cause());
}

}  // namespace headrace::log_layout
