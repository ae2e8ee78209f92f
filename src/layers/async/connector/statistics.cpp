#include "layers/async/connector/statistics.hpp"

#include <chrono>
#include <utility>
#include <vector>

#include "engine/threads/thread_pool.hpp"
#include "hdf5/report/events.hpp"
#include "hdf5/report/summary.hpp"

namespace headrace::async {
namespace {

std::uint64_t in_nanoseconds(std::chrono::nanoseconds time) {
  return static_cast<std::uint64_t>(time.count());
}

}  // namespace

Statistics& statistics() {
  static auto& statistics = *new Statistics;  // leaked: HDF5 ends after the process's statics
  return statistics;
}

void report_statistics() {
  const Statistics done = std::exchange(statistics(), {});
  const engine::WorkerTimes workers = engine::take_worker_times();
  std::uint64_t calls = 0;
  for (const auto& [why, count] : done.left) calls += count;
  std::vector<std::pair<std::string_view, std::uint64_t>> values{
      {"chunks_encoded", done.encoded},
      {"encoded_bytes", done.encoded_bytes},
      {"encoded_to_bytes", done.stored_bytes},
      {"chunks_left_out", done.left_out},
      {"chunks_encoded_behind", done.encoded_behind},
      {"chunks_decoded", done.decoded},
      {"decoded_bytes", done.decoded_bytes},
      {"chunks_decoded_behind", done.decoded_behind},
      {"chunk_cache_hits", done.cache_hits},
      {"direct_reads", done.direct_reads},
      {"scattered_calls", done.scattered},
      {"chunk_maps_made", done.chunk_maps},
      {"reads_by_chunk_map", done.mapped_reads},
      {"chunks_read_by_map", done.mapped_chunks},
      {"requests_for_chunks_by_map", done.mapped_requests},
      {"requests_merged", done.requests_merged},
      {"calls_left_to_hdf5", calls},
      {"workers_ns", in_nanoseconds(workers.working)},
      {"workers_beside_the_program_ns", in_nanoseconds(workers.beside)},
      {"program_waited_ns", in_nanoseconds(workers.waited)},
  };
  values.insert(values.end(), done.left.begin(), done.left.end());
  if (done.encoded_bytes > 0) share_of("async_filters").taken += done.encoded_bytes;
  headrace::report_statistics(Seat::vol, "headrace_async", "", values);
}

}  // namespace headrace::async
