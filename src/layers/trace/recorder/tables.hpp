// The tables of a trace: what is known of a call of HDF5's, and of a request to the storage.
// docs/formats/trace.md says what each column means.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace headrace::trace {

enum class Table : std::uint32_t { facts = 0, calls = 1, requests = 2 };

// A transfer of several datasets has a row for each of them, of one number; the first has the time.
// What is widest comes first, so that there are no gaps: the memory of each row is another core's
// when it is written to.
struct Call {
  std::uint64_t number = 0;  // of this process, from 1, in the order in which calls begin
  std::uint64_t parent = 0;  // the number of the call that it was made in; 0: none
  std::int64_t begin = 0;    // nanoseconds, as Recorder::now()
  std::int64_t duration = 0;
  std::uint64_t bytes = 0;  // of the program's memory
  std::uint64_t count = 1;  // of the calls that are summed up in the row
  // What a transfer selects: a shape, and how many elements of the dataspace are before its first.
  std::uint64_t file_start = 0;
  std::uint64_t memory_start = 0;
  std::uint32_t file_shape = 0;
  std::uint32_t memory_shape = 0;
  std::uint32_t object = 0;
  std::uint32_t name = 0;  // of its attribute that the call is about
  std::uint32_t type = 0;  // in memory
  std::uint32_t line = 0;  // of the program
  std::uint32_t thread = 0;
  // What HDF5 did of a collective transfer: why (H5Pget_mpio_no_collective_cause), and an
  // H5D_mpio_actual_io_mode_t.
  std::uint32_t no_collective_cause = 0;
  std::int32_t operation = -1;
  std::uint16_t callback = 0;
  std::uint8_t io_mode = 0;
  bool failed = false;
  bool collective = false;  // the program asked for it
  bool event_set = false;
};
static_assert(sizeof(Call) == 112);

inline constexpr std::array<std::string_view, 22> kCallColumns{"number",
                                                               "parent",
                                                               "begin",
                                                               "duration",
                                                               "callback",
                                                               "operation",
                                                               "object",
                                                               "name",
                                                               "failed",
                                                               "thread",
                                                               "bytes",
                                                               "file_shape",
                                                               "file_start",
                                                               "memory_shape",
                                                               "memory_start",
                                                               "type",
                                                               "collective",
                                                               "io_mode",
                                                               "no_collective_cause",
                                                               "event_set",
                                                               "line",
                                                               "count"};

inline std::array<std::uint64_t, kCallColumns.size()> row_of(const Call& call) {
  return {call.number,
          call.parent,
          static_cast<std::uint64_t>(call.begin),
          static_cast<std::uint64_t>(call.duration),
          call.callback,
          static_cast<std::uint64_t>(std::int64_t{call.operation}),
          call.object,
          call.name,
          call.failed ? 1U : 0U,
          call.thread,
          call.bytes,
          call.file_shape,
          call.file_start,
          call.memory_shape,
          call.memory_start,
          call.type,
          call.collective ? 1U : 0U,
          call.io_mode,
          call.no_collective_cause,
          call.event_set ? 1U : 0U,
          call.line,
          call.count};
}

// One piece of a request; of the pieces of one the first has the time.
struct Request {
  std::uint64_t call = 0;  // the number of the call that it was made in; 0: none
  std::int64_t begin = 0;
  std::int64_t duration = 0;
  std::uint32_t kind = 0;  // engine::RequestKind
  std::uint32_t file = 0;
  std::uint32_t type = 0;  // an H5FD_mem_t, or kUnknownType
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::uint64_t span = 0;  // from its first byte to past its last; `length` unless scattered
  std::uint32_t thread = 0;
  bool collective = false;
  bool failed = false;
  std::uint64_t count = 1;  // of the requests that are summed up in the row
};

inline constexpr std::uint32_t kUnknownType = 99;

inline constexpr std::array<std::string_view, 13> kRequestColumns{
    "call",   "begin", "duration", "kind",       "file",   "type", "offset",
    "length", "span",  "thread",   "collective", "failed", "count"};

inline std::array<std::uint64_t, kRequestColumns.size()> row_of(const Request& request) {
  return {request.call,
          static_cast<std::uint64_t>(request.begin),
          static_cast<std::uint64_t>(request.duration),
          request.kind,
          request.file,
          request.type,
          request.offset,
          request.length,
          request.span,
          request.thread,
          request.collective ? 1U : 0U,
          request.failed ? 1U : 0U,
          request.count};
}

}  // namespace headrace::trace
