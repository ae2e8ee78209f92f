#include "engine/io/replaceable_file.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "unit/files.hpp"

namespace headrace::engine {
namespace {

// What is written while the first file is copied to the second one is in both, or in the second
// alone, never in the first alone.
TEST(ReplaceableFile, NothingIsLostOnTheWay) {
  const TestFolder folder;
  const TestFile first(folder / "first");
  const TestFile second(folder / "second");
  const auto place = std::make_shared<io::ReplaceableFile::Place>(first.storage());
  io::ReplaceableFile used(place);
  std::atomic<int> written = 0;
  std::thread writer([&] {
    for (int i = 0; i < 2000; ++i) {
      write(used, static_cast<std::uint64_t>(i), {"x"});
      ++written;
    }
  });
  while (written < 500) std::this_thread::yield();
  place->replace([&] {
    auto next = second.storage();
    write(*next, 0, {content(first.path)});
    return next;
  });
  writer.join();
  EXPECT_EQ(content(second.path), std::string(2000, 'x'));
  EXPECT_EQ(read(used, 1990, 20), std::string(10, 'x') + std::string(10, '\0'));
}

TEST(ReplaceableFile, StaysWhereTheNewOneCannotBeMade) {
  const TestFolder folder;
  const TestFile file(folder / "file");
  const auto place = std::make_shared<io::ReplaceableFile::Place>(file.storage());
  EXPECT_THROW(place->replace([]() -> std::unique_ptr<io::File> { throw Error("no room"); }),
               Error);
  io::ReplaceableFile used(place);
  write(used, 0, {"abc"});
  EXPECT_EQ(content(file.path), "abc");
}

}  // namespace
}  // namespace headrace::engine
