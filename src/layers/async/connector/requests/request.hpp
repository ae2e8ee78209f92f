// The requests of explicit asynchronous calls: large reads and writes, in the buffer that the
// program lends, and small ones that wait in a queue (queue.hpp).
//
// An operation that is done when its call returns has no request at all, which HDF5 takes for a
// complete one. The requests of this layer have no object below; they are the object's state.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "engine/threads/lending.hpp"
#include "layers/async/connector/dataset.hpp"
#include "vol/object.hpp"

namespace headrace::async {

// Owns an error stack. Several requests may have the same.
class ErrorStack {
 public:
  explicit ErrorStack(hid_t id) : id_(id) {}
  ErrorStack(const ErrorStack&) = delete;
  ErrorStack& operator=(const ErrorStack&) = delete;
  ~ErrorStack();
  // A new one with the same records, which the caller owns.
  [[nodiscard]] hid_t copy() const;

 private:
  hid_t id_;
};

struct Request {
  explicit Request(std::shared_ptr<engine::Completion> parts) : completion(std::move(parts)) {}

  std::shared_ptr<engine::Completion> completion;
  std::chrono::system_clock::time_point begin = std::chrono::system_clock::now();
  bool queued = false;  // nothing has been done about it
  bool canceled = false;
  bool ends_here = false;                   // parts of it may need end_reads() to end
  std::shared_ptr<const ErrorStack> stack;  // of a call of HDF5 that failed for it, if one did

  // For HDF5, which frees it by request_free. `connector` is that of the file.
  static vol::Object* make(std::shared_ptr<Request> request, const vol::UnderRef& connector);
  // Null when the request is one of the connector below.
  static Request* of(void* object);
};

// Calls `transfer`, the call of the connector below, with the program's buffer lent to the driver;
// `req` becomes the request of what is under way then.
herr_t lend(const vol::Transfer& call, const void* buffer, void** req,
            const std::function<herr_t()>& transfer);

herr_t request_wait(void* self, std::uint64_t timeout, H5VL_request_status_t* status);
herr_t request_notify(void* self, H5VL_request_notify_t callback, void* context);
herr_t request_cancel(void* self, H5VL_request_status_t* status);
herr_t request_specific(void* self, H5VL_request_specific_args_t* args);
herr_t request_optional(void* self, H5VL_optional_args_t* args);
herr_t request_free(void* self);

}  // namespace headrace::async
