// Region references of HDF5 1.8, copied from one file to another by HDF5's own functions.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "layers/object/copying/held.hpp"

namespace headrace::object {

// Whether HDF5 is to get an object of the connector's as it is, though it asks for it to be
// wrapped.
bool is_registering();

class RegionCopies {
 public:
  // Both outlive the object.
  RegionCopies(const Held& from, const Held& to) : from_(from), to_(to) {}

  // Where the copy of the object with a token is in the other file; nothing where there is none.
  using PathOf = std::function<std::optional<std::string>(std::uint64_t token)>;
  // The same region of the copy; a reference that leads nowhere where there is none. Throws Error.
  hdset_reg_ref_t copy_of(const hdset_reg_ref_t& reference, const PathOf& path_of);

 private:
  // An object of HDF5's that owns one of the connector's.
  class Registered {
   public:
    Registered() = default;
    explicit Registered(hid_t id) : id_(id) {}
    Registered(Registered&& other) noexcept : id_(std::exchange(other.id_, kInvalidId)) {}
    Registered& operator=(Registered&& other) noexcept {
      std::swap(id_, other.id_);
      return *this;
    }
    Registered(const Registered&) = delete;
    Registered& operator=(const Registered&) = delete;
    ~Registered();
    [[nodiscard]] hid_t get() const { return id_; }

   private:
    hid_t id_ = kInvalidId;
  };
  static Registered root_of(const Held& object);

  const Held& from_;
  const Held& to_;
  // Root groups, for the functions that want ids; opened when they are needed.
  Registered source_;
  Registered target_;
};

}  // namespace headrace::object
