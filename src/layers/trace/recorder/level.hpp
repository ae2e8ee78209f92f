// How many layers of one kind stand above another one in a stack, found out while a file is opened.
#pragma once

#include "base/call_scope.hpp"

namespace headrace::trace {

// Lives while a layer has the layers below open a file. `Seat` tells connectors from drivers.
template <typename Seat>
class Level : public CallScope<Level<Seat>> {
 public:
  Level() : Level(CallScope<Level>::current()) {}
  // 0 for the uppermost layer.
  [[nodiscard]] unsigned above() const { return above_; }

 private:
  explicit Level(const Level* outer) : above_(outer == nullptr ? 0 : outer->above_ + 1) {}
  unsigned above_;
};

}  // namespace headrace::trace
