// What our connectors hand to HDF5 in place of the objects of the connector below.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "hdf5/id.hpp"

namespace headrace::vol {

// The driver of a layer that sits above and below the native connector; empty names mean none.
struct DriverSeat {
  std::string serial;    // put in where an access property list says sec2
  std::string parallel;  // put in where it says mpio
};

// The connector below, shared by everything opened through one file. One HDF5 reference in all:
// taking one per object would cost an HDF5 call each.
class UnderConnector {
 public:
  UnderConnector(Id<Kind::vol> id, DriverSeat seat) : id_(std::move(id)), seat_(std::move(seat)) {}
  [[nodiscard]] hid_t id() const { return id_.get(); }
  [[nodiscard]] const DriverSeat& seat() const { return seat_; }

 private:
  Id<Kind::vol> id_;
  DriverSeat seat_;
};

using UnderRef = std::shared_ptr<const UnderConnector>;

// Stands for a file, group, dataset, datatype, attribute or request of the connector below.
// Owned by HDF5: made by open and create, freed by close (or request_free).
struct Object {
  void* under;
  UnderRef connector;

  static Object& from(const void* object) {
    if (object == nullptr) throw Error("called without an object");
    // HDF5 hands back the pointer it was given; some callbacks add const to it.
    return *static_cast<Object*>(const_cast<void*>(object));
  }
  // For callbacks in which an object may be missing: NULL stays NULL.
  static void* under_of(const void* object) {
    return object == nullptr ? nullptr : from(object).under;
  }
};

// Puts the request that the connector below returned, if any, into an Object of ours.
inline void wrap_request(void** request, const UnderRef& connector) {
  if (request != nullptr && *request != nullptr) *request = new Object{*request, connector};
}

}  // namespace headrace::vol
