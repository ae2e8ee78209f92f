// What a connector tells those below it in the same call of HDF5's, which has no argument for that:
// drivers, and connectors further down, find it on the same thread.
#pragma once

namespace headrace {

// A base of the class that holds the facts: `struct Lending : CallScope<Lending>`. They can be
// found for as long as the object lives; where one is made within another, the inner one is.
template <typename Facts>
class CallScope {
 public:
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  // Null where the call has none.
  static Facts* current() { return innermost_; }

 protected:
  CallScope() : outer_(innermost_) { innermost_ = static_cast<Facts*>(this); }
  ~CallScope() { innermost_ = outer_; }

 private:
  Facts* outer_;
  static inline thread_local Facts* innermost_ = nullptr;
};

}  // namespace headrace
