// The requests of explicit asynchronous calls: H5Dwrite_async with a buffer that its program lends.
//
// An operation that is done when its call returns has no request at all, which HDF5 takes for a
// complete one. The requests of this layer have no object below; they are the object's state.
#pragma once

#include <chrono>
#include <memory>

#include "engine/lending.hpp"
#include "vol/object.hpp"

namespace headrace::async {

struct Request {
  std::shared_ptr<engine::Completion> completion;
  std::chrono::system_clock::time_point begin;

  // For HDF5, which frees it by request_free. `connector` is that of the file.
  static vol::Object* make(std::shared_ptr<engine::Completion> completion,
                           const vol::UnderRef& connector);
  // Null when the request is one of the connector below.
  static const Request* of(void* object);
};

// The connector's dataset_write for data that goes to the connector below. When HDF5 asks for a
// request, the program's buffer is lent to the driver; the request is that of what is under way.
herr_t write_lent(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                  hid_t file_space[], hid_t dxpl, const void* buf[], void** req);

herr_t request_wait(void* self, std::uint64_t timeout, H5VL_request_status_t* status);
herr_t request_notify(void* self, H5VL_request_notify_t callback, void* context);
herr_t request_cancel(void* self, H5VL_request_status_t* status);
herr_t request_specific(void* self, H5VL_request_specific_args_t* args);
herr_t request_optional(void* self, H5VL_optional_args_t* args);
herr_t request_free(void* self);

}  // namespace headrace::async
