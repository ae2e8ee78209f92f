// The settings of the layer as one value, and the count of matching operations that decides which
// of them are hit. Knows nothing of HDF5. Threads may call all functions at the same time: what one
// of them does is numbered in the order in which it does it.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/settings/settings.hpp"
#include "layers/fault/driver/unsynced.hpp"

namespace headrace::fault {

enum class Kind { none, error, short_transfer, delay, power_cut };
enum class Op { any, read, write, flush, truncate, open, close, remove };
// Instead of a rank: all ranks make the operation together.
inline constexpr int kEveryRank = -1;

enum class Data { any, metadata, raw };  // what is transferred; any: unknown, or no transfer

std::string_view name_of(Op op);

// One call that HDF5 makes to a driver, or a worker thread to the driver's storage.
struct Operation {
  Op op;
  std::string_view file;  // its absolute path
  int rank = 0;           // or kEveryRank
  Data data = Data::any;
  std::uint64_t offset = 0;  // in bytes; of a transfer, otherwise 0
  std::uint64_t length = 0;  // in bytes; of a transfer, otherwise 0
  // The bytes of each piece, when a part of the transfer can only be whole pieces.
  // g++ misses an initializer in the callers without these braces.
  std::span<const std::uint64_t> pieces{};  // NOLINT(readability-redundant-member-init)
};

class Plan {
 public:
  // Throws Error for a value that is malformed or senseless.
  explicit Plan(const Options& options);

  // Counts the operation. Its number among the matching ones if it is hit, otherwise nothing.
  std::optional<std::uint64_t> hit(const Operation& operation);

  // How many bytes of it a short transfer transfers.
  [[nodiscard]] std::uint64_t part_of(const Operation& operation) const;

  Kind kind = Kind::none;
  Outcome outcome = Outcome::lost;
  bool sync_at_flush = true;
  bool sync_at_close = true;
  bool exits = true;  // at a power cut
  int error_number = 0;
  std::string error_name;
  std::chrono::nanoseconds delay{};
  std::uint64_t seed = 0;
  std::string journal;  // file name, or empty

 private:
  [[nodiscard]] bool matches(const Operation& operation) const;
  [[nodiscard]] bool chosen(std::uint64_t number) const;

  Op op_ = Op::write;
  Data data_ = Data::any;
  std::string pattern_;
  std::optional<int> rank_;
  std::uint64_t first_ = 1;
  std::uint64_t limit_ = 1;
  std::uint64_t per_million_ = 0;
  std::uint64_t percent_ = 50;

  std::mutex mutex_;  // of the counts
  std::uint64_t matched_ = 0;
  std::uint64_t hits_ = 0;
};

}  // namespace headrace::fault
