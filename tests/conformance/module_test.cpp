// The plug-in files as HDF5 finds them.
#include "plugin/module.hpp"

#include <H5PLextern.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

namespace {

const std::string kPlugins = HEADRACE_PLUGIN_DIR;

struct File {
  void* handle;
  template <typename Function>
  Function symbol(const char* name) const {
    return reinterpret_cast<Function>(dlsym(handle, name));
  }
};

File open_plugin(const std::string& name) {
  void* handle = dlopen((kPlugins + "/" + name).c_str(), RTLD_LAZY | RTLD_LOCAL);
  EXPECT_NE(handle, nullptr) << dlerror();
  return {handle};
}

TEST(Module, DescribesItselfWithoutALibrary) {
  const auto describe =
      open_plugin("libheadrace_null.so").symbol<const char* (*)()>("headrace_describe");
  const std::string text = describe();
  EXPECT_NE(text.find(R"("vol":{"name":"headrace_null","value":7200)"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("env":"HEADRACE_NULL_SEAT")"), std::string::npos);
}

TEST(Module, PluginFilesHaveTheirTypeAndClass) {
  H5open();
  const auto type = open_plugin("libheadrace_null.so")
                        .symbol<decltype(&H5PLget_plugin_type)>("H5PLget_plugin_type");
  EXPECT_EQ(type(), H5PL_TYPE_VOL);
  const auto vfd = open_plugin("libheadrace_null_vfd_mpi.so")
                       .symbol<decltype(&H5PLget_plugin_type)>("H5PLget_plugin_type");
  EXPECT_EQ(vfd(), H5PL_TYPE_VFD);
}

// HDF5 asks on one thread, but two libraries may do so at once.
TEST(Module, GivesEveryThreadTheSameClass) {
  const auto plugin =
      open_plugin("libheadrace_null.so").symbol<decltype(&headrace_plugin)>("headrace_plugin");
  const void* library = dlsym(RTLD_DEFAULT, "H5open");
  std::array<const void*, 8> found{};
  std::vector<std::thread> threads;
  threads.reserve(found.size());
  for (auto& slot : found)
    threads.emplace_back(
        [&slot, plugin, library] { slot = plugin(H5PL_TYPE_VOL, "headrace_null", library); });
  for (auto& thread : threads) thread.join();
  for (const void* cls : found) EXPECT_EQ(cls, found.front());
  ASSERT_NE(found.front(), nullptr);
  EXPECT_STREQ(static_cast<const H5VL_class_t*>(found.front())->name, "headrace_null");
}

TEST(Module, RefusesACallerThatIsNoHdf5) {
  const auto plugin =
      open_plugin("libheadrace_null.so").symbol<decltype(&headrace_plugin)>("headrace_plugin");
  EXPECT_EQ(plugin(H5PL_TYPE_VOL, "headrace_null", reinterpret_cast<const void*>(&dlsym)), nullptr);
  EXPECT_EQ(plugin(H5PL_TYPE_VOL, "no_such_connector", dlsym(RTLD_DEFAULT, "H5open")), nullptr);
}

}  // namespace
