#include "drivers/async/write_behind.hpp"

#include <array>
#include <cstring>
#include <exception>
#include <string_view>

#include "base/error.hpp"
#include "base/events.hpp"
#include "drivers/async/settings.hpp"
#include "engine/thread_pool.hpp"
#include "vfd/device.hpp"

namespace headrace::async {
namespace {

// HDF5's flags; its macros for them call into the library.
constexpr unsigned kReadWrite = 0x01;
constexpr unsigned kSwmrWrite = 0x20;

}  // namespace

void begin_staging(OpenFile& file, const char* name, unsigned flags, const Options& options,
                   vfd::Over over) {
  // Below this, pages would only move from one use to the next.
  constexpr std::uint64_t kLeastBudget = 512U << 10U;
  file.name = name;
  if ((flags & kReadWrite) == 0 || (flags & kSwmrWrite) != 0) return;
  const std::uint64_t budget = number_of(kSettings, "budget", options);
  if (budget > 0 && budget < kLeastBudget) return;
  const H5FD_t* under = file.under;
  const haddr_t size = under->cls->get_eof(under, H5FD_MEM_DEFAULT);
  if (size == HADDR_UNDEF) return;
  std::unique_ptr<engine::Device> device = vfd::device_of(file.under, name, over);
  if (device == nullptr) return;
  engine::set_workers(static_cast<unsigned>(number_of(kSettings, "threads", options)));
  engine::configure_staging(
      budget, std::chrono::nanoseconds(number_of(kSettings, "flush_interval", options)));
  const auto writers = over == vfd::Over::mpio ? engine::Writers::others : engine::Writers::alone;
  file.staged = std::make_unique<engine::StagedFile>(std::move(device), size, writers);
}

bool starts_swmr(const void* buffer, std::size_t size) {
  constexpr std::string_view kSignature = "\211HDF\r\n\032\n";
  constexpr std::size_t kVersion = 8;
  constexpr std::size_t kFlags = 11;  // "file consistency flags" of a superblock of version 3
  constexpr unsigned kSwmr = 0x04;
  const auto* bytes = static_cast<const unsigned char*>(buffer);
  return size > kFlags && std::memcmp(bytes, kSignature.data(), kSignature.size()) == 0 &&
         bytes[kVersion] >= 3 && (bytes[kFlags] & kSwmr) != 0;
}

void drain(OpenFile& file) {
  try {
    file.staged->drain();
  } catch (const Error&) {
    const std::string left = std::to_string(file.staged->staged_bytes());
    std::throw_with_nested(Error("a write behind to file " + file.name + " failed; " + left +
                                 " bytes written before are not in the file yet"));
  }
}

void stop_staging(OpenFile& file) {
  drain(file);
  file.synchronous = true;
}

void tell_statistics(const OpenFile& file) {
  const engine::StagingStatistics told = file.staged->statistics();
  const std::array<std::pair<std::string_view, std::uint64_t>, 8> values{{
      {"writes", told.writes},
      {"written_bytes", told.bytes},
      {"rewritten_in_memory_bytes", told.absorbed},
      {"lent_bytes", told.lent},
      {"not_staged_bytes", told.direct},
      {"writes_behind", told.device_writes},
      {"written_behind_bytes", told.device_bytes},
      {"blocked_ns", told.blocked},
  }};
  report_statistics(Seat::vfd, "headrace_async", file.name, values);
}

herr_t truncate(OpenFile& file, herr_t (*below)(H5FD_t*, hid_t, bool), hid_t dxpl, bool closing) {
  engine::StagedFile& staged = *file.staged;
  std::exception_ptr failed;
  try {
    drain(file);
  } catch (const Error&) {
    failed = std::current_exception();  // the file gets its size all the same, as natively
  }
  H5FD_t* under = file.under;
  const haddr_t end = under->cls->get_eoa(under, H5FD_MEM_DEFAULT);
  // sec2 leaves a file alone that has, as far as it knows, the right size.
  const bool resizes = under->cls->get_eof(under, H5FD_MEM_DEFAULT) != end;
  const herr_t result = below(&file.pub, dxpl, closing);
  if (result >= 0) {
    if (!resizes && staged.end() != end) staged.device().resize(end);
    staged.set_end(end);
  }
  if (failed != nullptr) std::rethrow_exception(failed);
  return result;
}

}  // namespace headrace::async
