// Files for tests of what lies above them.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "engine/io/file.hpp"
#include "support/waiting.hpp"

namespace headrace {

// A folder that is removed with the last process of a test: a death test's child uses its parent's.
class TestFolder {
 public:
  TestFolder() {
    constexpr const char* kName = "HEADRACE_TEST_FOLDER";
    if (const char* inherited = std::getenv(kName); inherited != nullptr) {
      path_ = inherited;
      return;
    }
    std::string name = std::filesystem::temp_directory_path() / "headrace-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw Error("mkdtemp " + name, errno);
    path_ = name;
    ::setenv(kName, name.c_str(), 1);
    mine_ = [] { ::unsetenv(kName); };
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() {
    if (!mine_) return;
    mine_();
    std::filesystem::remove_all(path_);
  }
  [[nodiscard]] std::string operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
  std::function<void()> mine_;
};

// A file that is made for a test, and its storage.
class TestFile {
 public:
  explicit TestFile(std::string name)
      : path(std::move(name)),
        descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {}
  TestFile(const TestFile&) = delete;
  TestFile& operator=(const TestFile&) = delete;
  ~TestFile() { ::close(descriptor_); }
  [[nodiscard]] std::unique_ptr<engine::io::File> storage() const {
    return engine::io::posix_file(descriptor_, path.c_str());
  }
  int& descriptor() { return descriptor_; }

  const std::string path;

 private:
  int descriptor_;
};

inline std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write(engine::io::File& storage, std::uint64_t offset,
                  const std::vector<std::string_view>& texts) {
  std::vector<std::span<const std::byte>> pieces;
  pieces.reserve(texts.size());
  for (const std::string_view text : texts) pieces.push_back(std::as_bytes(std::span(text)));
  storage.write(offset, pieces);
}

inline std::string read(engine::io::File& storage, std::uint64_t offset, std::size_t size) {
  std::string text(size, '?');
  storage.read(offset, std::as_writable_bytes(std::span(text)));
  return text;
}

// Does something before each function of another.
class Before final : public engine::io::File {
 public:
  Before(std::unique_ptr<engine::io::File> under, std::function<void()> action)
      : under_(std::move(under)), action_(std::move(action)) {}
  void write(std::uint64_t offset, std::span<const std::span<const std::byte>> pieces) override {
    action_();
    under_->write(offset, pieces);
  }
  void read(std::uint64_t offset, std::span<std::byte> bytes) override {
    action_();
    under_->read(offset, bytes);
  }
  void sync() override {
    action_();
    under_->sync();
  }
  void resize(std::uint64_t size) override {
    action_();
    under_->resize(size);
  }

 private:
  std::unique_ptr<engine::io::File> under_;
  std::function<void()> action_;
};

// Where threads wait until so many have come.
class Meeting {
 public:
  explicit Meeting(int wanted) : missing_(wanted) {}
  // Whether all came. When one waits in vain the test fails, and nobody waits any longer.
  bool wait(const test::Where& where = test::Where::current()) {
    std::unique_lock lock(mutex_);
    if (--missing_ <= 0) changed_.notify_all();
    const auto over = [&] { return missing_ <= 0 || failed_; };
    if (!changed_.wait_for(lock, test::kPatience, over)) {
      test::fail_waiting("all had come", where);
      failed_ = true;
      changed_.notify_all();
    }
    return !failed_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int missing_;
  bool failed_ = false;
};

// Runs action(0), action(1)... at the same time.
inline void in_threads(int count, const std::function<void(int)>& action) {
  std::vector<std::jthread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) threads.emplace_back(action, i);
}

}  // namespace headrace
