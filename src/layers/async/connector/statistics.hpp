// What the connector did, for the report.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

namespace headrace::async {

// How often the filters did what; bytes are those of decoded chunks.
struct Statistics {
  std::uint64_t encoded = 0;
  std::uint64_t encoded_bytes = 0;
  std::uint64_t stored_bytes = 0;    // what those have become
  std::uint64_t left_out = 0;        // chunks in which a filter gained nothing, stored by HDF5
  std::uint64_t encoded_behind = 0;  // of those, chunks whose write had returned before
  std::uint64_t decoded = 0;
  std::uint64_t decoded_bytes = 0;
  std::uint64_t decoded_behind = 0;  // of those, chunks whose read had returned before
  std::uint64_t cache_hits = 0;
  std::uint64_t scattered = 0;        // reads and writes of other selections than hyperslabs
  std::uint64_t direct_reads = 0;     // of contiguous data, without HDF5
  std::uint64_t chunk_maps = 0;       // that were made
  std::uint64_t mapped_reads = 0;     // reads by them
  std::uint64_t mapped_chunks = 0;    // of so many chunks
  std::uint64_t mapped_requests = 0;  // in so many requests
  std::uint64_t requests_merged = 0;  // asynchronous ones that were carried out with others
  // Reads and writes of datasets that were left to HDF5, by the reason.
  std::map<std::string_view, std::uint64_t> left;
};

// The program's thread only.
Statistics& statistics();

// Writes them into the report and starts counting anew.
void report_statistics();

}  // namespace headrace::async
