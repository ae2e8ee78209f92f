// An object of a container that a program has open: one for all of its handles.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "objects/format/header.hpp"
#include "objects/format/link.hpp"
#include "store/store.hpp"

namespace headrace::objects {

// Where an object is.
struct Place {
  ObjectId object = 0;
  ObjectId home = 0;  // the group whose table has its header; 0 until it is linked first
  bool operator==(const Place&) const = default;
};

// For errors.
inline std::string named(ObjectId object) { return "object " + std::to_string(object); }

class Object {
 public:
  Object(Place place, Header header, store::Version version)
      : place_(place), header_(std::move(header)), stored_(header_), version_(version) {}

  [[nodiscard]] Place place() const { return place_; }
  [[nodiscard]] const Header& header() const { return header_; }

 private:
  friend class Container;
  [[nodiscard]] bool is_new() const { return version_ == store::kAbsent; }
  // Not in the container any more.
  bool is_gone_ = false;

  Place place_;
  Header header_;
  Header stored_;            // as it was read or written last
  store::Version version_;   // of that; kAbsent: it was not written yet
  std::size_t counted_ = 0;  // bytes of what is gathered, and whether it has changed since
  bool is_touched_ = false;
};

using Handle = std::shared_ptr<Object>;

}  // namespace headrace::objects
