// What the class table holds for the callbacks that end objects, around the connector's function.
//
// When a close fails HDF5 keeps the object's id and closes it again at the latest when the library
// ends. So a connector that must fail does it before it calls the pass-through's close and leaves
// the object below open; one that fails afterwards is survived, ours then stays without one below.
//
// A dataset is different: H5D__close_cb (1.14.5 to 2.2.0) frees memory that the id it keeps still
// points to, and the program crashes later. An exception out of dataset_close is therefore deferred
// to the next flush or close of the file, and the dataset is closed. So is a failure from below:
// that dataset is as closed as it will ever be.
#pragma once

#include <cxxabi.h>

#include <exception>

#include "hdf5/error_stack.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/callbacks.hpp"
#include "vol/object.hpp"

namespace headrace::vol {

// After the connector's success our object goes.
template <auto function, typename Signature = decltype(function)>
struct Closing;

template <auto function, typename R, typename... Rest>
struct Closing<function, R (*)(void*, Rest...)> {
  static R call(void* self, Rest... rest) {
    const R result = function(self, rest...);
    if (result >= 0) delete &Object::from(self);
    return result;
  }
};

template <auto function, auto pass_through>
struct DatasetClosing {
  static herr_t call(void* self, hid_t dxpl, void** req) {
    Object& object = Object::from(self);
    herr_t result = 0;
    try {
      result = function(self, dxpl, req);
    } catch (const abi::__forced_unwind&) {
      throw;
    } catch (...) {
      object.connector->defer(std::current_exception());
      result = pass_through(self, dxpl, req);
    }
    if (result < 0)
      object.connector->defer(
          std::make_exception_ptr(Error("a dataset was not closed in order: " + root_cause())));
    delete &object;
    return 0;
  }
};

// A deferred error is told when the file has been closed: a program that gives up finds its lock
// and its descriptor gone, as natively. What else goes wrong then follows from it.
template <auto function>
struct FileClosing {
  static herr_t call(void* self, hid_t dxpl, void** req) {
    Object& object = Object::from(self);
    const UnderRef connector = object.connector;
    const herr_t result = close(*connector, self, dxpl, req);
    connector->throw_deferred();
    if (result >= 0) delete &object;
    return result;
  }

 private:
  static herr_t close(const UnderConnector& connector, void* self, hid_t dxpl, void** req) {
    if (connector.has_deferred()) {
      const PrivateErrors own;
      return function(self, dxpl, req);
    }
    const herr_t result = function(self, dxpl, req);
    // What was published for the close has failed first.
    if (result < 0 && connector.has_deferred()) h5.Eclear2(kDefaultStack);
    return result;
  }
};

template <auto function>
struct FileFlushing {
  static herr_t call(void* self, H5VL_file_specific_args_t* args, hid_t dxpl, void** req) {
    const herr_t result = function(self, args, dxpl, req);
    if (args->op_type == H5VL_FILE_FLUSH && result >= 0)
      Object::from(self).connector->throw_deferred();
    return result;
  }
};

// Maps are the one kind of objects without callbacks of their own: HDF5 closes them by `optional`.
template <auto function>
struct MapClosing {
  static herr_t call(void* self, H5VL_optional_args_t* args, hid_t dxpl, void** req) {
    const herr_t result = function(self, args, dxpl, req);
    if (args->op_type == H5VL_MAP_CLOSE && result >= 0) delete &Object::from(self);
    return result;
  }
};

}  // namespace headrace::vol
