#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "base/error.hpp"
#include "model/ledger.hpp"
#include "model/ledger_writer.hpp"

namespace headrace::model {
namespace {

Ledger sample(std::size_t records = 3) {
  Ledger ledger;
  ledger.header = {"data.h5", "node", 1, 2, 42, 1'700'000'000'000'000'000};
  for (std::size_t i = 0; i < records; ++i)
    ledger.records.push_back({i * 100, 100, 100, i * 7, 5, static_cast<std::uint32_t>(i + 1),
                              i % 2 == 0 ? Kind::write : Kind::read, kMetadata, 3});
  return ledger;
}

std::string complaint(std::span<const std::byte> bytes) {
  try {
    decode(bytes, "x.ledger");
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Ledger, SurvivesARoundTrip) {
  const Ledger ledger = sample();
  const Ledger again = decode(encode(ledger), "x");
  EXPECT_EQ(again.header, ledger.header);
  EXPECT_EQ(again.records, ledger.records);
  EXPECT_TRUE(again.closed);
}

// docs/formats/ledger.md gives these places.
TEST(Ledger, HasItsNumbersWhereTheFormatSays) {
  const std::vector<std::byte> bytes = encode(sample(1));
  EXPECT_EQ(
      std::memcmp(bytes.data(), "HRLEDGER\1\0\0\0\60\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\2\0\0\0*", 33),
      0);
  EXPECT_EQ(bytes.size(), 56 + std::strlen("data.h5") + std::strlen("node") + 48);
}

TEST(Ledger, OfAKilledProcessIsReadToItsLastWholeRecord) {
  Ledger ledger = sample();
  ledger.closed = false;
  std::vector<std::byte> bytes = encode(ledger);
  bytes.erase(bytes.end() - 5, bytes.end());
  const Ledger again = decode(bytes, "x");
  EXPECT_FALSE(again.closed);
  EXPECT_EQ(again.records.size(), 2U);
  EXPECT_EQ(again.records[1], ledger.records[1]);
}

TEST(Ledger, ThatIsDamagedIsNamedWithTheCause) {
  std::vector<std::byte> bytes = encode(sample());
  EXPECT_EQ(complaint({}), "ledger x.ledger: this is no ledger");
  EXPECT_EQ(complaint(std::span(bytes).first(30)), "ledger x.ledger: it ends within its header");
  EXPECT_EQ(complaint(std::span(bytes).first(bytes.size() - 1)),
            "ledger x.ledger: it says 3 records and holds 2: it is cut off");
  std::vector<std::byte> longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_EQ(complaint(longer),
            "ledger x.ledger: it says 3 records and holds 3: something was appended");
  std::vector<std::byte> absurd = bytes;
  absurd[kCountOffset + 6] = std::byte{0xff};
  EXPECT_NE(complaint(absurd).find("and holds 3: it is cut off"), std::string::npos);
  std::vector<std::byte> newer = bytes;
  newer[8] = std::byte{9};
  EXPECT_EQ(complaint(newer), "ledger x.ledger: it has format version 9, this program reads 1");
  bytes[bytes.size() - 48 + 15] = std::byte{1};  // the last record's length
  EXPECT_EQ(complaint(bytes), "ledger x.ledger: record 2 is longer than any request");
}

class Folder : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "ledger-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(path_); }
  std::vector<std::string> files() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_ + "/l"))
      found.push_back(entry.path().string());
    return found;
  }

  std::string path_;
};

TEST_F(Folder, TheWriterSpillsWhatItsBufferCannotHold) {
  constexpr std::size_t kMany = 100'000;
  const Ledger ledger = sample(kMany);
  {
    LedgerWriter writer(path_ + "/l", ledger.header);
    for (const Record& record : ledger.records) writer.add(record);
    ASSERT_EQ(files().size(), 1U) << "the buffer is bounded";
    const Ledger killed = read_ledger(files()[0]);
    EXPECT_FALSE(killed.closed);
    EXPECT_GT(killed.records.size(), kMany / 2);
    writer.close();
  }
  const Ledger again = read_ledger(files()[0]);
  EXPECT_TRUE(again.closed);
  EXPECT_EQ(again.records, ledger.records);
}

TEST_F(Folder, TheWriterTellsWhatFailedOnceAndGoesOnWithout) {
  LedgerWriter writer(path_ + "/none/below", sample().header);
  writer.add(sample().records[0]);
  EXPECT_THROW(writer.close(), Error);
  EXPECT_NO_THROW(writer.add(sample().records[0]));
  EXPECT_NO_THROW(writer.close());
}

TEST_F(Folder, NothingDoneLeavesNoLedger) {
  LedgerWriter writer(path_ + "/l", sample().header);
  writer.close();
  EXPECT_FALSE(std::filesystem::exists(path_ + "/l"));
}

}  // namespace
}  // namespace headrace::model
