// What the layer keeps with a file. The application's thread only.
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "vol/dataset/elements.hpp"
#include "vol/file/file_facts.hpp"

namespace headrace::tune {

struct OpenFile;  // drivers/tune/deferred_fill.hpp

// The layer's options, of a file.
struct TuneOptions {
  // Throws Error for a malformed one.
  explicit TuneOptions(const Options& options);

  std::uint64_t memory;
  bool chunk_cache;
  std::uint64_t assume_cache;
  std::uint64_t sieve;
  std::uint64_t metadata_block;
  std::uint64_t metadata_cache;
  std::uint64_t alignment;
};

// A property of an access list that was changed, by HDF5's name for it.
struct Changed {
  std::string property;
  std::vector<std::byte> before;
};

struct FileState {
  TuneOptions options;
  std::string name;                   // as the program has opened it
  bool writes;                        // whether the program may write to it
  std::vector<Changed> changed;       // in the list that it is open with
  bool caches;                        // whether caches of its datasets may be enlarged
  std::set<vol::Identity> grown;      // datasets of which one is
  std::shared_ptr<OpenFile*> driver;  // null where no fill values are kept back
};

// Counts for the report.
struct Statistics {
  std::uint64_t lists = 0;        // properties of access lists
  std::uint64_t caches = 0;       // of chunks, enlarged
  std::uint64_t cache_bytes = 0;  // that those were enlarged to
  std::uint64_t beyond = 0;       // not enlarged, as the memory did not suffice
};
Statistics& statistics();
// Writes them into the report and starts counting anew.
void report_statistics();

}  // namespace headrace::tune
