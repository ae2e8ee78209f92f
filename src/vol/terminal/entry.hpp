// What the class table of a terminal connector holds around the connector's functions: the refusal
// of callbacks that it does not have, and the ends of objects, as vol/closing.hpp says them of
// connectors with one below.
#pragma once

#include <cxxabi.h>

#include <tuple>

#include "base/enum_name.hpp"
#include "hdf5/quiet_errors.hpp"
#include "hdf5/report/events.hpp"
#include "hdf5/report/summary.hpp"
#include "vol/callbacks.hpp"
#include "vol/terminal/info.hpp"
#include "vol/terminal/object.hpp"

namespace headrace::vol {

// "H5VL_FILE_REOPEN" where the argument is that of a callback with several operations.
template <typename T>
std::string operation_of(T /*argument*/) {
  return {};
}
template <typename Args>
  requires std::is_enum_v<decltype(Args::op_type)>
std::string operation_of(Args* args) {
  return " (" + enum_name(args->op_type) + ")";
}
inline std::string operation_of(H5VL_optional_args_t* args) {
  return " (operation " + std::to_string(args->op_type) + ")";
}

// Throws "connector NAME does not support CALLBACK (OPERATION)".
template <typename C, Callback callback, typename Signature>
struct Refusal;

template <typename C, Callback callback, typename R, typename... Args>
struct Refusal<C, callback, R (*)(Args...)> {
  static R call(Args... args) {
    std::string text = std::string("connector ") + C::kName + " does not support " +
                       kCallbackNames[static_cast<std::size_t>(callback)];
    ((text += operation_of(args)), ...);
    throw Error(text);
  }
};

// The function of a close that has nothing to do: the table's entry deletes the object.
template <typename Signature>
struct Released;

template <typename... Rest>
struct Released<herr_t (*)(void*, Rest...)> {
  static herr_t call(void* /*self*/, Rest... /*rest*/) { return 0; }
};

template <auto function, typename Signature = decltype(function)>
struct TerminalClosing;

template <auto function, typename... Rest>
struct TerminalClosing<function, herr_t (*)(void*, Rest...)> {
  static herr_t call(void* self, Rest... rest) {
    TerminalObject& object = TerminalObject::from(self);
    const herr_t result = function(self, rest...);
    if (object.type() == H5I_FILE) object.file().throw_deferred();
    if (result >= 0) delete &object;
    return result;
  }
};

// The close of a dataset always succeeds: HDF5 does not survive one that fails.
template <auto function>
struct TerminalDatasetClosing {
  static herr_t call(void* self, hid_t dxpl, void** req) {
    const std::unique_ptr<TerminalObject> object(&TerminalObject::from(self));
    try {
      if (function(self, dxpl, req) < 0)
        throw Error("a dataset was not closed in order: " + root_cause());
    } catch (const abi::__forced_unwind&) {
      throw;
    } catch (...) {
      object->file().defer(std::current_exception());
    }
    return 0;
  }
};

template <auto function>
struct TerminalFlushing {
  static herr_t call(void* self, H5VL_file_specific_args_t* args, hid_t dxpl, void** req) {
    const herr_t result = function(self, args, dxpl, req);
    if (args->op_type == H5VL_FILE_FLUSH && result >= 0)
      TerminalObject::from(self).file().throw_deferred();
    return result;
  }
};

// Maps are closed by `optional`, as vol/closing.hpp says.
template <auto function>
struct TerminalMapClosing {
  static herr_t call(void* self, H5VL_optional_args_t* args, hid_t dxpl, void** req) {
    const herr_t result = function(self, args, dxpl, req);
    if (args->op_type == H5VL_MAP_CLOSE && result >= 0) delete &TerminalObject::from(self);
    return result;
  }
};

// Of file_create and file_open: malformed settings fail them, and the report has them.
template <typename C, Callback callback, auto function, typename Signature = decltype(function)>
struct TerminalOpening;

template <typename C, Callback callback, auto function, typename... Rest>
struct TerminalOpening<C, callback, function, void* (*)(const char*, unsigned, Rest...)> {
  static void* call(const char* name, unsigned flags, Rest... rest) {
    const char* const called = kCallbackNames[static_cast<std::size_t>(callback)];
    void* file = nullptr;
    try {
      require_environment();
      const hid_t fapl = std::get<sizeof...(Rest) - 3>(std::tuple<Rest...>(rest...));
      terminal_options_of(fapl, C::kName, C::kSettings);
      file = function(name, flags, rest...);
    } catch (...) {
      report_file(Seat::vol, C::kName, called, name, /*ok=*/false);
      throw;
    }
    report_file(Seat::vol, C::kName, called, name, file != nullptr);
    if (file != nullptr) count_file();
    return file;
  }
};

}  // namespace headrace::vol
