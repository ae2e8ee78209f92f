#include "sidecar/locks.hpp"

#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "engine/log/format.hpp"

namespace headrace::sidecar {

bool lock_when_free(int descriptor, int operation) {
  int failed = -1;
  while ((failed = ::flock(descriptor, operation)) != 0 && errno == EINTR) {
  }
  return failed == 0;
}

bool stands_for_all(std::string_view log) {
  constexpr std::size_t kId = 2 * sizeof(engine::log::Owner);
  const std::string_view rest = log.substr(std::min(log.size(), kId));
  return rest == ".log" || rest == ".0.log" || rest == ".n0.log";
}

void remove_copies(const std::filesystem::path& log) {
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(log.parent_path(), failure)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(log.filename().native()) &&
        (name.ends_with(kCopySuffix) || name.ends_with(kCopysFolderSuffix)))
      std::filesystem::remove_all(entry.path(), failure);
  }
}

}  // namespace headrace::sidecar
