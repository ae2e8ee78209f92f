// The null connector against the native one.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "conformance/exercise.hpp"
#include "conformance/fixture.hpp"
#include "layers/null/connector/null.hpp"
#include "layers/null/driver/null.hpp"

namespace headrace::test {
namespace {

using vol::Callback;

constexpr const char* kVolOnly = "seat=vol;under_vol=0;under_info={}";

const H5VL_class_t& null_class() { return vol::class_of<null::Connector>(); }

TEST(NullVol, HasEveryCallback) {
  bind_to_test_library();
#define HEADRACE_VOL(name, member, how, position) EXPECT_NE(null_class().member, nullptr) << #name;
#include "vol/callbacks.def"
#undef HEADRACE_VOL
  EXPECT_STREQ(null_class().name, "headrace_null");
  EXPECT_EQ(null_class().value, 7200);
}

TEST(NullVol, HandlesWholeProgram) {
  const ScratchFolder folder;
  const hid_t fapl = fapl_with(null_class(), kVolOnly);
  auto& counts = vol::Traits<null::Connector>::counts();
  for (auto& count : counts) count = 0;
  EXPECT_EQ(exercise(folder.file("n.h5"), fapl), 0);
  // Callbacks that no program reaches on a synchronous native file.
  const std::set<Callback> unreached{
      Callback::initialize,        Callback::terminate,        Callback::info_cmp,
      Callback::info_to_str,       Callback::info_from_str,    Callback::attr_optional,
      Callback::datatype_optional, Callback::group_optional,   Callback::link_optional,
      Callback::request_wait,      Callback::request_notify,   Callback::request_cancel,
      Callback::request_specific,  Callback::request_optional, Callback::request_free,
      Callback::blob_optional,     Callback::optional,         Callback::introspect_get_cap_flags};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const bool reached = counts.at(i) > 0;
    EXPECT_TRUE(reached || unreached.contains(static_cast<Callback>(i)))
        << vol::kCallbackNames[i] << " was never called";
  }
  H5Pclose(fapl);
}

TEST(NullVol, ConnectionStringSurvivesThePropertyList) {
  bind_to_test_library();
  const hid_t fapl = fapl_with(null_class(), kVolOnly);
  hid_t connector = H5I_INVALID_HID;
  ASSERT_GE(H5Pget_vol_id(fapl, &connector), 0);
  void* info = nullptr;
  ASSERT_GE(H5Pget_vol_info(fapl, &info), 0);
  char* text = nullptr;
  ASSERT_GE(H5VLconnector_info_to_str(info, connector, &text), 0);
  EXPECT_STREQ(text, "seat=vol;under_vol=0;under_info={}");
  int differ = 1;
  EXPECT_GE(H5VLcmp_connector_info(&differ, connector, info, info), 0);
  EXPECT_EQ(differ, 0);
  std::uint64_t flags = 0;
  EXPECT_GE(H5Pget_vol_cap_flags(fapl, &flags), 0);
  EXPECT_NE(flags & H5VL_CAP_FLAG_NATIVE_FILES, 0U) << "the native connector's flags pass through";
  H5free_memory(text);
  H5VLfree_connector_info(connector, info);
  H5VLclose(connector);
  H5Pclose(fapl);
}

TEST(NullVol, MalformedStringFailsTheOpenWithItsText) {
  const ScratchFolder folder;
  for (const char* text :
       {"seat=attic", "seet=vol", "under_vol=999", "under_vol=x", "under_info={"}) {
    const hid_t fapl = fapl_with(null_class(), text);
    PrintedErrors errors;
    EXPECT_LT(H5Fcreate(folder.file("m.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl), 0);
    EXPECT_EQ(errors.all().size(), 1U);
    const std::string key = std::string(text).substr(0, std::string(text).find('='));
    EXPECT_TRUE(errors.contains(key)) << text;
    H5Pclose(fapl);
  }
}

// What a program sees of a failure: how often HDF5 prints, and the first record, which h5py reads
// the errno from.
std::string first_failure(const std::function<void(hid_t)>& act, hid_t fapl) {
  PrintedErrors errors;
  act(fapl);
  std::ostringstream seen;
  seen << errors.all().size();
  for (const std::string& one : errors.all()) {
    std::istringstream lines(one);
    std::string line;
    std::getline(lines, line);
    seen << " | " << line;
  }
  return seen.str();
}

// While a file is created, opened, probed or deleted, the list is that of the connector below.
TEST(NullVol, TheProgramsListIsItsOwnAfterwards) {
  const ScratchFolder folder;
  const std::string name = folder.file("x.h5");
  const hid_t fapl = fapl_with(null_class(), "seat=both;under_vol=0;under_info={}");
  const hid_t driver = H5FDregister(&vfd::class_of<null::Driver<vfd::Over::sec2>>());
  const hid_t before = H5Pcopy(fapl);
  const auto unchanged = [&] {
    hid_t connector = H5I_INVALID_HID;
    EXPECT_GE(H5Pget_vol_id(fapl, &connector), 0);
    H5VL_class_value_t value = -1;
    EXPECT_GE(H5VLget_value(connector, &value), 0);
    EXPECT_EQ(value, null::Connector::kValue);
    H5VLclose(connector);
    EXPECT_EQ(H5Pget_driver(fapl), H5FD_SEC2);
    EXPECT_GT(H5Pequal(fapl, before), 0);
  };
  const PrintedErrors quiet;
  hid_t file = H5Fcreate(name.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, fapl);
  EXPECT_GE(file, 0);
  unchanged();
  const hid_t again = H5Fopen(name.c_str(), H5F_ACC_RDWR, fapl);  // while it is open
  EXPECT_GE(again, 0);
  unchanged();
  EXPECT_LT(H5Fcreate(name.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, fapl), 0);
  unchanged();
  EXPECT_LT(H5Fopen(folder.file("none.h5").c_str(), H5F_ACC_RDONLY, fapl), 0);
  unchanged();
  EXPECT_GE(H5Fclose(again), 0);
  EXPECT_GE(H5Fclose(file), 0);
  EXPECT_GT(H5Fis_accessible(name.c_str(), fapl), 0);
  unchanged();
  EXPECT_GE(H5Fdelete(name.c_str(), fapl), 0);
  unchanged();
  H5FDunregister(driver);
  H5Pclose(before);
  H5Pclose(fapl);
}

TEST(NullVol, FailuresLookAsOnNative) {
  const ScratchFolder folder;
  const std::string there = folder.file("there.h5");
  const std::string text = folder.file("text.h5");
  H5Fclose(H5Fcreate(there.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  std::ofstream(text) << "no HDF5 file, but long enough to hold a superblock "
                      << std::string(4096, '.');
  const std::vector<std::function<void(hid_t)>> acts{
      [&](hid_t fapl) { H5Fopen(folder.file("none.h5").c_str(), H5F_ACC_RDONLY, fapl); },
      [&](hid_t fapl) { H5Fcreate(there.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, fapl); },
      [&](hid_t fapl) { H5Fopen(text.c_str(), H5F_ACC_RDWR, fapl); },
      [&](hid_t fapl) { H5Fis_accessible(folder.file("none.h5").c_str(), fapl); },
      [&](hid_t fapl) { H5Fdelete(folder.file("none.h5").c_str(), fapl); },
      [&](hid_t fapl) {
        const hid_t file = H5Fopen(there.c_str(), H5F_ACC_RDONLY, fapl);
        H5Gopen2(file, "none", H5P_DEFAULT);
        H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        H5Ldelete(file, "none", H5P_DEFAULT);
        H5Aopen(file, "none", H5P_DEFAULT);
        H5Fclose(file);
      },
      [&](hid_t fapl) {  // what fails in the program's own function is printed there and then
        const hid_t file = H5Fopen(there.c_str(), H5F_ACC_RDWR, fapl);
        H5Gclose(H5Gcreate2(file, "one", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        const auto open_none = [](hid_t group, const char*, const H5L_info2_t*, void*) -> herr_t {
          return H5Gopen2(group, "none", H5P_DEFAULT) < 0 ? 0 : 1;
        };
        H5Literate2(file, H5_INDEX_NAME, H5_ITER_INC, nullptr, open_none, nullptr);
        H5Ldelete(file, "one", H5P_DEFAULT);
        H5Fclose(file);
      }};
  const hid_t plain = H5Pcreate(H5P_FILE_ACCESS);
  const hid_t null = fapl_with(null_class(), kVolOnly);
  for (std::size_t i = 0; i < acts.size(); ++i) {
    const std::string native = first_failure(acts[i], plain);
    EXPECT_NE(native.front(), '0') << i;
    EXPECT_EQ(first_failure(acts[i], null), native) << i;
  }
  H5Pclose(null);
  H5Pclose(plain);
}

// HDF5 only sees that both files have our connector; what lies below them must not be mixed.
TEST(NullVol, RefusesToMixStacks) {
  const ScratchFolder folder;
  const hid_t one = fapl_with(null_class(), kVolOnly);
  const hid_t two =
      fapl_with(null_class(), "seat=vol;under_vol=7200;under_info={seat=vol;under_vol=0}");
  const hid_t a = H5Fcreate(folder.file("a.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, one);
  const hid_t b = H5Fcreate(folder.file("b.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, two);
  H5Gclose(H5Gcreate2(a, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  PrintedErrors errors;
  EXPECT_LT(H5Ocopy(a, "g", b, "copy", H5P_DEFAULT, H5P_DEFAULT), 0);
  EXPECT_LT(H5Lcreate_hard(a, "g", b, "hard", H5P_DEFAULT, H5P_DEFAULT), 0);
  EXPECT_LT(H5Lcopy(a, "g", b, "copy", H5P_DEFAULT, H5P_DEFAULT), 0);
  EXPECT_LT(H5Fmount(a, "g", b, H5P_DEFAULT), 0);
  EXPECT_EQ(errors.all().size(), 4U);
  for (const std::string& one_error : errors.all())
    EXPECT_NE(one_error.find("different connectors below"), std::string::npos) << one_error;
  H5Fclose(b);
  H5Fclose(a);
  H5Pclose(two);
  H5Pclose(one);
}

}  // namespace
}  // namespace headrace::test
