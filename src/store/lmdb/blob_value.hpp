// What the database has for a blob: its bytes, or where these are (lmdb_store.hpp).
#pragma once

#include <array>
#include <optional>

#include "base/little_endian.hpp"
#include "store/lmdb/data_files.hpp"

namespace headrace::store {

// What a blob's value begins with.
inline constexpr std::byte kInside{0};
inline constexpr std::byte kInFile{1};

struct BlobValue {
  Bytes inside;
  std::uint64_t size = 0;
  std::optional<DataFile> file;
};

using FileValue = std::array<std::byte, 25>;

inline FileValue value_of(DataFile file, std::uint64_t size) {
  FileValue value{kInFile};
  put_little_endian(value.data() + 1, size);
  put_little_endian(value.data() + 9, file.session);
  put_little_endian(value.data() + 17, file.number);
  return value;
}

inline BlobValue parse(Bytes value) {
  if (!value.empty() && value[0] == kInside)
    return {value.subspan(1), value.size() - 1, std::nullopt};
  if (value.size() != sizeof(FileValue) || value[0] != kInFile)
    throw Error("the entry of a blob is damaged", ErrorKind::corrupt);
  const auto word = [&](std::size_t at) { return little_endian<std::uint64_t>(&value[at]); };
  return {{}, word(1), DataFile{word(9), word(17)}};
}

}  // namespace headrace::store
