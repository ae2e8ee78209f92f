#include "vol/dataset/transfer_list.hpp"

#include <algorithm>
#include <cstddef>

namespace headrace::vol {
namespace {

// HDF5's values, which headers of serial builds do not have: H5D_mpio_actual_io_mode_t,
constexpr int kChunkCollective = 2;
constexpr int kContiguousCollective = 4;
// H5D_mpio_actual_chunk_opt_mode_t,
constexpr int kLinkChunk = 1;
// H5D_mpio_no_collective_cause_t,
constexpr std::uint32_t kSetIndependent = 0x1;
constexpr std::uint32_t kConversion = 0x2;
constexpr std::uint32_t kNoSelectionIo = 0x100;
// H5D_selection_io_mode_t, the causes for none and what was done instead.
constexpr int kSelectionOff = 1;
constexpr std::uint32_t kDisabled = 0x1;
constexpr std::uint32_t kNoCallback = 0x8;
constexpr std::uint32_t kFilter = 0x20;
constexpr std::uint32_t kSmallBuffer = 0x80;
constexpr std::uint32_t kScalar = 0x1;
constexpr std::uint32_t kVector = 0x2;
constexpr std::uint32_t kSelection = 0x4;

struct Outcome {
  int io = 0;      // H5D_MPIO_NO_COLLECTIVE
  int chunks = 0;  // H5D_MPIO_NO_CHUNK_OPTIMIZATION
  std::uint32_t cause = 0;
  std::uint32_t selection = 0;
  std::uint32_t no_selection = 0;
};

template <typename T>
T value_of(hid_t dxpl, const char* name, T otherwise) {
  T value = otherwise;
  return h5.Pget(dxpl, name, &value) >= 0 ? value : otherwise;
}

void tell_collective(hid_t dxpl, const Outcome& told) {
  h5.Pset(dxpl, "actual_io_mode", &told.io);
  h5.Pset(dxpl, "actual_chunk_opt_mode", &told.chunks);
  h5.Pset(dxpl, "local_no_collective_cause", &told.cause);
  h5.Pset(dxpl, "global_no_collective_cause", &told.cause);
}

bool any(std::span<const Written> datasets, bool Written::* is) {
  return std::ranges::any_of(datasets, is);
}

// Bytes that HDF5 converts in memory of its own.
std::uint64_t converted_bytes(hid_t dxpl, std::span<const Written> datasets) {
  const bool may_modify = value_of(dxpl, "modify_write_buf", false);
  std::uint64_t bytes = 0;
  for (const Written& one : datasets) {
    const bool in_place = may_modify && one.one_run && one.in_memory >= one.in_file;
    if (one.converts && !in_place) bytes += one.elements * std::max(one.in_memory, one.in_file);
  }
  return bytes;
}

std::uint32_t cause_for_no_selection(hid_t dxpl, std::span<const Written> datasets) {
  constexpr std::size_t kDefaultBuffer = 1 << 20;
  if (value_of(dxpl, "selection_io_mode", 0) == kSelectionOff) return kDisabled;
  if (any(datasets, &Written::filtered)) return kFilter;
  const bool fits =
      converted_bytes(dxpl, datasets) <= value_of(dxpl, "max_temp_buf", kDefaultBuffer);
  return fits ? 0 : kSmallBuffer;
}

// Where nothing keeps ranks from writing together.
void collective_write(Outcome& told, std::span<const Written> datasets, bool some) {
  const bool selects = told.no_selection == 0;
  const bool filtered = any(datasets, &Written::filtered);
  const bool plain = !std::ranges::all_of(datasets, &Written::filtered);
  // Without selection I/O filtered datasets come first, and their mode is overwritten.
  for (const Written& one : datasets)
    if (!one.filtered || !plain) told.io |= one.chunked ? kChunkCollective : kContiguousCollective;
  if (selects || datasets.size() > 1 || any(datasets, &Written::chunked)) told.chunks = kLinkChunk;
  if (selects)
    told.selection = kSelection;
  else
    told.selection = (plain ? kScalar : 0) | (filtered && some ? kVector : 0);
}

Outcome told_of(hid_t dxpl, std::span<const Written> datasets) {
  Outcome told;
  told.no_selection = cause_for_no_selection(dxpl, datasets);
  const bool selects = told.no_selection == 0;
  const bool together = collective(dxpl);
  const bool some = std::ranges::any_of(datasets, [](auto& one) { return one.elements > 0; });
  if (!together) told.cause = kSetIndependent;
  if (!selects && any(datasets, &Written::converts))
    told.cause |= kConversion | (together ? kNoSelectionIo : 0);
  if (told.cause == 0) {
    collective_write(told, datasets, some);
  } else if (selects) {
    // HDF5's own driver takes selections, and writes each piece of them by itself.
    told.selection = kSelection | (some ? kScalar : 0);
    told.no_selection = some ? kNoCallback : 0;
  } else {
    told.selection = some ? kScalar : 0;
  }
  return told;
}

}  // namespace

bool is_default(hid_t dxpl) { return dxpl == kDefaultPlist || dxpl == h5.transfer_list.get(); }

bool collective(hid_t dxpl) {
  int mode = 0;  // H5FD_MPIO_INDEPENDENT
  return !is_default(dxpl) && h5.Pget(dxpl, "io_xfer_mode", &mode) >= 0 && mode == 1;
}

void tell_independent(hid_t dxpl) {
  if (!is_default(dxpl)) tell_collective(dxpl, {.cause = kSetIndependent});
}

void tell_written(hid_t dxpl, std::span<const Written> datasets) {
  if (is_default(dxpl)) return;
  const Outcome told = told_of(dxpl, datasets);
  tell_collective(dxpl, told);
  h5.Pset(dxpl, "no_selection_io_cause", &told.no_selection);
  h5.Pset(dxpl, "actual_selection_io_mode", &told.selection);
}

}  // namespace headrace::vol
