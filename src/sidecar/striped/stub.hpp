// The stub of a file in pieces (sidecar/striped/striped_set.hpp): the file that has its name. Ours
// is a text; HDF5's subfiling writes the superblock to its own, and over ours when it writes to the
// file. No HDF5. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/stripes.hpp"

namespace headrace::sidecar {

struct Stub {
  enum class Kind {
    text,        // ours
    superblock,  // HDF5's, or an ordinary file
    empty,
    other  // not HDF5's, so not a stub
  } kind = Kind::other;
  bool names_subfiling = false;     // beside the superblock, as HDF5 does in files that it makes
  bool was_text = false;            // ours, which HDF5's subfiling has written to
  std::uint64_t superblock_at = 0;  // in bytes: after a user block
  std::string superblock;           // what all versions of it have
  // In ours: the number in the names of its pieces, and what tells their set from others that have
  // had that number; empty in old ones.
  std::string number;
  std::string id;
  std::string made;         // where it was when the set was made
  std::uint64_t inode = 0;  // of the file
};

// Bytes of a stub in which its kind shows. The text has as many, and a line's rest.
inline constexpr std::uint64_t kStubText = 8192;

// Throws Error when it cannot be read.
Stub read_stub(const std::string& path);

// Writes the text that plain HDF5 refuses over what is in the file. `number`, of digits, is that in
// the names of the pieces; `id` may be empty. Throws Error.
void write_stub(const std::string& path, const engine::StripeLayout& layout,
                const std::string& number, const std::string& id);

}  // namespace headrace::sidecar
