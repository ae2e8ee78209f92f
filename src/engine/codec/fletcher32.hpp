// The checksum of HDF5's fletcher32 filter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace headrace::engine {

std::uint32_t fletcher32(std::span<const std::byte> bytes);

// Whether `stored` is the checksum of the bytes. HDF5 before 1.6.3 swapped bytes of it on
// little-endian machines; that is accepted too, as by HDF5.
bool fletcher32_matches(std::uint32_t stored, std::span<const std::byte> bytes);

}  // namespace headrace::engine
