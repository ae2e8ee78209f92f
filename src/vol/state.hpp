// What a connector keeps with a file, or with an object of the program: one value, of a type that
// is the connector's own. Copies share the value. The application's thread only.
#pragma once

#include <memory>
#include <utility>

namespace headrace::vol {

class State {
 public:
  State() = default;
  template <typename T>
  State(std::shared_ptr<T> value)  // NOLINT(google-explicit-constructor): a state is that value
      : value_(std::move(value)), type_(value_ == nullptr ? nullptr : &kType<T>) {}

  // Null while nothing is kept, or where it is of another type.
  template <typename T>
  [[nodiscard]] T* find() const {
    return type_ == &kType<T> ? static_cast<T*>(value_.get()) : nullptr;
  }
  template <typename T>
  [[nodiscard]] std::shared_ptr<T> share() const {
    return type_ == &kType<T> ? std::static_pointer_cast<T>(value_) : nullptr;
  }
  // The value; a new one from now on where find() has none.
  template <typename T>
  T& get() {
    if (type_ != &kType<T>) *this = std::make_shared<T>();
    return *static_cast<T*>(value_.get());
  }
  [[nodiscard]] bool empty() const { return value_ == nullptr; }

 private:
  template <typename T>
  static inline const char kType = 0;

  std::shared_ptr<void> value_;
  const char* type_ = nullptr;  // which of the kType belongs to the value's type
};

}  // namespace headrace::vol
