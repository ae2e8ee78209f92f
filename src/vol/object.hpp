// What our connectors hand to HDF5 in place of the objects of the connector below.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "hdf5/id.hpp"
#include "hdf5/lent_property.hpp"
#include "vol/file/driver_seat.hpp"
#include "vol/state.hpp"

namespace headrace::vol {

// The connector below, shared by everything opened through one file. One HDF5 reference in all:
// taking one per object would cost an HDF5 call each. A copy stands for another file.
class UnderConnector : public std::enable_shared_from_this<UnderConnector> {
 public:
  UnderConnector(Id<Kind::vol> id, DriverSeat seat)
      : class_(std::make_shared<Class>(std::move(id))), seat_(std::move(seat)) {}
  UnderConnector(const UnderConnector& other)
      : std::enable_shared_from_this<UnderConnector>(other),
        class_(other.class_),
        seat_(other.seat_) {}
  UnderConnector& operator=(const UnderConnector&) = delete;
  UnderConnector(UnderConnector&&) = delete;
  UnderConnector& operator=(UnderConnector&&) = delete;
  ~UnderConnector();
  [[nodiscard]] hid_t id() const { return class_->id.get(); }
  // What a file access property list has for it, with that info; none where HDF5 does not tell.
  [[nodiscard]] std::optional<LentProperty::Value> in_list(const void* info) const;
  // The class struct of the connector below if that is HDF5's native one and its functions may be
  // called as they are; else, and before look_below(), null.
  [[nodiscard]] const H5VL_class_t* native() const { return is_native_ ? direct_ : nullptr; }
  // The same where it is one of ours, too.
  [[nodiscard]] const H5VL_class_t* direct() const { return direct_; }
  // Whether objects are wrapped in the context of this file: that of the one below is known, then,
  // as long as an object of the file is open. The native connector has none.
  [[nodiscard]] bool knows_context_below() const { return is_native_ || context_below_ != nullptr; }
  [[nodiscard]] void* context_below() const { return context_below_; }
  // `under_file`: a file of the connector below.
  void look_below(void* under_file);
  [[nodiscard]] const DriverSeat& seat() const { return seat_; }

  // What the layer keeps for the file.
  State state;
  // Tells other processes that the file is being written, as long as it lives.
  std::shared_ptr<const void> writing;

  // Throws Error unless objects of the other file can be handed to the same connector.
  void require_same(const UnderConnector& other) const;

  // An error that the call it happened in cannot carry; the first one is kept. When the program has
  // closed the file already it goes to the log only.
  void defer(std::exception_ptr error) {
    if (deferred_ == nullptr) deferred_ = std::move(error);
  }
  [[nodiscard]] bool has_deferred() const { return deferred_ != nullptr; }
  // Throws what was deferred, once. Called where the program flushes or closes the file.
  void throw_deferred() {
    if (deferred_ != nullptr) std::rethrow_exception(std::exchange(deferred_, nullptr));
  }

 private:
  struct Class {
    explicit Class(Id<Kind::vol> of) : id(std::move(of)) {}
    Id<Kind::vol> id;
    std::optional<LentProperty::Value> in_list;  // without info, once asked for
  };
  std::shared_ptr<Class> class_;
  DriverSeat seat_;
  const H5VL_class_t* direct_ = nullptr;
  bool is_native_ = false;
  void* context_below_ = nullptr;
  std::exception_ptr deferred_;
};

using UnderRef = std::shared_ptr<UnderConnector>;

// The wrap context of an object whose connector knows_context_below(): that connector itself, one
// byte on, which is not freed.
inline void* tagged_context(UnderConnector& connector) {
  return reinterpret_cast<std::byte*>(&connector) + 1;
}
inline bool is_tagged(const void* context) {
  return reinterpret_cast<std::uintptr_t>(context) % 2 == 1;
}

// Notes a class struct of this module, whose functions connectors above it may call as they are:
// they print nothing.
void note_class(const H5VL_class_t& cls);

// Stands for a file, group, dataset, datatype, attribute or request of the connector below.
// Owned by HDF5: made by open and create, freed by a close (or request_free) that succeeds.
class Object {
 public:
  Object(void* below, UnderRef through, State kept = {})
      : under(below), connector(std::move(through)), state(std::move(kept)) {}

  // False for memory that is none. While the library ends HDF5 (2.0.0) looks for a file among those
  // that it has closed, and asks for the object of one whose memory has other uses by then.
  static bool is(const void* memory) {
    return memory != nullptr && static_cast<const Object*>(memory)->mark_ == &kMark;
  }

  static Object& from(const void* object) {
    if (object == nullptr) throw Error("called without an object");
    // HDF5 hands back the pointer it was given; some callbacks add const to it.
    return *static_cast<Object*>(const_cast<void*>(object));
  }
  // For callbacks in which an object may be missing: NULL stays NULL.
  static void* under_of(const void* object) {
    return object == nullptr ? nullptr : from(object).under;
  }

 private:
  static constexpr char kMark = 0;
  const void* mark_ = &kMark;  // comes first: all of the memory that is sure to be there

 public:
  void* under;  // null once closed, when the connector failed after that
  UnderRef connector;
  State state;  // what the layer keeps with it
};

// Puts the request that the connector below returned, if any, into an Object of ours.
inline void wrap_request(void** request, const UnderRef& connector) {
  if (request != nullptr && *request != nullptr) *request = new Object{*request, connector};
}

}  // namespace headrace::vol
