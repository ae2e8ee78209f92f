// What a container keeps of an object beside its elements and links. See docs/formats/container.md.
//
// Types, dataspaces and property lists are bytes that only their writer and reader understand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::objects {

struct Attribute {
  std::string name;
  bool utf8 = false;
  std::uint64_t stamp = 0;  // later attributes of an object have larger ones
  std::string type;
  std::string space;
  std::string value;  // elements, as the type has them in a file; empty where none were written

  bool operator==(const Attribute&) const = default;
};

// Of a chunk that was stored under an earlier epoch only elements within `dims` are left, and the
// rest of it is fill.
struct Cut {
  std::uint64_t epoch = 0;
  std::vector<std::uint64_t> dims;

  bool operator==(const Cut&) const = default;
};

struct Header {
  enum class Kind : std::uint8_t { group, dataset, datatype, map };
  Kind kind = Kind::group;
  bool in_order = false;      // of a group: its links can be listed by their stamps
  std::uint64_t links = 0;    // hard ones that lead to the object
  bool kept = false;          // a program has counted references of its own among its links
  std::uint64_t created = 0;  // seconds since 1970, 0 where they are not tracked
  std::uint64_t changed = 0;
  std::uint64_t stamps = 0;  // larger than those of all its attributes
  std::string creation;      // its property list
  std::string comment;
  std::vector<Attribute> attributes;  // by their names

  // Of maps, whose type is that of their keys.
  std::string value_type;
  std::string key_form;  // KeyForm, encoded

  // Of datasets, and of committed types the type.
  std::string type;
  std::vector<std::uint64_t> dims;      // now
  std::vector<std::uint64_t> max_dims;  // as many
  bool is_null = false;                 // no elements and no dims
  std::vector<std::uint64_t> chunk;     // of one in chunks: as many, for who reads no list
  std::uint64_t epoch = 0;              // grows when elements are cut off
  std::vector<Cut> cuts;                // by their epochs; none has larger dims than a later one
  std::optional<std::string> data;      // all elements, where they are kept here

  bool operator==(const Header&) const = default;

  // Of what is of no fixed size, in bytes.
  [[nodiscard]] std::size_t size() const;
  // Null where none has that name.
  [[nodiscard]] const Attribute* find(std::string_view name) const;
};

// Gives a dataset another extent. Where a dimension shrinks the epoch grows, and there is a cut.
void cut(Header& header, const std::vector<std::uint64_t>& dims);

// Of a kind, for people.
const char* word_of(Header::Kind kind);

std::string encode(const Header& header);
// Throws Error (corrupt).
Header decode_header(std::string_view bytes);

// What two have made of one header: the changes from `base` to `mine` are made to `theirs`. Where
// both have changed the same, theirs stands, and what that is is added to `lost`, in words.
Header merge(const Header& base, const Header& mine, const Header& theirs,
             std::vector<std::string>& lost);

}  // namespace headrace::objects
