// What a driver sees of a file that others read while it is written.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

namespace headrace::vfd {

// Whether the bytes are a superblock that lets other processes read while the file is written: the
// only word that a driver gets of H5Fstart_swmr_write, wherever in the chain it is.
inline bool starts_swmr(const void* buffer, std::size_t size) {
  constexpr std::string_view kSignature = "\211HDF\r\n\032\n";
  constexpr std::size_t kVersion = 8;
  constexpr std::size_t kFlags = 11;  // "file consistency flags" of a superblock of version 3
  constexpr unsigned kSwmr = 0x04;
  const auto* bytes = static_cast<const unsigned char*>(buffer);
  return size > kFlags && std::memcmp(bytes, kSignature.data(), kSignature.size()) == 0 &&
         bytes[kVersion] >= 3 && (bytes[kFlags] & kSwmr) != 0;
}

}  // namespace headrace::vfd
