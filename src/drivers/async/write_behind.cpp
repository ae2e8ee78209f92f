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
constexpr unsigned kSwmrRead = 0x40;

void tell_statistics(const OpenFile& file) {
  const engine::ReadAheadStatistics ahead =
      file.ahead == nullptr ? file.read_ahead : file.ahead->statistics();
  if (file.staged == nullptr && ahead.bytes == 0) return;
  const engine::StagingStatistics told =
      file.staged == nullptr ? engine::StagingStatistics{} : file.staged->statistics();
  const std::array<std::pair<std::string_view, std::uint64_t>, 11> values{{
      {"writes", told.writes},
      {"written_bytes", told.bytes},
      {"rewritten_in_memory_bytes", told.absorbed},
      {"lent_bytes", told.lent},
      {"not_staged_bytes", told.direct},
      {"writes_behind", told.device_writes},
      {"written_behind_bytes", told.device_bytes},
      {"blocked_ns", told.blocked},
      {"read_ahead_bytes", ahead.bytes},
      {"read_ahead_hit_bytes", ahead.hits},
      {"read_ahead_unused_bytes", ahead.unused},
  }};
  report_statistics(Seat::vfd, "headrace_async", file.name, values);
}

}  // namespace

void begin(OpenFile& file, const char* name, unsigned flags, const Options& options) {
  // Below this, pages would only move from one use to the next.
  constexpr std::uint64_t kLeastBudget = 512U << 10U;
  file.name = name;
  if ((flags & (kSwmrWrite | kSwmrRead)) != 0) return;
  const bool writes = (flags & kReadWrite) != 0;
  const std::uint64_t budget = number_of(kSettings, "budget", options);
  const std::uint64_t ahead = number_of(kSettings, "read_ahead", options);
  if (writes ? budget > 0 && budget < kLeastBudget : ahead == 0) return;
  const H5FD_t* under = file.under;
  const haddr_t size = under->cls->get_eof(under, H5FD_MEM_DEFAULT);
  if (size == HADDR_UNDEF) return;
  const bool direct = writes && is_on(kSettings, "direct", options);
  std::unique_ptr<engine::Device> device = vfd::device_of(file.under, name, direct);
  if (device == nullptr) return;
  engine::set_workers(static_cast<unsigned>(number_of(kSettings, "threads", options)));
  if (writes) {
    engine::configure_staging(
        budget, std::chrono::nanoseconds(number_of(kSettings, "flush_interval", options)));
    file.staged = std::make_unique<engine::StagedFile>(std::move(device), size);
  } else {
    file.device = std::move(device);
  }
  if (ahead == 0) return;
  engine::configure_read_ahead(ahead);
  engine::Device& from = writes ? file.staged->device() : *file.device;
  file.ahead = std::make_unique<engine::ReadAhead>(from, file.staged.get());
}

void end(OpenFile& file) {
  tell_statistics(file);
  file.ahead.reset();
  file.staged.reset();
  file.device.reset();
}

herr_t read(OpenFile& file, Reader below, H5FD_mem_t type, hid_t dxpl, haddr_t address,
            std::span<std::byte> bytes) {
  if (file.ahead == nullptr)
    return below(&file.pub, type, dxpl, address, bytes.size(), bytes.data());
  const std::size_t taken = file.ahead->take(address, bytes);
  const std::size_t left = bytes.size() - taken;
  std::chrono::nanoseconds time{};
  if (left > 0) {
    const auto start = std::chrono::steady_clock::now();
    if (below(&file.pub, type, dxpl, address + taken, left, bytes.data() + taken) < 0) return -1;
    time = std::chrono::steady_clock::now() - start;
  }
  const H5FD_t* under = file.under;
  const haddr_t size =
      file.staged == nullptr ? under->cls->get_eof(under, H5FD_MEM_DEFAULT) : file.staged->end();
  file.ahead->note(address, bytes.size(), left, time, size);
  return 0;
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

void stop(OpenFile& file) {
  if (file.staged != nullptr) drain(file);
  file.synchronous = true;
  if (file.ahead != nullptr) file.read_ahead = file.ahead->statistics();
  file.ahead.reset();
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
  if (file.ahead != nullptr) file.ahead->forget(0, HADDR_MAX);
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
