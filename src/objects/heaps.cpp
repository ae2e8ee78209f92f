#include "objects/heaps.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/little_endian.hpp"
#include "base/report/printable.hpp"
#include "objects/format/heap.hpp"
#include "objects/keys.hpp"
#include "objects/whole_blob.hpp"

namespace headrace::objects {
namespace {

constexpr std::size_t kMostKeptHeaps = 8;
constexpr std::size_t kMostKeptBytes = 16U << 20U;

}  // namespace

Heaps::Heaps(store::Store& store, std::string container, std::function<std::uint64_t()> new_id)
    : store_(store),
      container_(std::move(container)),
      new_id_(std::move(new_id)),
      process_(::getpid()) {}

void Heaps::require_own_process() const {
  if (process_ != ::getpid())
    throw Error("container " + printable(container_) +
                    " was opened before a fork: this process may not change it",
                ErrorKind::unsupported);
}

void Heaps::fail_damaged_heap(std::uint64_t heap) const {
  throw Error("heap " + std::to_string(heap) + " of container " + printable(container_) +
                  " is damaged, or has no such value",
              ErrorKind::corrupt);
}

// One that is pending, and has room.
std::uint64_t Heaps::heap_for(std::size_t size) {
  if (open_ != 0 && pending_.at(open_).size() - kHeapHead + size <= kMostBytes) return open_;
  const std::uint64_t made = new_id_();
  std::vector<std::byte> blob;
  blob.reserve(kHeapHead + size);
  blob.resize(kHeapHead);
  pending_.emplace(made, std::move(blob));
  if (size <= kMostBytes) open_ = made;
  return made;
}

HeapId Heaps::put(store::Bytes value) {
  if (value.size() > std::numeric_limits<std::uint32_t>::max())
    throw Error("a value of " + std::to_string(value.size()) + " bytes is too long for a heap",
                ErrorKind::unsupported);
  if (value.empty()) return {};
  require_own_process();
  const std::uint64_t heap = heap_for(value.size());
  std::vector<std::byte>& blob = pending_.at(heap);
  const std::size_t offset = blob.size() - kHeapHead;
  blob.insert(blob.end(), value.begin(), value.end());
  size_ += value.size();
  return {heap, static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(value.size())};
}

engine::Buffer Heaps::load(std::uint64_t heap) const {
  engine::Buffer blob(kHeapHead + kMostBytes);
  if (whole_blob(store_, key_of_heap(container_, heap), blob).version == store::kAbsent)
    throw Error("heap " + std::to_string(heap) + " of container " + printable(container_) +
                    " does not exist",
                ErrorKind::not_found);
  try {
    require_heap(blob.bytes());
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::corrupt) fail_damaged_heap(heap);
    throw Error("heap " + std::to_string(heap) + " of container " + printable(container_) + ": " +
                    error.what(),
                error.kind());
  }
  return blob;
}

store::Bytes Heaps::values_of(std::uint64_t heap) {
  if (const auto found = pending_.find(heap); found != pending_.end())
    return store::Bytes(found->second).subspan(kHeapHead);
  const auto kept = std::ranges::find(kept_, heap, &Kept::heap);
  if (kept == kept_.end())
    kept_.push_front({heap, load(heap)});
  else
    kept_.splice(kept_.begin(), kept_, kept);
  return std::as_const(kept_.front().blob).bytes().subspan(kHeapHead);
}

void Heaps::drop_oldest() {
  std::size_t bytes = 0;
  for (const Kept& one : kept_) bytes += one.blob.size();
  while (kept_.size() > kMostKeptHeaps || bytes > kMostKeptBytes) {
    bytes -= kept_.back().blob.size();
    kept_.pop_back();
  }
}

void Heaps::get(const HeapId& id, std::span<std::byte> value) {
  if (id.size != value.size()) fail_damaged_heap(id.heap);
  if (value.empty()) return;
  const store::Bytes values = values_of(id.heap);
  const bool is_there = id.offset <= values.size() && id.size <= values.size() - id.offset;
  if (is_there) std::memcpy(value.data(), values.data() + id.offset, id.size);
  drop_oldest();
  if (!is_there) fail_damaged_heap(id.heap);
}

// The store may have a heap whose put has failed: it takes no more values either.
void Heaps::flush() {
  if (pending_.empty() || process_ != ::getpid()) return;
  open_ = 0;
  std::vector<store::Change> blobs;
  blobs.reserve(pending_.size());
  for (auto& [heap, blob] : pending_) {
    blob.front() = kHeapVersion;
    put_little_endian(blob.data() + 1, checksum_of_heap(blob));
    blobs.push_back({key_of_heap(container_, heap), store::Bytes(blob)});
  }
  store_.put(blobs);
  pending_.clear();
  size_ = 0;
}

}  // namespace headrace::objects
