// The keys of a container in a store. See docs/formats/container.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "objects/format/link.hpp"

namespace headrace::objects {

// In the order of numbers.
template <typename Number>
std::string in_order(Number number) {
  std::string bytes(sizeof number, '\0');
  for (std::size_t i = bytes.size(); i-- > 0; number >>= 8U) bytes[i] = static_cast<char>(number);
  return bytes;
}
// Of as many bytes.
inline std::uint64_t number_in(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char byte : bytes) number = number << 8U | static_cast<unsigned char>(byte);
  return number;
}

// An id is the lease of whoever made it, and a number. The root group has the first number of lease
// 0, which is nobody's.
inline constexpr unsigned kNumberBits = 36;
inline constexpr std::uint64_t kMostNumber = (std::uint64_t{1} << kNumberBits) - 1;
inline constexpr std::uint32_t kMostLease = (1U << 28U) - 1;
inline constexpr ObjectId kRootId = 1;
inline ObjectId id_of(std::uint32_t lease, std::uint64_t number) {
  return (ObjectId{lease} << kNumberBits) + number;
}
inline std::uint32_t lease_of(ObjectId id) { return static_cast<std::uint32_t>(id >> kNumberBits); }

// Tables of a container: of a group or map, of the leases of its writers, and of where objects are.
inline std::string table_of_group(std::string_view container, ObjectId group) {
  return std::string(container) + "/t/" + in_order(group);
}
inline std::string table_of_leases(std::string_view container) {
  return std::string(container) + "/leases";
}
inline std::string table_of_places(std::string_view container) {
  return std::string(container) + "/places";
}
// What the keys of a dataset's chunks begin with; their coordinates follow, in order.
inline std::string prefix_of_chunks(std::string_view container, ObjectId dataset) {
  return std::string(container) + "/d/" + in_order(dataset);
}
// Of values of no fixed size.
inline std::string key_of_heap(std::string_view container, std::uint64_t heap) {
  return std::string(container) + "/v/" + in_order(heap);
}

// Entries of a group's table. Names of kLongName bytes and more are together under what they begin
// with: no store takes longer keys.
inline constexpr char kName = 'n';
inline constexpr char kOrder = 'o';   // a name, by its link's stamp and lease
inline constexpr char kHeader = 'h';  // of an object that was first linked here
inline constexpr std::size_t kLongName = 384;

// Entries of a map's table, by their keys; long ones as long names are.
inline constexpr char kEntry = 'k';

inline std::string key_of_entry(std::string_view key) {
  return kEntry + std::string(key.substr(0, kLongName));
}
inline std::string key_of_name(std::string_view name) {
  return kName + std::string(name.substr(0, kLongName));
}
inline std::string key_of_order(std::uint64_t stamp, std::uint32_t lease) {
  return kOrder + in_order(stamp) + in_order(lease);
}
inline std::string key_of_header(ObjectId object) { return kHeader + in_order(object); }
inline constexpr std::string_view kStub = "p";  // of the root: the path of the container's stub
// Last in a table, so that they are read together: sums of links or entries, and counts of links,
// by the key in front of which the entries end that are counted.
inline constexpr std::string_view kSums = "s";
inline constexpr char kCount = 't';
inline std::string key_of_block(std::string_view end) { return kCount + std::string(end); }

}  // namespace headrace::objects
