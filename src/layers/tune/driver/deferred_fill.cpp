#include "layers/tune/driver/deferred_fill.hpp"

#include "base/error.hpp"

namespace headrace::tune {

namespace {

engine::PendingFill::Write writing_to(H5FD_t* under) {
  return [under](std::uint64_t offset, std::span<const std::byte> bytes) {
    if (under->cls->write(under, H5FD_MEM_DRAW, h5.transfer_list.get(), offset, bytes.size(),
                          bytes.data()) < 0)
      throw Error("the fill values of a dataset cannot be written to the file, at " +
                  std::to_string(offset));
    fill_statistics().written += bytes.size();
  };
}

}  // namespace

void write_pending(OpenFile& file) { file.pending.write_all(writing_to(file.under)); }

void write_pending(OpenFile& file, std::uint64_t offset, std::uint64_t length) {
  file.pending.write_range(offset, length, writing_to(file.under));
}

void keep_no_more(OpenFile& file) {
  write_pending(file);
  file.defers = false;
}

FillStatistics& fill_statistics() {
  static FillStatistics statistics;
  return statistics;
}

}  // namespace headrace::tune
