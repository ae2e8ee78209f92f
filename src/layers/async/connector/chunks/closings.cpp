#include "layers/async/connector/chunks/closings.hpp"

#include <list>
#include <new>

#include "hdf5/quiet_errors.hpp"
#include "layers/async/connector/file_state.hpp"
#include "vol/dataset/kept_open.hpp"

namespace headrace::async {
namespace {

struct ClosingDataset {
  ClosingDataset(vol::Object& closed, std::shared_ptr<Dataset> of)
      : below(closed), dataset(std::move(of)) {
    dataset->handle = &below.object();
  }

  vol::KeptOpen below;
  std::shared_ptr<Dataset> dataset;
};

std::list<ClosingDataset>& closings() {
  static auto& closings = *new std::list<ClosingDataset>;
  return closings;
}

void close(ClosingDataset& closing) {
  vol::Object& handle = closing.below.object();
  if (closing.dataset->handle == &handle) closing.dataset->handle = nullptr;
  try {
    closing.below.close();
  } catch (const Error&) {
    handle.connector->defer(std::current_exception());
  }
}

}  // namespace

bool close_behind(vol::Object& object) noexcept try {
  constexpr std::size_t kMost = 64;
  auto dataset = known_dataset_of(object);
  if (dataset == nullptr || dataset->handle != &object ||
      (dataset->unstored() == 0 && dataset->reading == 0) || !is_open(*object.connector) ||
      closings().size() >= kMost)
    return false;
  closings().emplace_back(object, std::move(dataset));
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

void close_stored() noexcept {
  if (!any_closing()) return;
  const PrivateErrors own;
  std::erase_if(closings(), [](ClosingDataset& closing) {
    if (closing.dataset->unstored() > 0 || closing.dataset->reading > 0) return false;
    close(closing);
    return true;
  });
}

bool any_closing() { return !closings().empty(); }

}  // namespace headrace::async
