#include "vol/terminal/face_memory.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "vol/terminal/native_file.hpp"

namespace headrace::vol {
namespace {

constexpr haddr_t kHead = 4096;
// Where the parts of all memories begin: a reference that gets into another file leads nowhere.
constexpr haddr_t kBodies = haddr_t{1} << 24U;  // bytes apart
constexpr std::uint64_t kMostBodies = 512;
constexpr haddr_t kHeaps = haddr_t{1} << 34U;
constexpr haddr_t kTokens = haddr_t{1} << 36U;
constexpr std::size_t kHeapSize = 16384;  // of one that gets no more

haddr_t next_body() {
  static std::uint64_t made = 0;
  return kHead + kBodies * (made++ % kMostBodies);
}

haddr_t next_heap(std::size_t size) {
  static haddr_t next = kHeaps;
  const haddr_t here = next;
  const haddr_t rounded = (size + kHead - 1) / kHead * kHead;
  if (rounded > kTokens - here) throw Error("there are too many region references in memory");
  next += rounded;
  return here;
}

hdset_reg_ref_t encoded(haddr_t heap, std::uint32_t index) {
  hdset_reg_ref_t reference;
  std::memcpy(&reference, &heap, sizeof heap);
  std::memcpy(reinterpret_cast<char*>(&reference) + sizeof heap, &index, sizeof index);
  return reference;
}

}  // namespace

FaceMemory::FaceMemory() : begin_(next_body()) {}

void FaceMemory::restart() {
  if (!heaps_.empty()) begin_ += body_.size();  // some of them lie there
  head_.clear();
  body_.clear();
  told_.clear();
  rest_at_ = HADDR_UNDEF;
}

hdset_reg_ref_t FaceMemory::reference_to(const std::string& content) {
  was_used_ = true;
  const auto known = known_.find(content);
  if (known != known_.end()) return known->second;
  if (open_heap_ == 0 || heaps_[open_heap_].size() + content.size() > kHeapSize) {
    if (open_heap_ != 0) heap::seal(heaps_[open_heap_], objects_);
    open_heap_ = 0;
    const std::string empty = heap::empty();
    const haddr_t address = next_heap(std::max(kHeapSize, content.size()) + kHead);
    heaps_[address] = empty;
    open_heap_ = address;
    objects_ = 0;
  }
  objects_ = heap::add(heaps_[open_heap_], objects_, content);
  return known_[content] = encoded(open_heap_, objects_);
}

std::optional<std::string> FaceMemory::find(haddr_t address, std::uint32_t index) const {
  const auto found = heaps_.find(address);
  return found == heaps_.end() ? std::nullopt : heap::find(found->second, index);
}

std::optional<std::string> FaceMemory::content_of(const hdset_reg_ref_t& reference) {
  haddr_t address = 0;
  std::uint32_t index = 0;
  std::memcpy(&address, &reference, sizeof address);
  std::memcpy(&index, reinterpret_cast<const char*>(&reference) + sizeof address, sizeof index);
  auto found = find(address, index);
  if (found || open_.empty()) return found;
  (*open_.begin())->flush();  // a program's own may not be written yet
  return find(address, index);
}

void FaceMemory::update_extents() {
  if (open_.empty() || is_reading_) return;
  for (auto& [token, told] : told_) {
    const auto now = extent_of_ ? extent_of_(token) : std::nullopt;
    if (!now || *now == told || now->dims.size() != told.dims.size()) continue;
    (*open_.begin())->set_extent(token, now->dims);
    told = *now;
  }
}

haddr_t FaceMemory::allocate(H5FD_mem_t type, hsize_t size) {
  if (type == H5FD_MEM_SUPER && head_.empty() && size <= kHead) {
    head_.resize(size);
    return 0;
  }
  constexpr std::size_t kAligned = 8;
  const haddr_t address = begin_ + body_.size();
  body_.resize((body_.size() + size + kAligned - 1) / kAligned * kAligned);
  return address;
}

std::map<haddr_t, std::string>::iterator FaceMemory::heap_at(haddr_t address) {
  const auto next = heaps_.upper_bound(address);
  if (next == heaps_.begin()) return heaps_.end();
  const auto found = std::prev(next);
  if (found->first == open_heap_) {
    heap::seal(found->second, objects_);  // HDF5 keeps it as it is now
    open_heap_ = 0;
  }
  return address - found->first < heap::size_of(found->second) ? found : heaps_.end();
}

bool FaceMemory::read(haddr_t address, std::span<char> bytes) {
  // What lies behind the end is zeros.
  std::ranges::fill(bytes, '\0');
  const auto copy = [&](const std::string& from, haddr_t at) {
    const auto begin = std::min<std::size_t>(at, from.size());
    std::memcpy(bytes.data(), from.data() + begin, std::min(bytes.size(), from.size() - begin));
    return true;
  };
  if (address == rest_at_) {
    rest_at_ = HADDR_UNDEF;
    return copy(rest_, 0);
  }
  rest_at_ = HADDR_UNDEF;
  if (address < kHead) return copy(head_, address);
  if (address >= kTokens) return read_header(address, bytes);
  if (const auto found = heap_at(address); found != heaps_.end())
    return copy(found->second, address - found->first);
  return address >= begin_ && address - begin_ < body_.size() && copy(body_, address - begin_);
}

bool FaceMemory::read_header(haddr_t token, std::span<char> bytes) {
  was_used_ = true;
  if (!extent_of_) return false;
  is_reading_ = true;
  std::optional<FaceExtent> extent;
  const std::exception_ptr failed = error_of([&] { extent = extent_of_(token); });
  is_reading_ = false;
  if (failed != nullptr) std::rethrow_exception(failed);
  if (!extent) return false;
  const std::string header = header_of(*extent);
  const std::size_t size = std::min(header.size(), bytes.size());
  std::memcpy(bytes.data(), header.data(), size);
  rest_ = header.substr(size);
  if (!rest_.empty()) rest_at_ = token + size;
  if (extent->most != extent->dims) told_[token] = *extent;
  return true;
}

bool FaceMemory::write(haddr_t address, std::span<const char> bytes) {
  const std::string_view text(bytes.data(), bytes.size());
  if (address >= kTokens) return true;  // of an extent that was told
  if (address < kHead) {
    head_.resize(std::max<std::size_t>(head_.size(), address + text.size()));
    head_.replace(address, text.size(), text);
    return true;
  }
  if (text.starts_with(heap::kSignature)) {
    heaps_[address] = text;
    return true;
  }
  if (address < begin_ || address - begin_ + text.size() > body_.size()) return false;
  body_.replace(address - begin_, text.size(), text);
  return true;
}

}  // namespace headrace::vol
