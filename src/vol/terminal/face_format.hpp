// What HDF5 finds at addresses of a native file that are none of its own: headers of datasets,
// which say an extent, and collections of the global heap, in which region references of HDF5 1.8
// are. As HDF5's file format has them, with addresses and sizes of 8 bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hdf5/api.hpp"

namespace headrace::vol {

struct FaceExtent {
  H5S_class_t kind = H5S_SIMPLE;
  std::vector<hsize_t> dims;
  std::vector<hsize_t> most;  // largest dims

  bool operator==(const FaceExtent&) const = default;
};

// An object header with the extent; one that can change is that of a whole dataset, so that HDF5
// opens it.
std::string header_of(const FaceExtent& extent);

namespace heap {

inline constexpr std::string_view kSignature = "GCOL";

// A collection without an object.
std::string empty();
// Adds an object; returns its index. `objects`: that the collection has.
std::uint32_t add(std::string& collection, std::uint32_t objects, std::string_view content);
// Sets the collection's size, which leaves no room that HDF5 would use. What of it lies behind the
// result is zeros.
void seal(std::string& collection, std::uint32_t objects);
// The size that it says.
std::uint64_t size_of(std::string_view collection);
std::optional<std::string> find(std::string_view collection, std::uint32_t index);

}  // namespace heap

}  // namespace headrace::vol
