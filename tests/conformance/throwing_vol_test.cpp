// A connector that throws from the callback it is told to. The cases expand from vol/callbacks.def.
#include <algorithm>
#include <vector>

#include "conformance/exercise.hpp"
#include "conformance/fixture.hpp"
#include "conformance/throwing.hpp"

namespace headrace::test {
namespace {

using vol::Callback;

// These throw after they did their work: what they free would leak otherwise.
constexpr bool throws_late(std::string_view name) {
  return name == "wrap_free_wrap_ctx" || name == "terminate";
}

constexpr bool frees(std::string_view name) {
  return name.ends_with("_close") || name == "info_free" || name == "wrap_unwrap_object" ||
         name == "wrap_free_wrap_ctx";
}

struct Throwing : vol::PassThrough<Throwing> {
  static constexpr const char* kName = "throwing";
  static constexpr H5VL_class_value_t kValue = 400;
  static constexpr auto kOverrides = every_callback<Callback>();
  using Base = vol::PassThrough<Throwing>;
#define HEADRACE_VOL(name, member, how, position)                      \
  static constexpr vol::signature::name inherited_##name = Base::name; \
  static constexpr vol::signature::name name =                         \
      &Thrower<Callback::name, throws_late(#name), inherited_##name>::call;
#include "vol/callbacks.def"
#undef HEADRACE_VOL
};

struct Row {
  const char* name;
  Callback callback;
  bool (*fails)();
};

const Row kRows[] = {
#define HEADRACE_VOL(name, member, how, position) \
  {#name, Callback::name, [] { return fails_on_nothing(vol::class_of<Throwing>().member); }},
#include "vol/callbacks.def"
#undef HEADRACE_VOL
};

class ThrowingVol : public testing::TestWithParam<Row> {
 protected:
  void SetUp() override {
    bind_to_test_library();
    Trigger<Callback>::thrown = 0;
  }
};

TEST_P(ThrowingVol, BecomesErrorRecords) {
  // These need an object, which the next test has.
  if (throws_late(GetParam().name) || GetParam().callback == Callback::dataset_close ||
      GetParam().callback == Callback::file_close)
    return;
  expect_error_records(GetParam().name, GetParam().callback, GetParam().fails);
}

// Two ids of one file must not be left to the end of the library: H5I_clear_type (1.14.5) frees the
// first one's object, and H5I_find_id looks at it when the second one is closed.
void close_files_again() {
  const ssize_t count = H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_FILE);
  std::vector<hid_t> files(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  H5Fget_obj_ids(H5F_OBJ_ALL, H5F_OBJ_FILE, files.size(), files.data());
  for (const hid_t file : files) H5Fclose(file);
}

// A whole program with the callback throwing each time: HDF5 calls fail, nothing crashes, and what
// the program then closes is freed (the address sanitizer's build says so).
TEST_P(ThrowingVol, ReachesTheProgram) {
  // HDF5 uses what get_object returns without looking: it has no way to fail and must not be made
  // to.
  if (GetParam().callback == Callback::wrap_get_object) return;
  const FreeingRefused leak_check(frees(GetParam().name));
  const ScratchFolder folder;
  const hid_t fapl = fapl_with(vol::class_of<Throwing>());
  PrintedErrors errors;
  Trigger<Callback>::armed = GetParam().callback;
  const int failures = exercise(folder.file("t.h5"), fapl);
  Trigger<Callback>::armed = Callback::count_;
  if (GetParam().callback == Callback::file_close) close_files_again();
  if (Trigger<Callback>::thrown > 0) {
    EXPECT_GT(failures, 0) << GetParam().name;
    EXPECT_TRUE(errors.contains("the cause")) << GetParam().name;
  }
  H5Pclose(fapl);
}

// Fails to close groups and datasets, the group after it closed what lies below.
struct Unclosing : vol::PassThrough<Unclosing> {
  using Base = vol::PassThrough<Unclosing>;
  static constexpr const char* kName = "unclosing";
  static constexpr H5VL_class_value_t kValue = 401;
  static constexpr std::array kOverrides{Callback::dataset_close, Callback::group_close};
  static inline bool fails = true;
  static inline bool fails_below = false;
  static herr_t dataset_close(void* self, hid_t dxpl, void** req) {
    if (fails) throw Error("write of dataset lost");
    const herr_t result = Base::dataset_close(self, dxpl, req);
    return fails_below ? -1 : result;
  }
  static herr_t group_close(void* self, hid_t dxpl, void** req) {
    const herr_t result = Base::group_close(self, dxpl, req);
    if (fails) throw Error("too late");
    return result;
  }
};

class FailedClose : public testing::Test {
 protected:
  void SetUp() override {
    Unclosing::fails = true;
    fapl_ = fapl_with(vol::class_of<Unclosing>());
    file_ = H5Fcreate(folder_.file("f.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl_);
  }
  void TearDown() override { H5Pclose(fapl_); }
  hid_t make_dataset() const {
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t dset =
        H5Dcreate2(file_, "d", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Sclose(space);
    return dset;
  }
  ScratchFolder folder_;
  hid_t fapl_ = H5I_INVALID_HID;
  hid_t file_ = H5I_INVALID_HID;
};

TEST_F(FailedClose, OfADatasetIsToldByTheFileOnce) {
  PrintedErrors errors;
  EXPECT_GE(H5Dclose(make_dataset()), 0);
  EXPECT_LT(H5Fflush(file_, H5F_SCOPE_LOCAL), 0);
  EXPECT_TRUE(errors.contains("write of dataset lost"));
  EXPECT_GE(H5Fflush(file_, H5F_SCOPE_LOCAL), 0);
  EXPECT_GE(H5Fclose(file_), 0);
}

TEST_F(FailedClose, OfADatasetBelowIsToldByTheFileOnce) {
  PrintedErrors errors;
  Unclosing::fails = false;
  const hid_t dataset = make_dataset();
  Unclosing::fails_below = true;
  EXPECT_GE(H5Dclose(dataset), 0);
  Unclosing::fails_below = false;
  EXPECT_LT(H5Fflush(file_, H5F_SCOPE_LOCAL), 0);
  EXPECT_TRUE(errors.contains("a dataset was not closed in order"));
  EXPECT_GE(H5Fclose(file_), 0);
}

TEST_F(FailedClose, OfADatasetIsToldByTheCloseOfTheFile) {
  PrintedErrors errors;
  EXPECT_GE(H5Dclose(make_dataset()), 0);
  EXPECT_LT(H5Fclose(file_), 0);
  EXPECT_TRUE(errors.contains("write of dataset lost"));
  EXPECT_GE(H5Fclose(file_), 0) << "still open after the failure, closed now";
}

TEST_F(FailedClose, TooLateIsSurvived) {
  PrintedErrors errors;
  const hid_t group = H5Gcreate2(file_, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_LT(H5Gclose(group), 0);
  EXPECT_TRUE(errors.contains("too late"));
  Unclosing::fails = false;
  EXPECT_GE(H5Gclose(group), 0);
  EXPECT_GE(H5Fclose(file_), 0);
}

INSTANTIATE_TEST_SUITE_P(Callbacks, ThrowingVol, testing::ValuesIn(kRows),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace headrace::test
