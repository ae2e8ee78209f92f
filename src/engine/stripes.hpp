// A file that is dealt out to several: stripe s of it is stripe s / count of subfile s % count, as
// HDF5's subfiling has it. No HDF5.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/io/file.hpp"

namespace headrace::engine {

struct StripeLayout {
  std::uint64_t stripe = 0;  // in bytes
  std::uint32_t count = 0;   // of subfiles

  // The size of the file, by those of its subfiles in order; in bytes.
  [[nodiscard]] std::uint64_t whole_size(std::span<const std::uint64_t> sizes) const;
  // What a subfile has of a file of that size: the inverse of whole_size().
  [[nodiscard]] std::uint64_t subfile_size(std::uint32_t number, std::uint64_t whole) const;
};

// One file whose bytes lie in its subfiles. Threads and errors are those of the subfiles; what has
// failed in one subfile is tried in the others all the same, and the first error is thrown.
// `on_workers`: large transfers are made in several subfiles at a time, by worker threads.
class FileOfSubfiles final : public io::File {
 public:
  // Returns a subfile, by number from 0 on; may throw. Called by the thread that makes
  // the transfer.
  using Subfiles = std::function<io::File&(std::uint32_t number)>;
  FileOfSubfiles(StripeLayout layout, Subfiles subfiles, bool on_workers = false)
      : layout_(layout), subfiles_(std::move(subfiles)), on_workers_(on_workers) {}

  void write(std::uint64_t offset, std::span<const std::span<const std::byte>> pieces) override;
  void read(std::uint64_t offset, std::span<std::byte> bytes) override;
  void read_pieces(std::uint64_t offset, std::span<const std::span<std::byte>> pieces) override;
  void sync() override;
  void resize(std::uint64_t size) override;

 private:
  template <typename Action>
  void each_subfile(const Action& action);
  // `turns` subfiles from that of stripe `first` on, of a transfer of so many bytes.
  template <typename Action>
  void each_turn(std::uint64_t first, std::size_t turns, std::uint64_t bytes, const Action& action);

  StripeLayout layout_;
  Subfiles subfiles_;
  bool on_workers_;
};

}  // namespace headrace::engine
