#include "layers/cache/connector/filled.hpp"

#include "layers/cache/connector/statistics.hpp"

namespace headrace::cache {

void Filled::note() const {
  ++statistics().filled;
  statistics().filled_bytes += bytes;
  if (disk != nullptr) disk->keep_later(key, on_disk, bytes, store);
}

}  // namespace headrace::cache
