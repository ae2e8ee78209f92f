// A connector whose layer notes what the room of coherence has it do, under calls of a real
// libhdf5.
#include "vol/coherence/coherence.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "conformance/exercise.hpp"
#include "conformance/fixture.hpp"
#include "vol/make_class.hpp"

namespace headrace::test {
namespace {

using vol::Callback;
using vol::coherence::After;
using vol::coherence::Call;
using vol::coherence::Need;
using vol::coherence::Strength;
namespace effect = vol::effect;

std::ostringstream& noted() {
  static auto& noted = *new std::ostringstream;
  return noted;
}

After noting(const std::string& word) {
  noted() << word << ' ';
  return [word](bool done) { noted() << (done ? "" : "failed-") << "after-" << word << ' '; };
}

struct Layer {
  static constexpr std::array kNeeds{
      Need{effect::counts, Strength::seen}, Need{effect::unlinks, Strength::nameless},
      Need{effect::mounts, Strength::unmarked},
      Need{effect::kAll & ~(effect::counts | effect::unlinks | effect::mounts), Strength::emptied}};
  static vol::Touched touched(const Call& call) {
    return call.effects.reach == vol::Reach::object ? vol::Touched::dataset({}) : vol::Touched();
  }
  static void publish(const Call& /*call*/, const vol::Touched& what, Strength strength) {
    noted() << "publish-" << static_cast<int>(strength)
            << (what.what == vol::Touched::What::all ? "-all " : " ");
  }
  static void publish_file(const char* /*name*/) { noted() << "publish-file "; }
  static void forget(const Call& /*call*/, const vol::Touched& /*what*/) { noted() << "forget "; }
  static constexpr unsigned kStops = effect::unlinks | effect::mounts;
  static void stop(const Call& call) {
    noted() << (call.object == nullptr ? "stop-nothing " : "stop ");
  }
  static void refuse(const vol::Arguments<Callback::attr_create>& args) {
    if (args.name == std::string("bad")) throw Error("refused by the layer");
  }
  static bool keeps_places(const vol::Object& /*dataset*/, const hsize_t* extent) {
    return extent[0] == 16;
  }
  static void address_told(const vol::Object& /*dataset*/) { noted() << "address "; }
  static After flushing(const vol::Object& /*object*/, H5I_type_t /*type*/) {
    return noting("flush");
  }
  static After closing(const vol::Object& /*file*/) { return noting("close"); }
  static After reshaping(const vol::Object& /*dataset*/, const hsize_t* extent) {
    return noting(extent == nullptr ? "refresh" : "reshape");
  }
};

struct Holding : vol::PassThrough<Holding> {
  static constexpr const char* kName = "holding";
  static constexpr H5VL_class_value_t kValue = 403;
  static constexpr std::array<Callback, 0> kOverrides{};
  template <Callback callback>
  static auto before(const vol::Arguments<callback>& args) {
    return vol::coherence::before<Layer>(args);
  }
};

class Coherence : public testing::Test {
 protected:
  void SetUp() override {
    fapl_ = fapl_with(vol::class_of<Holding>());
    file_ = H5Fcreate(folder_.file("f.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl_);
    ASSERT_GE(file_, 0);
    const hsize_t extent = 8;
    const hsize_t most = H5S_UNLIMITED;
    const hid_t space = H5Screate_simple(1, &extent, &most);
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(dcpl, 1, &extent);
    dataset_ = H5Dcreate2(file_, "d", H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    H5Pclose(dcpl);
    H5Sclose(space);
    ASSERT_GE(dataset_, 0);
    noted().str("");
  }
  void TearDown() override {
    H5Dclose(dataset_);
    if (file_ >= 0) H5Fclose(file_);
    H5Pclose(fapl_);
  }
  // What has been noted since the last time.
  static std::string since() {
    std::string words = noted().str();
    noted().str("");
    return words;
  }
  ScratchFolder folder_;
  hid_t fapl_ = H5I_INVALID_HID;
  hid_t file_ = H5I_INVALID_HID;
  hid_t dataset_ = H5I_INVALID_HID;
};

TEST_F(Coherence, LeavesCallsAloneThatTouchNothing) {
  H5Sclose(H5Dget_space(dataset_));
  H5Gclose(H5Gcreate2(file_, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  std::array<int, 8> data{};
  H5Dwrite(dataset_, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data());
  H5Dread(dataset_, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data());
  EXPECT_EQ(since(), "");
}

TEST_F(Coherence, PublishesAsMuchAsAnEffectNeeds) {
  H5Dget_storage_size(dataset_);
  EXPECT_EQ(since(), "publish-2 ");
  H5Ldelete(file_, "nothing", H5P_DEFAULT);
  H5Eclear2(H5E_DEFAULT);
  EXPECT_EQ(since(), "publish-1-all stop ");
  H5Dget_offset(dataset_);
  EXPECT_EQ(since(), "publish-3 forget address ");
  H5Dflush(dataset_);
  EXPECT_EQ(since(), "publish-3 ");
}

TEST_F(Coherence, PublishesFilesByName) {
  H5Fis_accessible(folder_.file("f.h5").c_str(), fapl_);
  EXPECT_EQ(since(), "publish-file ");
}

TEST_F(Coherence, ActsAfterFlushReshapeAndClose) {
  H5Fflush(file_, H5F_SCOPE_LOCAL);
  EXPECT_EQ(since(), "flush after-flush ");
  hsize_t extent = 12;
  H5Dset_extent(dataset_, &extent);
  EXPECT_EQ(since(), "reshape publish-3 forget after-reshape ");
  extent = 16;
  H5Dset_extent(dataset_, &extent);
  EXPECT_EQ(since(), "reshape after-reshape ");
  H5Drefresh(dataset_);
  EXPECT_EQ(since().substr(0, 26), "refresh publish-3 forget a");
  H5Fclose(file_);
  file_ = H5I_INVALID_HID;
  EXPECT_EQ(since(), "close after-close ");
}

TEST_F(Coherence, TellsTheLayerThatHDF5HasFailed) {
  const PrintedErrors errors;
  const hsize_t extent = 8;
  const hid_t space = H5Screate_simple(1, &extent, nullptr);
  const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(dcpl, 1, &extent);
  const hid_t fixed =
      H5Dcreate2(file_, "fixed", H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
  since();
  const hsize_t more = 12;
  EXPECT_LT(H5Dset_extent(fixed, &more), 0);
  EXPECT_EQ(since(), "reshape publish-3 forget failed-after-reshape ");
  H5Dclose(fixed);
  H5Pclose(dcpl);
  H5Sclose(space);
}

TEST_F(Coherence, StopsAFileAndTheOneMountedInIt) {
  const hid_t child = H5Fcreate(folder_.file("c.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl_);
  H5Gclose(H5Gcreate2(file_, "m", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  since();
  H5Fmount(file_, "m", child, H5P_DEFAULT);
  EXPECT_EQ(since(), "publish-4-all stop stop ");
  H5Funmount(file_, "m");
  EXPECT_EQ(since(), "publish-4-all stop ");
  H5Fclose(child);
}

TEST_F(Coherence, RefusesByTheCallback) {
  PrintedErrors errors;
  const hid_t space = H5Screate(H5S_SCALAR);
  EXPECT_LT(H5Acreate2(file_, "bad", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT), 0);
  EXPECT_TRUE(errors.contains("refused by the layer"));
  const hid_t good = H5Acreate2(file_, "good", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_GE(H5Aclose(good), 0);
  H5Sclose(space);
}

TEST_F(Coherence, HasAStrengthForEveryEffect) {
  static_assert(vol::coherence::has_each_effect_once(Layer::kNeeds));
  static_assert(!vol::coherence::has_each_effect_once(
      std::array{Need{effect::kAll, Strength::seen}, Need{effect::counts, Strength::seen}}));
  static_assert(!vol::coherence::has_each_effect_once(
      std::array{Need{effect::kAll & ~effect::mounts, Strength::seen}}));
  // What may do anything needs what the table says of that, and not the most of all.
  static_assert(vol::coherence::strength_of(Layer::kNeeds, {~0U, vol::Reach::process}) ==
                Strength::emptied);
}

}  // namespace
}  // namespace headrace::test
