#include "drivers/tune/deferred_fill.hpp"

#include "base/error.hpp"

namespace headrace::tune {

void write_pending(OpenFile& file) {
  file.pending.write_all([&](std::uint64_t offset, std::span<const std::byte> bytes) {
    if (file.under->cls->write(file.under, H5FD_MEM_DRAW, h5.transfer_list.get(), offset,
                               bytes.size(), bytes.data()) < 0)
      throw Error("the fill values of a dataset cannot be written to the file, at " +
                  std::to_string(offset));
    fill_statistics().written += bytes.size();
  });
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
