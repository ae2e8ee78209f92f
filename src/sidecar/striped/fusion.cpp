#include "sidecar/striped/fusion.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"
#include "sidecar/background_process.hpp"
#include "sidecar/copy_file.hpp"
#include "sidecar/locks.hpp"

namespace headrace::sidecar {
namespace {

namespace fs = std::filesystem;

// A name that nobody has.
std::string make_empty_beside(const std::string& stub) {
  constexpr std::string_view kEnd = ".partial";
  const fs::path path(stub);
  std::string name = path.parent_path() / ("." + path.filename().string() + ".XXXXXX");
  name.append(kEnd);
  const int descriptor = ::mkostemps(name.data(), kEnd.size(), O_CLOEXEC);
  if (descriptor < 0) throw Error(name + ": " + std::strerror(errno), errno);
  ::close(descriptor);
  return name;
}

// Others would go on leading to a stub without pieces.
void require_one_name(const std::string& stub) {
  const auto names = Descriptor(stub, O_RDONLY).status().st_nlink;
  if (names > 1)
    throw Error("it has " + std::to_string(names) +
                " names (hard links), of which only one would lead to the file that is made: "
                "headrace fuse " +
                stub + " --output makes one beside it");
}

// A range of a subfile by stripes, each of which lies elsewhere in the file.
void copy_stripes(const engine::StripeLayout& layout, std::uint32_t number, const Descriptor& from,
                  const Descriptor& to, std::uint64_t begin, std::uint64_t end) {
  while (begin < end) {
    const std::uint64_t row = begin / layout.stripe;
    const std::uint64_t inside = begin % layout.stripe;
    const std::uint64_t length =
        layout.count == 1 ? end - begin : std::min(layout.stripe - inside, end - begin);
    const std::uint64_t there = (row * layout.count + number) * layout.stripe + inside;
    copy_range(from, static_cast<off_t>(begin), to, static_cast<off_t>(there),
               static_cast<off_t>(length));
    begin += length;
  }
}

}  // namespace

std::string begin_fusion(const StripedSet& set, std::uint64_t size) {
  require_one_name(set.stub);
  std::string copy = make_empty_beside(set.stub);
  try {
    const Descriptor made(copy, O_RDWR);
    copy_identity(Descriptor(set.stub, O_RDONLY), made);
    if (::ftruncate(made.get(), static_cast<off_t>(size)) != 0)
      throw Error(copy + ": " + std::strerror(errno), errno);
  } catch (...) {
    abandon_fusion(copy);
    throw;
  }
  return copy;
}

void fuse_subfile(const StripedSet& set, std::uint32_t number, const std::string& copy) try {
  const Descriptor from(set.subfiles.at(number), O_RDONLY);
  const Descriptor to(copy, O_RDWR);
  for_each_part(from, from.status().st_size, [&](off_t begin, off_t end) {
    copy_stripes(set.layout, number, from, to, static_cast<std::uint64_t>(begin),
                 static_cast<std::uint64_t>(end));
  });
  sync(to);
} catch (const Error& error) {
  throw Error(set.subfiles.at(number) + ": " + error.what(), error);
}

void end_fusion(const StripedSet& set, const std::string& copy) try {
  require_one_name(set.stub);
  fs::rename(copy, set.stub);
} catch (const fs::filesystem_error& error) {
  throw Error(error.what(), error.code().value());
}

void abandon_fusion(const std::string& copy) noexcept {
  std::error_code none;
  fs::remove(copy, none);
}

void start_background_fusion(const StripedSet& set) {
  const Descriptor config(set.config, O_RDWR);  // NFS locks no other
  start_background_process(kFuseProgram, {set.stub, set.config}, config.get());
}

void wait_for_fusion(const StripedSet& set) noexcept try {
  lock_when_free(Descriptor(set.config, O_RDONLY).get(), LOCK_SH);
} catch (const std::exception&) {
  // Looking for the set once more tells what is wrong with it.
}

}  // namespace headrace::sidecar
