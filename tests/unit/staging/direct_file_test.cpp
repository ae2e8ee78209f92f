// Direct writes beside those through the page cache, to a file on disk.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <random>

#include "engine/staging/staged_file.hpp"
#include "unit/files.hpp"

namespace {

// What the system does with direct writes instead of making them.
enum class Answer { write, refuse, write_less };
std::atomic<Answer> answer{Answer::write};

}  // namespace

// In place of the C library's.
extern "C" ssize_t pwritev(int file, const iovec* vector, int count, off_t offset) {
  iovec less = *vector;
  if ((::fcntl(file, F_GETFL) & O_DIRECT) != 0 && answer != Answer::write) {
    if (answer == Answer::refuse) {
      errno = EINVAL;
      return -1;
    }
    less.iov_len = std::min<std::size_t>(less.iov_len, 4096);
    vector = &less;
    count = 1;
  }
  return ::syscall(SYS_pwritev, file, vector, count, offset, 0);
}

namespace {

using namespace headrace;
using Bytes = std::vector<std::byte>;
constexpr std::size_t kPage = 64U << 10U;

// Memory whose address is a multiple of a page of the system.
struct Aligned {
  explicit Aligned(std::size_t bytes) : memory(bytes + 4096) {
    void* start = memory.data();
    std::size_t space = memory.size();
    data = {static_cast<std::byte*>(std::align(4096, bytes, start, space)), bytes};
    std::mt19937_64 random(bytes);
    for (auto& byte : data) byte = static_cast<std::byte>(random() >> 8U);
  }
  Bytes memory;
  std::span<std::byte> data;
};

class Direct : public testing::Test {
 protected:
  std::unique_ptr<engine::io::File> storage() {
    return engine::io::direct_file(file.descriptor(), file.path.c_str(),
                                   [this](const std::string& why) { refusals.push_back(why); });
  }
  // Of the file's, how many pages of the system are in its cache.
  [[nodiscard]] std::size_t cached() {
    struct stat info{};
    if (::fstat(file.descriptor(), &info) != 0 || info.st_size == 0) return 0;
    const auto size = static_cast<std::size_t>(info.st_size);
    void* map = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.descriptor(), 0);
    std::vector<unsigned char> pages((size + 4095) / 4096);
    ::mincore(map, size, pages.data());
    ::munmap(map, size);
    return static_cast<std::size_t>(
        std::ranges::count_if(pages, [](unsigned char page) { return (page & 1U) != 0; }));
  }
  TestFolder folder;
  TestFile file{folder / "f"};
  std::vector<std::string> refusals;
};

TEST_F(Direct, WholePagesGoPastTheCache) {
  const auto under = storage();
  const Aligned whole(8 * kPage);
  const std::array<std::span<const std::byte>, 2> pieces{whole.data.first(kPage),
                                                         whole.data.subspan(kPage)};
  under->write(kPage, pieces);
  if (!refusals.empty()) GTEST_SKIP() << refusals.front();
  EXPECT_EQ(cached(), 0);
  Bytes found(8 * kPage);
  under->read(kPage, found);
  EXPECT_TRUE(std::ranges::equal(found, whole.data));
}

TEST_F(Direct, MixedWritesKeepTheirOrder) {
  const auto under = storage();
  std::mt19937 random(5);
  const Aligned source(40 * kPage);
  Bytes model(64 * kPage);
  under->resize(model.size());
  for (int i = 0; i < 400; ++i) {
    std::vector<std::span<const std::byte>> pieces;
    const bool aligned = random() % 3 != 0;
    std::uint64_t offset = random() % (20 * kPage);
    if (aligned) offset -= offset % 4096;
    std::uint64_t at = offset;
    for (unsigned count = 1 + random() % 90; count-- > 0 && at < 60 * kPage;) {
      const bool odd = random() % 30 == 0;
      const std::size_t size = odd ? 1 + random() % 9000 : 4096 * (1 + random() % 4);
      const std::size_t from = odd ? random() % kPage : random() % 200 * 4096;
      pieces.emplace_back(source.data.subspan(from, size));
      std::memcpy(model.data() + at, pieces.back().data(), size);
      at += size;
    }
    under->write(offset, pieces);
    if (i % 10 == 0) {
      Bytes found(at - offset);
      under->read(offset, found);
      ASSERT_EQ(std::memcmp(found.data(), model.data() + offset, found.size()), 0) << i;
    }
  }
  Bytes found(model.size());
  under->read(0, found);
  EXPECT_EQ(found, model);
}

// Whole and partial pages side by side, written by several workers.
TEST_F(Direct, BelowStaging) {
  std::mt19937 random(6);
  const Aligned source(8 * kPage);
  Bytes model;
  engine::StagedFile staged(storage(), 0, {64U << 20U, std::chrono::milliseconds(1)});
  for (int i = 0; i < 600; ++i) {
    const std::uint64_t offset = random() % (100 * kPage);
    const std::size_t size = random() % 3 == 0 ? 1 + random() % (6 * kPage) : 1 + random() % 9000;
    const auto bytes = source.data.subspan(random() % kPage, size);
    if (model.size() < offset + size) model.resize(offset + size);
    std::memcpy(model.data() + offset, bytes.data(), size);
    staged.write(offset, bytes);
    if (i % 50 != 0) continue;
    staged.drain();
    Bytes found(model.size());
    staged.storage().read(0, found);
    ASSERT_EQ(std::memcmp(found.data(), model.data(), found.size()), 0) << i;
  }
  staged.drain();
  const std::string found = content(file.path);
  ASSERT_EQ(found.size(), model.size());
  EXPECT_EQ(std::memcmp(found.data(), model.data(), found.size()), 0);
}

TEST_F(Direct, WhatIsNotTakenIsWrittenAsUsual) {
  for (const Answer given : {Answer::write_less, Answer::refuse}) {
    const auto under = storage();
    answer = given;
    const Aligned whole(9 * kPage);
    const std::array<std::span<const std::byte>, 3> pieces{
        whole.data.first(kPage), whole.data.subspan(kPage, 4096), whole.data.subspan(kPage + 4096)};
    under->resize(0);
    for (std::uint64_t at : {2 * kPage, 20 * kPage}) under->write(at, pieces);
    answer = Answer::write;
    for (std::uint64_t at : {2 * kPage, 20 * kPage}) {
      Bytes found(whole.data.size());
      under->read(at, found);
      EXPECT_TRUE(std::ranges::equal(found, whole.data));
    }
    EXPECT_EQ(refusals.size(), given == Answer::refuse ? 1 : 0);
  }
}

// /dev/full takes no O_DIRECT, or refuses the write; either way it is told and tried as usual.
TEST_F(Direct, RefusalsAreToldAndGoneRound) {
  int full = ::open("/dev/full", O_RDWR | O_CLOEXEC);
  ASSERT_GE(full, 0);
  const Aligned whole(kPage);
  const std::array<std::span<const std::byte>, 1> pieces{whole.data};
  {
    const auto under = engine::io::direct_file(
        full, "/dev/full", [this](const std::string& why) { refusals.push_back(why); });
    for (int i = 0; i < 2; ++i) EXPECT_THROW(under->write(0, pieces), Error);
  }
  ::close(full);
  EXPECT_EQ(refusals.size(), 1);
}

}  // namespace
