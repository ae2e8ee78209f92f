// What a power cut leaves, on files in memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "layers/fault/driver/unsynced.hpp"

namespace headrace::fault {
namespace {

class Memory final : public Storage {
 public:
  explicit Memory(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] std::uint64_t size() const override { return text_.size(); }
  void read(std::uint64_t offset, std::span<std::byte> into) const override {
    ASSERT_LE(offset + into.size(), text_.size());
    std::ranges::copy(std::as_bytes(std::span(text_)).subspan(offset, into.size()), into.begin());
  }
  void write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    text_.resize(std::max<std::size_t>(text_.size(), offset + bytes.size()));
    std::ranges::copy(bytes, std::as_writable_bytes(std::span(text_)).begin() +
                                 static_cast<std::ptrdiff_t>(offset));
  }
  void resize(std::uint64_t size) override { text_.resize(size); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// A file whose changes are noted and made.
struct File {
  explicit File(std::string text) : storage(std::move(text)) {}
  Memory storage;
  Unsynced unsynced{storage};

  void write(std::uint64_t offset, std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    unsynced.note_write(offset, bytes);
    storage.write(offset, bytes);
  }
  void resize(std::uint64_t size) {
    unsynced.note_resize(size);
    storage.resize(size);
  }
  std::string cut(Outcome outcome, std::uint64_t seed = 1) {
    Random random(seed);
    unsynced.cut(outcome, random);
    return storage.text();
  }
};

TEST(FaultUnsynced, LostIsTheLastSyncPoint) {
  File file("0123456789");
  file.write(2, "ab");
  file.write(3, "XYZ");           // over an earlier change
  file.write(8, "past the end");  // longer
  file.resize(4);                 // shorter
  file.write(20, "gap");
  file.resize(30);
  EXPECT_EQ(file.unsynced.count(), 6U);
  EXPECT_EQ(file.cut(Outcome::lost), "0123456789");
  EXPECT_EQ(file.unsynced.count(), 0U);
}

TEST(FaultUnsynced, ASyncPointIsSafe) {
  File file("0123");
  file.write(0, "ab");
  file.unsynced.forget();
  file.write(2, "cd");
  EXPECT_EQ(file.cut(Outcome::lost), "ab23");
}

TEST(FaultUnsynced, KeptIsEverything) {
  File file("0123");
  file.write(0, "ab");
  file.resize(3);
  EXPECT_EQ(file.cut(Outcome::kept), "ab2");
}

TEST(FaultUnsynced, AChangeThatWasNotedAndNotMadeMayBeLostOrNot) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    File file("0123");
    const std::string_view text = "abcdefgh";
    file.unsynced.note_write(2, std::as_bytes(std::span(text)));
    seen.insert(file.cut(Outcome::torn, seed));
  }
  EXPECT_EQ(seen, (std::set<std::string>{"0123", "01abcdefgh"}));
}

TEST(FaultUnsynced, TornWritesEndAtSectorsOfTheFile) {
  std::set<std::string> seen;
  const std::string old(2000, '.');
  const std::string text(1200, 'x');
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    File file(old);
    file.write(100, text);
    seen.insert(file.cut(Outcome::torn, seed));
  }
  std::set<std::string> wanted{std::string(old).replace(100, 1200, text)};
  for (const std::size_t end : {512U, 1024U})
    wanted.insert(std::string(old).replace(100, end - 100, end - 100, 'x'));
  EXPECT_EQ(seen, wanted);
}

TEST(FaultUnsynced, TornKeepsTheOrder) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    File file("----");
    for (const char* text : {"a", "b", "c"}) file.write(0, text);
    seen.insert(file.cut(Outcome::torn, seed));
  }
  EXPECT_EQ(seen, (std::set<std::string>{"----", "a---", "b---", "c---"}));
}

TEST(FaultUnsynced, ReorderedIsAnySubsetInAnyOrder) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    File file("--");
    file.write(0, "aa");
    file.write(1, "b");
    file.resize(1);
    seen.insert(file.cut(Outcome::reordered, seed));
  }
  const std::set<std::string> wanted{"--", "aa", "-b", "-", "ab", "a", std::string("-b"), "a"};
  EXPECT_EQ(seen, wanted);
}

TEST(FaultUnsynced, MixedTearsAnyOfThem) {
  std::set<std::string> seen;
  const std::string text(1000, 'x');
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    File file("");
    file.write(0, text);
    file.write(2000, "y");
    seen.insert(file.cut(Outcome::mixed, seed));
  }
  const std::string gap(1488, '\0');
  EXPECT_EQ(seen, (std::set<std::string>{
                      "", text, text.substr(0, 512), std::string(2000, '\0') + "y",
                      text + std::string(1000, '\0') + "y", text.substr(0, 512) + gap + "y"}));
}

TEST(FaultUnsynced, ASeedLeadsToTheSameStateForEver) {
  // Of SplitMix64's reference implementation: seeds are part of bug reports.
  Random random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317U);
  EXPECT_EQ(random.next(), 3203168211198807973U);
}

}  // namespace
}  // namespace headrace::fault
