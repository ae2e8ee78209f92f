// A driver that throws from the callback it is told to. The cases expand from vfd/callbacks.def.
#include "conformance/exercise.hpp"
#include "conformance/fixture.hpp"
#include "conformance/throwing.hpp"

namespace headrace::test {
namespace {

using vfd::Callback;
using vfd::Over;

// Callbacks that a driver over sec2 does not have stay absent: HDF5 would call them otherwise.
template <auto callback, bool late, auto inherited, typename Signature>
constexpr Signature thrower_or_absent() {
  if constexpr (same_function<inherited, Signature{}>)
    return nullptr;
  else
    return &Thrower<callback, late, inherited>::call;
}

constexpr bool throws_late(std::string_view name) {
  return name == "close" || name == "terminate" || name == "unlock" || name == "fapl_free";
}

struct Throwing : vfd::PassThrough<Throwing, Over::sec2> {
  static constexpr const char* kName = "throwing";
  static constexpr H5FD_class_value_t kValue = 400;
  using Base = vfd::PassThrough<Throwing, Over::sec2>;
#define HEADRACE_VFD(name, kind, function)                                    \
  static constexpr vfd::signature::name inherited_##name = Base::name;        \
  static constexpr vfd::signature::name name =                                \
      thrower_or_absent<Callback::name, throws_late(#name), inherited_##name, \
                        vfd::signature::name>();
#include "vfd/callbacks.def"
#undef HEADRACE_VFD
  static constexpr std::array kOverrides{
      Callback::fapl_get, Callback::fapl_copy, Callback::fapl_free, Callback::terminate,
      Callback::open,     Callback::close,     Callback::cmp,       Callback::query,
      Callback::get_eoa,  Callback::set_eoa,   Callback::get_eof,   Callback::get_handle,
      Callback::read,     Callback::write,     Callback::flush,     Callback::truncate,
      Callback::lock,     Callback::unlock,    Callback::del,       Callback::ctl};
};

struct Row {
  const char* name;
  Callback callback;
  bool (*fails)();  // null when the class has no such callback
};

template <auto entry, bool absent>
constexpr bool (*fails_or_absent())() {
  if constexpr (absent)
    return nullptr;
  else
    return [] { return fails_on_nothing(vfd::class_of<Throwing>().*entry); };
}

const Row kRows[] = {
#define HEADRACE_VFD(name, kind, function) \
  {#name, Callback::name,                  \
   fails_or_absent<&H5FD_class_t::name, same_function<Throwing::name, vfd::signature::name{}>>()},
#include "vfd/callbacks.def"
#undef HEADRACE_VFD
};

class ThrowingVfd : public testing::TestWithParam<Row> {
 protected:
  void SetUp() override {
    bind_to_test_library();
    Trigger<Callback>::thrown = 0;
  }
};

TEST_P(ThrowingVfd, BecomesErrorRecords) {
  if (GetParam().fails == nullptr || throws_late(GetParam().name)) return;
  expect_error_records(GetParam().name, GetParam().callback, GetParam().fails);
}

TEST_P(ThrowingVfd, ReachesTheProgram) {
  // get_eoa, get_eof and query are asked where HDF5 expects no failure and has no way to tell it;
  // no answer of fapl_get means that there is no info.
  const std::string name = GetParam().name;
  const bool told = name != "get_eoa" && name != "get_eof" && name != "query" && name != "cmp" &&
                    name != "fapl_get";
  const ScratchFolder folder;
  const hid_t fapl = fapl_with(vfd::class_of<Throwing>());
  PrintedErrors errors;
  Trigger<Callback>::armed = GetParam().callback;
  const int failures = exercise(folder.file("t.h5"), fapl);
  Trigger<Callback>::armed = Callback::count_;
  if (told && Trigger<Callback>::thrown > 0) {
    EXPECT_GT(failures, 0) << name;
    EXPECT_TRUE(errors.contains("the cause")) << name;
  }
  H5Pclose(fapl);
}

INSTANTIATE_TEST_SUITE_P(Callbacks, ThrowingVfd, testing::ValuesIn(kRows),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace headrace::test
