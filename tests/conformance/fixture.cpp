#include "conformance/fixture.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace headrace::test {

void bind_to_test_library() {
  static const std::string error = [] {
    H5open();
    return bind(dlsym(RTLD_DEFAULT, "H5open"));
  }();
  ASSERT_EQ(error, "");
}

hid_t fapl_with(const H5VL_class_t& cls, const char* info) {
  bind_to_test_library();
  const hid_t connector = H5VLregister_connector(&cls, H5P_DEFAULT);
  void* parsed = nullptr;
  EXPECT_GE(H5VLconnector_str_to_info(info, connector, &parsed), 0);
  const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  EXPECT_GE(H5Pset_vol(fapl, connector, parsed), 0);
  H5VLfree_connector_info(connector, parsed);
  H5VLclose(connector);
  return fapl;
}

hid_t fapl_with(const H5FD_class_t& cls) {
  bind_to_test_library();
  const hid_t driver = H5FDregister(&cls);
  const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  EXPECT_GE(H5Pset_driver(fapl, driver, nullptr), 0);
  H5FDunregister(driver);
  return fapl;
}

PrintedErrors::PrintedErrors() {
  H5Eget_auto2(H5E_DEFAULT, &old_function_, &old_data_);
  H5Eset_auto2(H5E_DEFAULT, &on_error, this);
}

PrintedErrors::~PrintedErrors() { H5Eset_auto2(H5E_DEFAULT, old_function_, old_data_); }

bool PrintedErrors::contains(const std::string& text) const {
  return std::ranges::any_of(
      printed_, [&](const std::string& one) { return one.find(text) != std::string::npos; });
}

herr_t PrintedErrors::on_error(hid_t stack, void* self) {
  std::string records;
  H5Ewalk2(
      stack, H5E_WALK_UPWARD,
      [](unsigned, const H5E_error2_t* record, void* text) -> herr_t {
        *static_cast<std::string*>(text) +=
            std::string(record->func_name) + ": " + record->desc + "\n";
        return 0;
      },
      &records);
  static_cast<PrintedErrors*>(self)->printed_.push_back(records);
  return 0;
}

ScratchFolder::ScratchFolder() {
  path_ = (std::filesystem::temp_directory_path() / "headrace-test-XXXXXX").string();
  EXPECT_NE(mkdtemp(path_.data()), nullptr);
}

ScratchFolder::~ScratchFolder() { std::filesystem::remove_all(path_); }

}  // namespace headrace::test
