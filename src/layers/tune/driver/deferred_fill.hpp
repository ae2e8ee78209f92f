// Fill values that HDF5 writes when it sets storage aside, and that wait for the data which takes
// their place: how the connector and the driver of the layer work together. The application's
// thread only.
#pragma once

#include <memory>
#include <span>

#include "base/call_scope.hpp"
#include "engine/pending_fill.hpp"
#include "vfd/file.hpp"

namespace headrace::tune {

// While it lives HDF5 may write that value all over storage that it has just set aside.
struct ExpectedFill : CallScope<ExpectedFill> {
  explicit ExpectedFill(std::span<const std::byte> bytes) : value(bytes) {}
  std::span<const std::byte> value;
};

struct OpenFile : vfd::File {
  OpenFile() : vfd::File{} {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() { *self = nullptr; }

  engine::PendingFill pending;
  bool defers = true;  // false once somebody looks at the file past this driver
  // For those who want to know whether it is open still.
  std::shared_ptr<OpenFile*> self = std::make_shared<OpenFile*>(this);

  static OpenFile& of(H5FD_t* file) { return *reinterpret_cast<OpenFile*>(file); }
};

// Writes what is pending, or of a range of the file. Throws Error, and keeps what could not be
// written.
void write_pending(OpenFile& file);
void write_pending(OpenFile& file, std::uint64_t offset, std::uint64_t length);
// The same, and nothing is kept back from then on.
void keep_no_more(OpenFile& file);

// While it lives, get_handle of our driver tells its file instead of a descriptor: how the
// connector finds it through HDF5.
struct FileInquiry : CallScope<FileInquiry> {
  std::shared_ptr<OpenFile*> found;
};

// Counts of bytes, for the report.
struct FillStatistics {
  std::uint64_t deferred = 0;
  std::uint64_t written = 0;   // of these, as no data took their place
  std::uint64_t left_out = 0;  // over MPI, as the file has zeros there anyway
};
FillStatistics& fill_statistics();

}  // namespace headrace::tune
