#include "objects/format/heap.hpp"

#include "base/little_endian.hpp"
#include "engine/checksum.hpp"
#include "objects/format/fields.hpp"

namespace headrace::objects {

std::uint32_t checksum_of_heap(store::Bytes blob) {
  return engine::checksum(blob.subspan(kHeapHead), engine::checksum(blob.first(1)));
}

void require_heap(store::Bytes blob) {
  if (blob.size() < kHeapHead) fail_damaged("a heap");
  if (blob.front() != kHeapVersion)
    throw Error("a heap is of another version of Headrace", ErrorKind::unsupported);
  if (little_endian<std::uint32_t>(blob.data() + 1) != checksum_of_heap(blob))
    fail_damaged("a heap");
}

}  // namespace headrace::objects
