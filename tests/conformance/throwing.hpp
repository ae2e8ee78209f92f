// What the connector and the driver that throw on command have in common.
#pragma once

#include <gtest/gtest.h>
#include <hdf5.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#include <array>
#include <cerrno>
#include <string>

#include "base/error.hpp"
#include "hdf5/edge.hpp"

namespace headrace::test {

// The callback that throws, and how often one has. `count_` of the enum means none.
template <typename Callback>
struct Trigger {
  static inline Callback armed = Callback::count_;
  static inline int thrown = 0;
};

template <typename Callback>
[[noreturn]] void throw_nested() {
  ++Trigger<Callback>::thrown;
  try {
    throw Error("the cause", ENOSPC);
  } catch (...) {
    std::throw_with_nested(Error("the context"));
  }
}

// Runs the inherited callback unless armed; closing ones (`late`) throw after it, as a connector
// does whose late write failed.
template <auto callback, bool late, auto inherited, typename Signature = decltype(inherited)>
struct Thrower;

template <auto callback, bool late, auto inherited, typename R, typename... Args>
struct Thrower<callback, late, inherited, R (*)(Args...)> {
  using Callback = decltype(callback);
  static R call(Args... args) {
    const bool armed = Trigger<Callback>::armed == callback;
    if (armed && !late) throw_nested<Callback>();
    const R result = inherited(args...);
    if (armed) throw_nested<Callback>();
    return result;
  }
};

// What a callback that frees refuses to free is leaked by the injected failure itself: HDF5 does
// not try again. The leak checker looks away for its lifetime.
class FreeingRefused {
 public:
#ifdef __SANITIZE_ADDRESS__
  explicit FreeingRefused(bool refused) : refused_(refused) {
    if (refused_) __lsan_disable();
  }
  ~FreeingRefused() {
    if (refused_) __lsan_enable();
  }
  FreeingRefused(const FreeingRefused&) = delete;
  FreeingRefused& operator=(const FreeingRefused&) = delete;

 private:
  bool refused_;
#else
  explicit FreeingRefused(bool /*refused*/) {}
#endif
};

// All values of the enum but count_, for kOverrides.
template <typename Callback>
constexpr auto every_callback() {
  std::array<Callback, static_cast<std::size_t>(Callback::count_)> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all.at(i) = static_cast<Callback>(i);
  return all;
}

// Calls an entry of a class table with zeros for arguments: a throwing one does not look at them.
// True when it returned its failure value.
template <typename R, typename... Args>
bool fails_on_nothing(R (*entry)(Args...)) {
  // NOLINTNEXTLINE(bugprone-invalid-enum-default-initialization): nor at an H5I_type_t
  return entry(Args{}...) == failure_value<R>();
}

// The records on the default error stack, the first pushed first, as "function|text" lines.
inline std::string default_stack() {
  std::string text;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned, const H5E_error2_t* record, void* out) -> herr_t {
        *static_cast<std::string*>(out) +=
            std::string(record->func_name) + "|" + record->desc + "\n";
        return 0;
      },
      &text);
  return text;
}

// Checks the edge: the failure value, one record for each nested exception, the records that were
// there before kept below.
template <typename Callback>
void expect_error_records(const std::string& name, Callback callback, bool (*fails)()) {
  H5Eclear2(H5E_DEFAULT);
  H5Epush2(H5E_DEFAULT, "f", "below", 1, H5E_ERR_CLS, H5E_IO, H5E_READERROR, "pushed below");
  Trigger<Callback>::armed = callback;
  EXPECT_TRUE(fails());
  Trigger<Callback>::armed = Callback::count_;
  EXPECT_EQ(default_stack(),
            "below|pushed below\n" + name +
                "|the cause: errno = 28, error message = 'No space left on device'\n" + name +
                "|the context\n");
  H5Eclear2(H5E_DEFAULT);
}

}  // namespace headrace::test
