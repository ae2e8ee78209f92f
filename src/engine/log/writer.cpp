#include "engine/log/writer.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "engine/checksum.hpp"
#include "engine/threads/ordered.hpp"

namespace headrace::engine::log {
namespace {

constexpr std::size_t kGathered = 1 << 20;
// Segments end at flushes, and where they are so long that a reader had better find a checksum.
constexpr std::uint64_t kLongest = 64 << 20;

// Of bytes that stay where they are until it is finished.
class Summing : public Job {
 public:
  Summing(std::span<const std::byte> bytes, std::uint32_t& sum) : bytes_(bytes), sum_(sum) {}
  void work() override { result_ = checksum(bytes_, sum_); }
  void finish() override { sum_ = result_; }

 private:
  std::span<const std::byte> bytes_;
  std::uint32_t& sum_;
  std::uint32_t result_ = 0;
};

}  // namespace

Writer::Writer(std::unique_ptr<io::File> storage, const std::optional<Belonging>& owner,
               const StagingLimits& limits)
    : file_(std::move(storage), 0, limits), gathered_(kGathered), end_(kHeaderBytes) {
  if (owner) put_segment(SegmentKind::owner, encode(*owner));
}

void Writer::append(std::span<const std::byte> bytes) {
  if (bytes.size() < kGathered / 4) {
    gather(bytes);
    return;
  }
  pass_on();
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min<std::size_t>(bytes.size(), kLongest));
    put_at_once(part);
    bytes = bytes.subspan(part.size());
  }
}

// While a worker sums it up. What could not be written is no part of the segment, whose checksum
// holds for what was added before.
void Writer::put_at_once(std::span<const std::byte> bytes) {
  if (end_ - segment_ >= kLongest) end_segment();
  Ordered summing(1);
  summing.give(std::make_unique<Summing>(bytes, checksum_));
  file_.write_at_once(end_, bytes);
  summing.finish();
  end_ += bytes.size();
}

void Writer::gather(std::span<const std::byte> bytes) {
  if (bytes.size() > kGathered - in_gathered_) pass_on();
  std::memcpy(gathered_.data() + in_gathered_, bytes.data(), bytes.size());
  in_gathered_ += bytes.size();
}

void Writer::pass_on() {
  put(std::span<const std::byte>(gathered_.bytes()).first(in_gathered_));
  in_gathered_ = 0;
}

void Writer::put(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  if (end_ - segment_ >= kLongest) end_segment();
  file_.write(end_, bytes);
  end_ += bytes.size();
  checksum_ = checksum(bytes, checksum_);
}

void Writer::end_segment() {
  const std::uint64_t bytes = end_ - segment_ - kHeaderBytes;
  if (bytes == 0) return;
  write_header(SegmentKind::data, segment_, bytes, checksum_);
  segment_ = end_;
  end_ += kHeaderBytes;
  checksum_ = 0;
}

void Writer::put_segment(SegmentKind kind, std::span<const std::byte> bytes) {
  file_.write(segment_ + kHeaderBytes, bytes);
  write_header(kind, segment_, bytes.size(), checksum(bytes));
  segment_ += kHeaderBytes + bytes.size();
  end_ = segment_ + kHeaderBytes;
}

void Writer::write_header(SegmentKind kind, std::uint64_t at, std::uint64_t bytes,
                          std::uint32_t checksum) {
  const auto header = SegmentHeader{kind, sequence_, bytes, checksum}.encode();
  file_.write(at, header);
  ++sequence_;
}

void Writer::add(std::uint32_t dataset, const Pattern& pattern, std::uint64_t first) {
  index_.add(dataset, pattern, first);
  ++writes_;
}

void Writer::publish(bool sync) {
  pass_on();
  end_segment();
  // Whatever ends us, an index in the file says that the data before it is there.
  if (!index_segment_.empty() || !index_.empty()) drain(sync);
  while (!index_segment_.empty() || !index_.empty()) {
    if (index_segment_.empty()) index_segment_ = index_.take(epoch_);
    put_segment(SegmentKind::index, std::as_bytes(std::span(index_segment_)));
    index_segment_.clear();
  }
  drain(sync);
}

void Writer::flush(bool sync) {
  publish(sync);
  ++epoch_;
}

void Writer::tell_flushed(bool sync) {
  flush(sync);
  index_segment_ = index_.take(epoch_);
  put_segment(SegmentKind::index, std::as_bytes(std::span(index_segment_)));
  index_segment_.clear();
  drain(sync);
}

void Writer::close(bool sync) {
  flush(sync);
  put_segment(SegmentKind::closing, encode_closing(sequence_, segment_));
  drain(sync);
}

void Writer::drain(bool sync) {
  file_.drain();
  if (sync) file_.storage().sync();
}

}  // namespace headrace::engine::log
