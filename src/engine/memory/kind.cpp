#include "engine/memory/kind.hpp"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdint>

namespace headrace::engine {
namespace {

// CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
using GetAttribute = int (*)(void*, int, std::uintptr_t);
constexpr int kSuccess = 0;
constexpr int kMemoryType = 2;        // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
constexpr unsigned kDeviceType = 2;   // CU_MEMORYTYPE_DEVICE
constexpr unsigned kUnifiedType = 4;  // CU_MEMORYTYPE_UNIFIED

// How many libraries the process has ever loaded: libcuda may come with any.
unsigned long long loaded() noexcept {
  unsigned long long count = 0;
  const auto first = [](dl_phdr_info* info, std::size_t /*size*/, void* found) {
    *static_cast<unsigned long long*>(found) = info->dlpi_adds;
    return 1;
  };
  ::dl_iterate_phdr(first, &count);
  return count;
}

GetAttribute find() noexcept {
  void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  // Kept open: the function may be called as long as the process runs.
  return driver == nullptr
             ? nullptr
             : reinterpret_cast<GetAttribute>(::dlsym(driver, "cuPointerGetAttribute"));
}

GetAttribute get_attribute() noexcept {
  static std::atomic<GetAttribute> function{nullptr};
  static std::atomic<unsigned long long> looked_at{0};
  if (const GetAttribute known = function.load(std::memory_order_acquire)) return known;
  const unsigned long long now = loaded();
  if (looked_at.load(std::memory_order_acquire) == now) return nullptr;
  const GetAttribute found = find();
  function.store(found, std::memory_order_release);
  looked_at.store(now, std::memory_order_release);
  return found;
}

}  // namespace

bool is_device_memory(const void* address) noexcept {
  const GetAttribute get = address == nullptr ? nullptr : get_attribute();
  unsigned type = 0;
  return get != nullptr &&
         get(&type, kMemoryType, reinterpret_cast<std::uintptr_t>(address)) == kSuccess &&
         (type == kDeviceType || type == kUnifiedType);
}

}  // namespace headrace::engine
