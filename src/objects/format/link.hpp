// A link, as a group's table has it under its name. See docs/formats/container.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headrace::objects {

// An object of a container, for good: no number is used twice. 0 is none.
using ObjectId = std::uint64_t;

struct Link {
  enum class Kind : std::uint8_t { hard, soft, external, user };
  Kind kind = Kind::hard;
  bool utf8 = false;        // its name; else ASCII
  std::uint64_t stamp = 0;  // later links of a group have larger ones; and where two writers made
  std::uint32_t lease = 0;  // links of one stamp, this one's lease
  ObjectId object = 0;      // a hard link's
  ObjectId home = 0;        // the group whose table has that object's header
  std::uint8_t user_class = 0;  // H5L_type_t of a user-defined one
  std::string target;  // a soft link's path; what HDF5 keeps of an external or user-defined one

  bool operator==(const Link&) const = default;
};

std::string encode(const Link& link);
void put(std::string& bytes, const Link& link);
// Throws Error (corrupt).
Link decode_link(std::string_view bytes);
Link take_link(std::string_view& bytes);

}  // namespace headrace::objects
