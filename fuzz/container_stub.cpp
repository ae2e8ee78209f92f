// Stubs of containers (sidecar/container_stub.hpp): whatever is in a file, it is none, damaged, or
// tells a container's name; and the layer's own text is known again.
#include "sidecar/container_stub.hpp"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "base/error.hpp"
#include "base/unique_id.hpp"
#include "percent.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headrace::sidecar;
  using namespace headrace;
  static const std::string path = "fuzz_container_stub." + std::to_string(::getpid());
  std::ofstream(path, std::ios::binary) << from_percent(data, size);
  try {
    const auto stub = read_container_stub(path);
    if (stub && !is_unique_id(stub->container)) std::abort();
  } catch (const headrace::Error& error) {
    if (error.kind() != headrace::ErrorKind::corrupt) std::abort();
  }
  const std::string id = new_unique_id();
  write_container_stub(path, {id, "/a store", {}}, Existing::replaced);
  const auto ours = read_container_stub(path);
  if (!ours || ours->container != id || ours->store != "/a store" || !ours->is_original)
    std::abort();
  ::unlink(path.c_str());
  return 0;
}
