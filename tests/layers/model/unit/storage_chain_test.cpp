// The drivers' classes over each other: a worker's request does what a call of HDF5's would.
#include <gtest/gtest.h>

#include "layers/fault/driver/fault.hpp"
#include "layers/model/driver/model.hpp"
#include "unit/files.hpp"
#include "vfd/make_class.hpp"

namespace headrace {
namespace {

using vfd::Over;

struct Sec2 {
  Sec2(const H5FD_class_t& cls, int& its) : descriptor(&its) { pub.cls = &cls; }
  H5FD_t pub{};
  int* descriptor;

  static herr_t handle(H5FD_t* file, hid_t /*fapl*/, void** handle) {
    *handle = reinterpret_cast<Sec2*>(file)->descriptor;
    return 0;
  }
};

H5FD_class_t class_named(const char* name) {
  H5FD_class_t cls{};
  cls.name = name;
  cls.get_handle = &Sec2::handle;
  return cls;
}

class StorageChain : public testing::Test {
 protected:
  // A file of the class over another.
  template <typename Driver, typename File>
  H5FD_t* over(File& file, H5FD_t* under) {
    file.pub.cls = &vfd::class_of<Driver>();
    file.under = under;
    return &file.pub;
  }
  H5FD_t* model_over(H5FD_t* under) {
    model_file.observer = std::make_unique<model::Recorder>(
        model::configuration({{"ledger", folder / "ledgers"}}), file.path.c_str(), Rank{});
    return over<model::Driver<Over::sec2>>(model_file, under);
  }
  H5FD_t* fault_over(H5FD_t* under) {
    fault_file.under = under;
    fault::attach(&fault_file.pub, plan, file.path.c_str(), 0, Over::sec2);
    return over<fault::Driver<Over::sec2>>(fault_file, under);
  }

  TestFolder folder;
  TestFile file{folder / "x.h5"};
  H5FD_class_t sec2_class = class_named("sec2");
  H5FD_class_t core_class = class_named("core");
  Sec2 sec2{sec2_class, file.descriptor()};
  Sec2 core{core_class, file.descriptor()};
  fault::Plan plan{{{"kind", "error"}, {"first", "2"}}};
  vfd::ObservedFile<model::Recorder> model_file{};
  fault::File fault_file{};
};

TEST_F(StorageChain, RecordsAndFails) {
  const auto storage = vfd::storage_of(model_over(fault_over(&sec2.pub)), "x.h5", vfd::Over::sec2);
  ASSERT_NE(storage, nullptr);
  write(*storage, 0, {"ab", "c"});
  EXPECT_THROW(write(*storage, 3, {"d"}), Error);
  EXPECT_EQ(content(file.path), "abc");
  EXPECT_EQ(read(*storage, 1, 4), std::string("bc\0\0", 4));
  model_file.observer.reset();
  const auto ledger =
      model::read_ledger(std::filesystem::directory_iterator(folder / "ledgers")->path());
  ASSERT_EQ(ledger.records.size(), 2U);
  EXPECT_EQ(ledger.records[0].length, 3U);
  EXPECT_EQ(ledger.records[1].kind, model::Kind::read);
}

TEST_F(StorageChain, ThereIsNoneOverOtherDrivers) {
  EXPECT_EQ(vfd::storage_of(model_over(fault_over(&core.pub)), "x.h5", vfd::Over::sec2), nullptr);
}

}  // namespace
}  // namespace headrace
