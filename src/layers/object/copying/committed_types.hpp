// The committed types that a copy needs in its file: each is copied once.
#pragma once

#include <cstdint>
#include <map>

#include "layers/object/copying/held.hpp"

namespace headrace::object {

class CommittedTypes {
 public:
  // `from`, `to`: of the two files; they outlive the object.
  CommittedTypes(const Held& from, const Held& to) : from_(from), to_(to) {}

  // What something of the copy is to be of whose original is of `type`; valid as long as the object
  // and `type` are.
  hid_t of_copy(hid_t type);
  // Links the copy of a committed type.
  void link(const Held& source, const Held& parent, const std::string& name, hid_t lcpl);
  // The copy of `source`, once; null when it was asked for before.
  const Held* newly_made(const Held& source);

 private:
  struct Copy {
    Id<Kind::datatype> id;  // which owns the object
    Held object;
    bool is_new = true;
  };
  Copy& copy_of(std::uint64_t token, const Held& source);
  [[nodiscard]] std::uint64_t token_of(hid_t type) const;

  const Held& from_;
  const Held& to_;
  std::map<std::uint64_t, Copy> copies_;
};

}  // namespace headrace::object
