// How a new file is dealt out, by the layer's options and, where these leave it open, by what
// HDF5's subfiling reads from the environment.
#pragma once

#include <cstdint>
#include <string>

#include "base/settings/settings.hpp"
#include "comm/communicator.hpp"
#include "sidecar/striped/striped_set.hpp"

namespace headrace::stripe {

// When a file that was open for writing is made whole.
enum class Fuse { later, close, background };

struct Placement {
  // Throws Error for malformed values.
  explicit Placement(const Options& options);

  // Collective where that depends on nodes. Throws Error.
  [[nodiscard]] engine::StripeLayout layout(Communicator& ranks) const;

  std::uint64_t stripe = 0;  // in bytes
  std::uint64_t files = 0;
  enum class Per { node, rank, total } per = Per::node;
  std::uint64_t every = 1;  // over so many ranks one file, where that is per rank
  sidecar::SetFolders folders;
  bool local = false;    // those of subfiles are each node's own
  unsigned threads = 0;  // of workers; 0: as many as disks
  bool sync = false;
  bool checksums = false;
  Fuse fuse = Fuse::later;
  std::uint64_t aggregate = 0;  // bytes of each rank's shared memory; 0: ranks write their own
};

}  // namespace headrace::stripe
