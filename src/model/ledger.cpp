#include "model/ledger.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/error.hpp"
#include "base/little_endian.hpp"

namespace headrace::model {
namespace {

// All numbers are little-endian, at fixed places.
constexpr std::array<char, 8> kMagic{'H', 'R', 'L', 'E', 'D', 'G', 'E', 'R'};
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kFixedBytes = 56;
constexpr std::size_t kMaxName = 65535;
// No program makes a request of 1 TiB, and no file has 64; a ledger that says so is damaged.
constexpr std::uint64_t kMaxLength = 1ULL << 40U;
constexpr std::uint64_t kMaxSpan = 1ULL << 46U;
constexpr std::uint64_t kMaxOffset = 1ULL << 62U;

[[noreturn]] void fail(const std::string& source, const std::string& cause) {
  throw Error("ledger " + source + ": " + cause);
}

std::string text_at(std::span<const std::byte> bytes, std::size_t at, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes.data()) + at, size};
}

Record decode_record(const std::byte* at) {
  Record record;
  record.offset = little_endian<std::uint64_t>(at);
  record.length = little_endian<std::uint64_t>(at + 8);
  record.span = little_endian<std::uint64_t>(at + 16);
  record.begin = little_endian<std::uint64_t>(at + 24);
  record.duration = little_endian<std::uint64_t>(at + 32);
  record.call = little_endian<std::uint32_t>(at + 40);
  record.kind = static_cast<Kind>(little_endian<std::uint8_t>(at + 44));
  record.flags = little_endian<std::uint8_t>(at + 45);
  record.type = little_endian<std::uint8_t>(at + 46);
  return record;
}

void check_record(const Record& record, std::size_t number, const std::string& source) {
  const char* cause = nullptr;
  if (record.kind > Kind::truncate)
    cause = "is of no known kind";
  else if (record.length > kMaxLength || record.span > kMaxSpan)
    cause = "is longer than any request";
  else if (record.offset > kMaxOffset)
    cause = "lies beyond the end of any file";
  else if (record.span < record.length)
    cause = "is longer than its span";
  if (cause != nullptr) fail(source, "record " + std::to_string(number) + ' ' + cause);
}

// The header, and in `size` its length in bytes.
Header decode_header(std::span<const std::byte> bytes, const std::string& source,
                     std::size_t& size) {
  if (bytes.size() < kMagic.size() || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    fail(source, "this is no ledger");
  if (bytes.size() < kFixedBytes) fail(source, "it ends within its header");
  const std::byte* at = bytes.data();
  if (const auto version = little_endian<std::uint32_t>(at + 8); version != kVersion)
    fail(source, "it has format version " + std::to_string(version) + ", this program reads " +
                     std::to_string(kVersion));
  if (const auto length = little_endian<std::uint32_t>(at + 12); length != kRecordBytes)
    fail(source, "its records have " + std::to_string(length) + " bytes, not " +
                     std::to_string(kRecordBytes));
  const auto file = little_endian<std::uint32_t>(at + 44);
  const auto host = little_endian<std::uint32_t>(at + 48);
  if (file > kMaxName || host > kMaxName || kFixedBytes + file + host > bytes.size())
    fail(source, "it ends within its header");
  Header header;
  header.rank = little_endian<std::int32_t>(at + 24);
  header.ranks = little_endian<std::int32_t>(at + 28);
  header.pid = little_endian<std::uint32_t>(at + 32);
  header.opened = little_endian<std::uint64_t>(at + 36);
  header.file = text_at(bytes, kFixedBytes, file);
  header.host = text_at(bytes, kFixedBytes + file, host);
  size = kFixedBytes + file + host;
  return header;
}

}  // namespace

std::vector<std::byte> encode(const Header& header, std::uint64_t count) {
  const std::string file = header.file.substr(0, kMaxName);
  const std::string host = header.host.substr(0, kMaxName);
  std::vector<std::byte> bytes(kFixedBytes);
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  put_little_endian(bytes.data() + 8, kVersion);
  put_little_endian(bytes.data() + 12, static_cast<std::uint32_t>(kRecordBytes));
  put_little_endian(bytes.data() + kCountOffset, count);
  put_little_endian(bytes.data() + 24, header.rank);
  put_little_endian(bytes.data() + 28, header.ranks);
  put_little_endian(bytes.data() + 32, header.pid);
  put_little_endian(bytes.data() + 36, header.opened);
  put_little_endian(bytes.data() + 44, static_cast<std::uint32_t>(file.size()));
  put_little_endian(bytes.data() + 48, static_cast<std::uint32_t>(host.size()));
  for (const std::string& text : {file, host}) {
    const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
    bytes.insert(bytes.end(), begin, begin + text.size());
  }
  return bytes;
}

void encode(const Record& record, std::span<std::byte, kRecordBytes> bytes) {
  std::ranges::fill(bytes, std::byte{0});
  put_little_endian(bytes.data(), record.offset);
  put_little_endian(bytes.data() + 8, record.length);
  put_little_endian(bytes.data() + 16, record.span);
  put_little_endian(bytes.data() + 24, record.begin);
  put_little_endian(bytes.data() + 32, record.duration);
  put_little_endian(bytes.data() + 40, record.call);
  put_little_endian(bytes.data() + 44, static_cast<std::uint8_t>(record.kind));
  put_little_endian(bytes.data() + 45, record.flags);
  put_little_endian(bytes.data() + 46, record.type);
}

std::vector<std::byte> encode(const Ledger& ledger) {
  std::vector<std::byte> bytes =
      encode(ledger.header, ledger.closed ? ledger.records.size() : kOpen);
  for (const Record& record : ledger.records) {
    std::array<std::byte, kRecordBytes> one{};
    encode(record, one);
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  return bytes;
}

Ledger decode(std::span<const std::byte> bytes, const std::string& source) {
  Ledger ledger;
  std::size_t at = 0;
  ledger.header = decode_header(bytes, source, at);
  const auto count = little_endian<std::uint64_t>(bytes.data() + kCountOffset);
  const std::size_t held = (bytes.size() - at) / kRecordBytes;
  ledger.closed = count != kOpen;
  // Never trusts the count: memory is taken for what the file really holds.
  if (ledger.closed && (count != held || (bytes.size() - at) % kRecordBytes != 0))
    fail(source, "it says " + std::to_string(count) + " records and holds " + std::to_string(held) +
                     (count > held ? ": it is cut off" : ": something was appended"));
  ledger.records.reserve(held);
  for (std::size_t i = 0; i < held; ++i, at += kRecordBytes) {
    ledger.records.push_back(decode_record(bytes.data() + at));
    check_record(ledger.records.back(), i, source);
  }
  return ledger;
}

Ledger read_ledger(const std::string& path) {
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rbe"), close);
  if (file == nullptr) fail(path, std::strerror(errno));
  std::vector<std::byte> bytes;
  constexpr std::size_t kStep = 1 << 20;
  for (std::size_t got = kStep; got == kStep;) {
    const std::size_t size = bytes.size();
    bytes.resize(size + kStep);
    got = std::fread(bytes.data() + size, 1, kStep, file.get());
    bytes.resize(size + got);
  }
  if (std::ferror(file.get()) != 0) fail(path, std::strerror(errno));
  return decode(bytes, path);
}

}  // namespace headrace::model
