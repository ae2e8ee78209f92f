#include <unistd.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/report/log.hpp"
#include "hdf5/quiet_errors.hpp"
#include "hdf5/report/summary.hpp"
#include "layers/stripe/driver/striped_file.hpp"
#include "sidecar/striped/stub.hpp"

// What becomes of a set whose program wants to read and write the file's bytes by itself.
namespace headrace::stripe {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20U;  // bytes

bool is_zero(std::byte byte) { return byte == std::byte{0}; }

}  // namespace

void StripedFile::before_addresses_are_told(bool of_whole_dataset) {
  if (!writes_ && of_whole_dataset)
    throw Error("stripe: " + set_.stub +
                " is in pieces and open for reading only, so data have no address in it that a "
                "program could read at by itself: headrace fuse makes one file");
  if (!writes_ || ::getpid() != opener_) return;
  told_addresses_ = true;
  const std::function<void()> become = std::exchange(become_whole_, nullptr);
  if (become == nullptr) return;
  log(Level::warning, "stripe: " + set_.stub +
                          " becomes one file, as the program asks where data lie in it "
                          "(H5Dget_offset and the like)");
  try {
    become();
  } catch (...) {
    become_whole_ = become;
    throw;
  }
}

void note_left_whole(std::string_view why) { ++share_of(kShare).left[why]; }

void StripedFile::become_whole(std::unique_ptr<engine::io::File> stub) {
  if (failed_ != nullptr) std::rethrow_exception(failed_);
  change();
  if (place_ == nullptr)
    copy_to(*stub);
  else
    place_->replace([&] {
      copy_to(*stub);
      return std::move(stub);
    });
  if (counted_) --share_of(kShare).taken;
  note_left_whole("left_for_address");
  if (const auto failed = error_of([&] { sidecar::remove_pieces(set_); }))
    log(Level::warning, "stripe: " + set_.stub + " is one file now, but " + text_of(failed));
}

// As long as any of the text's sectors is there, there is the set: all else is on the disk before.
void StripedFile::copy_to(engine::io::File& stub) {
  const std::uint64_t size = std::max(
      {eof_, eoa_, sidecar::kStubText, set_.layout.whole_size(sidecar::subfile_sizes(set_))});
  stub.resize(sidecar::kStubText);
  // Not by worker threads: one that is to wait for this may be before them in the queue.
  engine::FileOfSubfiles pieces(
      set_.layout, [this](std::uint32_t number) -> engine::io::File& { return subfile(number); });
  std::vector<std::byte> block(kBlock);
  const auto copy = [&](std::uint64_t at, std::uint64_t end) {
    const std::span part = std::span(block).first(std::min<std::uint64_t>(kBlock, end - at));
    pieces.read(at, part);
    const std::span<const std::byte> piece = part;
    if (at == 0 || !std::ranges::all_of(part, is_zero)) stub.write(at, {&piece, 1});
  };
  for (std::uint64_t at = sidecar::kStubText; at < size; at += kBlock) copy(at, size);
  stub.resize(size);
  stub.sync();
  try {
    copy(0, sidecar::kStubText);
    stub.sync();
  } catch (...) {
    sidecar::write_text_of_stub(set_);
    throw;
  }
}

}  // namespace headrace::stripe
