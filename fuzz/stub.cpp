// Stubs of files in pieces (sidecar/striped/stub.hpp): whatever is in a file, what is told of it
// fits it, and the layer's own text is known again.
#include "sidecar/striped/stub.hpp"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "base/unique_id.hpp"
#include "percent.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headrace::sidecar;
  using namespace headrace;
  static const std::string path = "fuzz_stub." + std::to_string(::getpid());
  const std::string text = from_percent(data, size);
  std::ofstream(path, std::ios::binary) << text;
  const Stub stub = read_stub(path);
  if ((stub.kind == Stub::Kind::empty) != text.empty()) std::abort();
  if (stub.kind == Stub::Kind::superblock &&
      text.compare(stub.superblock_at, stub.superblock.size(), stub.superblock) != 0)
    std::abort();
  if (stub.number.find_first_not_of("0123456789") != std::string::npos) std::abort();
  if (!stub.id.empty() && !is_unique_id(stub.id)) std::abort();
  const std::string id = new_unique_id();
  write_stub(path, {4096, 3}, "4711", id);
  const Stub ours = read_stub(path);
  if (ours.kind != Stub::Kind::text || ours.number != "4711" || ours.id != id) std::abort();
  ::unlink(path.c_str());
  return 0;
}
