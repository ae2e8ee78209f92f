#include "connectors/async/chunks/closings.hpp"

#include <list>
#include <new>

#include "connectors/async/file_state.hpp"
#include "hdf5/quiet_errors.hpp"

namespace headrace::async {
namespace {

struct ClosingDataset {
  vol::Object handle;
  std::shared_ptr<Dataset> dataset;
};

std::list<ClosingDataset>& closings() {
  static auto& closings = *new std::list<ClosingDataset>;
  return closings;
}

void close(ClosingDataset& closing) {
  if (closing.dataset->handle == &closing.handle) closing.dataset->handle = nullptr;
  const vol::Object& handle = closing.handle;
  if (h5.VLdataset_close(handle.under, handle.connector->id(), h5.transfer_list.get(), nullptr) < 0)
    handle.connector->defer(std::make_exception_ptr(
        Error("a dataset could not be closed after its chunks were stored")));
}

}  // namespace

bool close_behind(vol::Object& object) noexcept try {
  constexpr std::size_t kMost = 64;
  auto dataset = known_dataset_of(object);
  if (dataset == nullptr || dataset->handle != &object ||
      (dataset->unstored() == 0 && dataset->reading == 0) || !is_open(*object.connector) ||
      closings().size() >= kMost)
    return false;
  ClosingDataset& closing = closings().emplace_back(
      vol::Object{object.under, object.connector, object.state}, std::move(dataset));
  closing.dataset->handle = &closing.handle;
  object.under = nullptr;
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

void close_stored() noexcept {
  if (!any_closing()) return;
  const Aside aside;
  std::erase_if(closings(), [](ClosingDataset& closing) {
    if (closing.dataset->unstored() > 0 || closing.dataset->reading > 0) return false;
    close(closing);
    return true;
  });
}

bool any_closing() { return !closings().empty(); }

}  // namespace headrace::async
