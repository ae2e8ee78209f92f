// The logs of a file that the program makes anew.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "layers/log/connector/opening/marker.hpp"
#include "sidecar/opening_guard.hpp"

namespace headrace::log_layout {

// The logs of a file that HDF5 is about to cut off and make anew: nobody can use them then.
class FormerLogs {
 public:
  // Finds them, where the program creates the file with these flags.
  FormerLogs(const sidecar::OpeningGuard& guard, unsigned flags, hid_t fapl) noexcept;
  // To be called when HDF5 has created it. Those of a file that is still there remain.
  void remove() const noexcept;

 private:
  std::string name_;
  std::uint64_t size_ = 0;
  std::optional<engine::log::Owner> owner_;
};

}  // namespace headrace::log_layout
