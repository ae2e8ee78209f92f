// The requests of explicit asynchronous calls: H5Dwrite_async with a buffer that its program lends.
//
// An operation that is done when its call returns has no request at all, which HDF5 takes for a
// complete one. The requests of this layer have no object and no connector below.
#pragma once

#include <chrono>
#include <memory>

#include "engine/lending.hpp"
#include "vol/object.hpp"

namespace headrace::async {

struct Request {
  std::shared_ptr<engine::Completion> completion;
  std::chrono::system_clock::time_point begin;

  // For HDF5, which frees it by request_free.
  static vol::Object* make(std::shared_ptr<engine::Completion> completion);
  // Null when the request is one of the connector below.
  static Request* of(void* object);
};

// In bytes from the first on: all that a transfer to or from `memory` may touch. 0 when it cannot
// be told. `space` may be H5S_ALL and the like; that of the file then counts.
std::size_t buffer_bytes(const vol::Object& dataset, hid_t type, hid_t space);

herr_t request_wait(void* self, std::uint64_t timeout, H5VL_request_status_t* status);
herr_t request_notify(void* self, H5VL_request_notify_t callback, void* context);
herr_t request_cancel(void* self, H5VL_request_status_t* status);
herr_t request_specific(void* self, H5VL_request_specific_args_t* args);
herr_t request_free(void* self);

}  // namespace headrace::async
