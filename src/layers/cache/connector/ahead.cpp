#include "layers/cache/connector/ahead.hpp"

#include "base/error.hpp"
#include "layers/cache/connector/statistics.hpp"

namespace headrace::cache {

void Filled::note() const {
  ++statistics().filled;
  statistics().filled_bytes += bytes;
  if (disk != nullptr) disk->keep_later(key, on_disk, bytes, store);
}

Ahead::~Ahead() {
  error_of([&] { jobs_.finish(); });
}

}  // namespace headrace::cache
