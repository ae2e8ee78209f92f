// A blob that is not larger than expected, as a rule.
#pragma once

#include <string>

#include "engine/buffer.hpp"
#include "store/store.hpp"

namespace headrace::objects {

// The blob of a key, from `front` on in a buffer that is as large as it is expected to be at most;
// of version kAbsent where there is none.
inline store::BlobInfo whole_blob(store::Store& store, const std::string& key,
                                  engine::Buffer& bytes, std::size_t front = 0) {
  while (true) {
    const auto info = store.get(key, 0, bytes.bytes().subspan(front));
    if (!info) return {};
    const bool is_whole = info->size <= bytes.size() - front;
    bytes.resize(front + info->size);
    if (is_whole) return *info;
  }
}

}  // namespace headrace::objects
