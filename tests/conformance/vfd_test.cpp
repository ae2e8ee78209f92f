// The null driver against sec2.
#include <gtest/gtest.h>

#include "conformance/exercise.hpp"
#include "conformance/fixture.hpp"
#include "layers/null/driver/null.hpp"

namespace headrace::test {
namespace {

using Serial = null::Driver<vfd::Over::sec2>;
using Parallel = null::Driver<vfd::Over::mpio>;

TEST(NullVfd, HasTheCallbacksOfTheDriverBelow) {
  const H5FD_class_t& serial = vfd::class_of<Serial>();
  EXPECT_EQ(serial.read_vector, nullptr) << "would turn on selection I/O over sec2";
  EXPECT_EQ(serial.write_selection, nullptr);
  EXPECT_EQ(serial.alloc, nullptr);
  EXPECT_NE(serial.write, nullptr);
  const H5FD_class_t& parallel = vfd::class_of<Parallel>();
  EXPECT_NE(parallel.read_vector, nullptr);
  EXPECT_NE(parallel.write_selection, nullptr);
  EXPECT_STREQ(parallel.name, "headrace_null_mpi");
}

TEST(NullVfd, HandlesWholeProgram) {
  const ScratchFolder folder;
  const hid_t fapl = fapl_with(vfd::class_of<Serial>());
  auto& counts = vfd::Traits<Serial>::counts();
  for (auto& count : counts) count = 0;
  EXPECT_EQ(exercise(folder.file("n.h5"), fapl), 0);
  for (const auto callback : {vfd::Callback::open, vfd::Callback::close, vfd::Callback::write,
                              vfd::Callback::read, vfd::Callback::query, vfd::Callback::cmp,
                              vfd::Callback::truncate, vfd::Callback::lock, vfd::Callback::del})
    EXPECT_GT(counts.at(static_cast<std::size_t>(callback)), 0U)
        << vfd::kCallbackNames[static_cast<std::size_t>(callback)];
  H5Pclose(fapl);
}

TEST(NullVfd, SameFeaturesAndHandleAsSec2) {
  const ScratchFolder folder;
  const hid_t null = fapl_with(vfd::class_of<Serial>());
  const hid_t plain = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_sec2(plain);
  unsigned long features_null = 1;
  unsigned long features_plain = 2;
  EXPECT_GE(H5FDdriver_query(H5Pget_driver(null), &features_null), 0);
  EXPECT_GE(H5FDdriver_query(H5Pget_driver(plain), &features_plain), 0);
  EXPECT_EQ(features_null, features_plain);
  const hid_t file = H5Fcreate(folder.file("h.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, null);
  void* handle = nullptr;
  EXPECT_GE(H5Fget_vfd_handle(file, null, &handle), 0);
  ASSERT_NE(handle, nullptr);
  EXPECT_GT(*static_cast<int*>(handle), 2) << "a file descriptor, as with sec2";
  H5Fclose(file);
  H5Pclose(null);
  H5Pclose(plain);
}

TEST(NullVfd, MalformedConfigurationFailsTheOpenWithItsText) {
  const ScratchFolder folder;
  bind_to_test_library();
  for (const char* text : {"undder=sec2", "under=none_such", "under_config={"}) {
    const hid_t fapl = fapl_with(vfd::class_of<Serial>());
    ASSERT_GE(H5Pset_driver_by_name(fapl, Serial::kName, text), 0);
    PrintedErrors errors;
    EXPECT_LT(H5Fcreate(folder.file("m.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl), 0);
    EXPECT_TRUE(errors.contains(std::string(text).substr(0, 5))) << text;
    EXPECT_EQ(errors.all().size(), 1U) << text;
    H5Pclose(fapl);
  }
}

// family and its kin keep their layout in the superblock, which a driver above them has no part in.
TEST(NullVfd, RefusesDriversThatKeepMoreThanBytes) {
  const ScratchFolder folder;
  const hid_t fapl = fapl_with(vfd::class_of<Serial>());
  const hid_t family = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_family(family, 1 << 20, H5P_DEFAULT);  // makes its name known to the library
  ASSERT_GE(H5Pset_driver_by_name(fapl, Serial::kName, "under=family"), 0);
  PrintedErrors errors;
  EXPECT_LT(H5Fcreate(folder.file("f%d.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl), 0);
  EXPECT_TRUE(errors.contains("family"));
  H5Pclose(family);
  H5Pclose(fapl);
}

// HDF5 closes the file below when opening fails half-way; the reason must still be on the stack.
TEST(NullVfd, ReasonOfFailedOpenSurvivesTheClose) {
  const ScratchFolder folder;
  const std::string path = folder.file("cut.h5");
  H5Fclose(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  ASSERT_EQ(truncate(path.c_str(), 200), 0);
  const hid_t fapl = fapl_with(vfd::class_of<Serial>());
  PrintedErrors errors;
  EXPECT_LT(H5Fopen(path.c_str(), H5F_ACC_RDONLY, fapl), 0);
  EXPECT_EQ(errors.all().size(), 1U);
  EXPECT_TRUE(errors.contains("truncated file"));
  H5Pclose(fapl);
}

}  // namespace
}  // namespace headrace::test
