#include "kernel.hpp"

namespace headrace::bench {

#define HEADRACE_KERNEL(name, summary) std::unique_ptr<Kernel> make_##name();
#include "kernels.def"
#undef HEADRACE_KERNEL

const std::vector<KernelEntry>& kernels() {
  static const std::vector<KernelEntry> entries{
#define HEADRACE_KERNEL(name, summary) {#name, summary, &make_##name},
#include "kernels.def"
#undef HEADRACE_KERNEL
  };
  return entries;
}

}  // namespace headrace::bench
