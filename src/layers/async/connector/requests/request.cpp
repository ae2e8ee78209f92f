#include "layers/async/connector/requests/request.hpp"

#include <algorithm>

#include "hdf5/error_stack.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/async/connector/chunks/reads_behind.hpp"
#include "layers/async/connector/requests/queue.hpp"
#include "vol/callbacks.hpp"
#include "vol/forward.hpp"

namespace headrace::async {
namespace {

using std::chrono::nanoseconds;

// Parts that workers fail in are to be ended by this thread. Returns what is left of the time.
nanoseconds wait_here(engine::Completion& completion, nanoseconds timeout) {
  constexpr std::chrono::milliseconds kPatience{5};
  using Clock = std::chrono::steady_clock;
  end_reads(timeout == nanoseconds::max());
  if (timeout == nanoseconds::max()) return nanoseconds::zero();
  const Clock::time_point begin = Clock::now();
  nanoseconds left = timeout;
  while (left > left.zero() && !completion.wait(std::min<nanoseconds>(left, kPatience))) {
    end_reads(false);
    left = timeout - (Clock::now() - begin);
  }
  return nanoseconds::zero();
}

H5VL_request_status_t status_of(const Request& request, nanoseconds timeout) {
  if (request.canceled) return H5VL_REQUEST_STATUS_CANCELED;
  if (request.queued) carry_out_queue();
  if (request.ends_here) timeout = wait_here(*request.completion, timeout);
  if (!request.completion->wait(timeout)) return H5VL_REQUEST_STATUS_IN_PROGRESS;
  return request.completion->error() == nullptr ? H5VL_REQUEST_STATUS_SUCCEED
                                                : H5VL_REQUEST_STATUS_FAIL;
}

// What went wrong. The caller owns the stack.
hid_t error_stack(const Request& request) {
  if (request.stack != nullptr) return request.stack->copy();
  const std::exception_ptr error = request.completion->error();
  const PrivateErrors own;
  h5.Eclear2(kDefaultStack);
  try {
    if (error != nullptr) std::rethrow_exception(error);
  } catch (...) {
    push_current_exception("asynchronous request");
  }
  return h5.Eget_current_stack();
}

// All that a call may touch of the program's buffer; nothing where that cannot be told.
std::span<const std::byte> reached_by(const vol::Transfer& call, const void* buffer) {
  const PrivateErrors own;
  const std::uint64_t elements = call.memory_extent();
  return {static_cast<const std::byte*>(buffer), elements * h5.Tget_size(call.mem_type)};
}

}  // namespace

ErrorStack::~ErrorStack() {
  const PrivateErrors own;
  h5.Idec_ref(id_);
}

hid_t ErrorStack::copy() const {
  const PrivateErrors own;
  const hid_t stack = h5.Ecreate_stack();
  h5.Eappend_stack(stack, id_, /*close_source_stack=*/false);
  return stack;
}

vol::Object* Request::make(std::shared_ptr<Request> request, const vol::UnderRef& connector) {
  return new vol::Object{nullptr, connector, std::move(request)};
}

Request* Request::of(void* object) {
  const vol::Object& found = vol::Object::from(object);
  return found.under == nullptr ? found.state.find<Request>() : nullptr;
}

herr_t lend(const vol::Transfer& call, const void* buffer, void** req,
            const std::function<herr_t()>& transfer) {
  const engine::Lending lending(reached_by(call, buffer));
  const herr_t result = transfer();
  const auto completion = lending.completion();
  if (completion == nullptr) return result;
  if (result >= 0 && *req == nullptr) {
    *req = Request::make(std::make_shared<Request>(completion), call.dataset.connector);
    return result;
  }
  // Nobody could wait for it: a failed call has no request, another layer's knows nothing of it.
  completion->wait(nanoseconds::max());
  if (completion->error() != nullptr) std::rethrow_exception(completion->error());
  return result;
}

herr_t request_wait(void* self, std::uint64_t timeout, H5VL_request_status_t* status) {
  const Request* request = Request::of(self);
  if (request == nullptr)
    return vol::forward<vol::Callback::request_wait>(vol::Object::from(self), timeout, status);
  const auto limit = std::min<std::uint64_t>(timeout, nanoseconds::max().count());
  *status = status_of(*request, nanoseconds(limit));
  return 0;
}

herr_t request_notify(void* self, H5VL_request_notify_t callback, void* context) {
  const Request* request = Request::of(self);
  if (request == nullptr)
    return vol::forward<vol::Callback::request_notify>(vol::Object::from(self), callback, context);
  // Workers must not run the program's code, so it is called from here, at the end.
  return callback(context, status_of(*request, nanoseconds::max()));
}

// Bytes that a worker may be writing at this moment cannot be taken back.
herr_t request_cancel(void* self, H5VL_request_status_t* status) {
  Request* request = Request::of(self);
  if (request == nullptr)
    return vol::forward<vol::Callback::request_cancel>(vol::Object::from(self), status);
  if (request->queued) remove_from_queue(*request);
  *status = status_of(*request, nanoseconds::zero());
  if (*status == H5VL_REQUEST_STATUS_IN_PROGRESS) *status = H5VL_REQUEST_STATUS_CANT_CANCEL;
  return 0;
}

herr_t request_specific(void* self, H5VL_request_specific_args_t* args) {
  Request* request = Request::of(self);
  if (request == nullptr)
    return vol::forward<vol::Callback::request_specific>(vol::Object::from(self), args);
  if (args->op_type == H5VL_REQUEST_GET_ERR_STACK) {
    args->args.get_err_stack.err_stack_id = error_stack(*request);
    return 0;
  }
  const auto& times = args->args.get_exec_time;
  const nanoseconds begin = request->begin.time_since_epoch();
  if (times.exec_ts != nullptr) *times.exec_ts = static_cast<std::uint64_t>(begin.count());
  if (times.exec_time != nullptr)
    *times.exec_time = static_cast<std::uint64_t>(request->completion->duration().count());
  return 0;
}

herr_t request_optional(void* self, H5VL_optional_args_t* args) {
  if (Request::of(self) != nullptr) throw Error("a request has no optional operations");
  return vol::forward<vol::Callback::request_optional>(vol::Object::from(self), args);
}

herr_t request_free(void* self) {
  if (Request::of(self) == nullptr)
    return vol::CloseForwarder<vol::Callback::request_free, vol::signature::request_free>::call(
        self);
  return 0;
}

}  // namespace headrace::async
