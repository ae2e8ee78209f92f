#include "engine/io/local_file_system.hpp"

#include <sys/statfs.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace headrace::engine::io {

// By their numbers (statfs(2)).
bool is_on_local_file_system(int descriptor) {
  constexpr std::array<std::uint32_t, 11> kLocal{
      0xef53,      // ext2, 3 and 4
      0x58465342,  // XFS
      0x9123683e,  // Btrfs
      0x01021994,  // tmpfs
      0x858458f6,  // ramfs
      0x2fc12fc1,  // ZFS
      0x794c7630,  // overlayfs
      0xf2f52010,  // F2FS
      0xca451a4e,  // bcachefs
      0x73717368,  // squashfs
      0x9660,      // ISO 9660
  };
  struct statfs status{};
  return ::fstatfs(descriptor, &status) == 0 &&
         std::ranges::find(kLocal, static_cast<std::uint32_t>(status.f_type)) != kLocal.end();
}

}  // namespace headrace::engine::io
