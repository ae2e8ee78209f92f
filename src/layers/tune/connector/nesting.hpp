// Whether a call is made within another one: by a function of the program's that HDF5 runs, of an
// iteration, say, while it holds on to objects.
#pragma once

#include "vol/hooks.hpp"

namespace headrace::tune {

class Nesting {
 public:
  Nesting() { ++depth; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
  ~Nesting() { --depth; }

  // It is there for all calls that have such a hook.
  template <vol::Callback callback>
  void begin(const vol::Arguments<callback>& /*args*/) {}

  // Whether the call that is under way on this thread is the only one.
  static bool outermost() { return depth == 1; }

 private:
  static inline thread_local unsigned depth = 0;
};

}  // namespace headrace::tune
