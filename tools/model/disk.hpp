// A real folder: how fast it is, and how long a ledger takes in it.
#pragma once

#include <string>

#include "model/ledger.hpp"
#include "model/parameters.hpp"

namespace headrace::model {

enum class Cache {
  cached,  // pwrite and pread through the page cache, as a program sees them
  sync     // each write followed by fdatasync, each read after its pages were dropped
};

// Time of one request: latency + bytes / bandwidth.
struct Line {
  double latency = 0;    // seconds
  double bandwidth = 0;  // bytes a second
};

struct Disk {
  Line write;
  Line read;
  double fsync = 0;  // seconds to make 1 MiB durable that was just written

  // One server that takes one request after the other.
  [[nodiscard]] Parameters parameters() const;
};

// The line with the least relative errors through times (seconds) of requests of sizes (bytes).
Line fit(std::span<const double> sizes, std::span<const double> times);

// Times requests of 512 bytes to 4 MiB in a scratch file below `directory`, which it removes.
// Throws Error that names the file and the cause.
Disk measure(const std::string& directory, Cache cache);

// Makes the ledger's reads and writes for real in a scratch file below `directory`; returns the
// seconds they took. What is read before it is written is written first, untimed.
double play(const Ledger& ledger, const std::string& directory, Cache cache);

}  // namespace headrace::model
