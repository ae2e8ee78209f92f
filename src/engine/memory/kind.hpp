// Memory that the CPU may not touch: that of a GPU, which programs may hand to HDF5 as a buffer.
#pragma once

namespace headrace::engine {

// Whether an address belongs to a device, as CUDA's driver says (cuPointerGetAttribute), managed
// memory included. Asks libcuda only where the process has loaded it already; without it all memory
// is the host's. Null is no device's. Any thread.
[[nodiscard]] bool is_device_memory(const void* address) noexcept;

}  // namespace headrace::engine
