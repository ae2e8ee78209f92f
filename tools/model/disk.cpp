#include "disk.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include "base/error.hpp"

namespace headrace::model {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// A file that has no name as soon as it is open, so that nothing is left behind.
class Scratch {
 public:
  Scratch(const std::string& directory, Cache cache)
      : name_(directory + "/headrace-model-XXXXXX"), cache_(cache) {
    fd_ = ::mkostemp(name_.data(), O_CLOEXEC);
    if (fd_ < 0) throw Error(directory + ": " + std::strerror(errno), errno);
    ::unlink(name_.c_str());
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { ::close(fd_); }

  // Both return the seconds that the request took.
  double write(const std::byte* bytes, std::uint64_t size, std::uint64_t offset) {
    const auto begin = Clock::now();
    transfer(size, [&](std::uint64_t done) {
      return ::pwrite(fd_, bytes + done, size - done, static_cast<off_t>(offset + done));
    });
    if (cache_ == Cache::sync && ::fdatasync(fd_) != 0) fail();
    return since(begin);
  }
  double read(std::byte* bytes, std::uint64_t size, std::uint64_t offset) {
    if (cache_ == Cache::sync) drop();
    const auto begin = Clock::now();
    transfer(size, [&](std::uint64_t done) {
      return ::pread(fd_, bytes + done, size - done, static_cast<off_t>(offset + done));
    });
    return since(begin);
  }
  double sync() {
    const auto begin = Clock::now();
    if (::fsync(fd_) != 0) fail();
    return since(begin);
  }
  // Nothing of the file stays in memory.
  void drop() {
    if (::fdatasync(fd_) != 0) fail();
    ::posix_fadvise(fd_, 0, 0, POSIX_FADV_DONTNEED);
    ::posix_fadvise(fd_, 0, 0, POSIX_FADV_RANDOM);  // or the kernel reads more than it is asked
  }

 private:
  [[noreturn]] void fail() const { throw Error(name_ + ": " + std::strerror(errno), errno); }
  template <typename Part>
  void transfer(std::uint64_t size, Part part) {
    for (std::uint64_t done = 0; done < size;) {
      const ssize_t moved = part(done);
      if (moved < 0 && errno == EINTR) continue;
      if (moved < 0) fail();
      if (moved == 0) return;  // past the end, where HDF5 takes what is missing for zeros
      done += static_cast<std::uint64_t>(moved);
    }
  }

  std::string name_;
  Cache cache_;
  int fd_;
};

// Of some runs the one that the machine's other work disturbed least.
double fastest(const std::vector<double>& runs) { return *std::ranges::min_element(runs); }

// Not the median: what is rare and slow (a new page, a full journal) is part of a program's time.
double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Which 4 KiB blocks of a file hold something.
class Written {
 public:
  void add(std::uint64_t offset, std::uint64_t length) {
    for (std::uint64_t block = offset / kBlock; block * kBlock < offset + length; ++block)
      at(block) = true;
  }
  bool has(std::uint64_t offset, std::uint64_t length) {
    for (std::uint64_t block = offset / kBlock; block * kBlock < offset + length; ++block)
      if (!at(block)) return false;
    return true;
  }

 private:
  static constexpr std::uint64_t kBlock = 4096;
  std::vector<bool>::reference at(std::uint64_t block) {
    if (block >= blocks_.size()) blocks_.resize(block + block / 2 + 1024);
    return blocks_[block];
  }
  std::vector<bool> blocks_;
};

constexpr std::uint64_t kLargestFile = 1ULL << 40U;

}  // namespace

Parameters Disk::parameters() const {
  Parameters parameters;
  parameters.stripe_size = 1ULL << 62U;  // one server holds it all
  parameters.latency = write.latency;
  parameters.bandwidth = write.bandwidth;
  parameters.read_latency = read.latency;
  parameters.read_bandwidth = read.bandwidth;
  return parameters;
}

Disk measure(const std::string& directory, Cache cache) {
  constexpr std::array<double, 7> kSizes{512, 4096, 32768, 131072, 524288, 1 << 20, 4 << 20};
  constexpr double kTotal = 64 << 20;  // bytes for each size, at most
  constexpr std::size_t kRounds = 5;
  const double most = cache == Cache::cached ? 2000 : 40;
  std::array<std::vector<double>, kSizes.size()> writes;
  std::array<std::vector<double>, kSizes.size()> reads;
  std::vector<double> syncs;
  std::vector<std::byte> data(4 << 20, std::byte{0x5a});
  for (std::size_t round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < kSizes.size(); ++i) {
      // A fresh file: programs mostly write what was not there.
      Scratch file(directory, cache);
      const auto bytes = static_cast<std::uint64_t>(kSizes.at(i));
      std::vector<double> times(static_cast<std::size_t>(std::min(most, kTotal / kSizes.at(i))));
      for (std::size_t k = 0; k < times.size(); ++k)
        times[k] = file.write(data.data(), bytes, k * bytes);
      writes.at(i).push_back(mean(times));
      for (std::size_t k = 0; k < times.size(); ++k)
        times[k] = file.read(data.data(), bytes, k * bytes);
      reads.at(i).push_back(mean(times));
    }
    Scratch file(directory, Cache::cached);
    file.write(data.data(), 1 << 20, 0);
    syncs.push_back(file.sync());
  }
  std::array<double, kSizes.size()> write{};
  std::array<double, kSizes.size()> read{};
  std::ranges::transform(writes, write.begin(), fastest);
  std::ranges::transform(reads, read.begin(), fastest);
  return {fit(kSizes, write), fit(kSizes, read), fastest(syncs)};
}

double play(const Ledger& ledger, const std::string& directory, Cache cache) {
  std::uint64_t longest = 0;
  for (const Record& record : ledger.records) {
    longest = std::max(longest, record.length);
    if (record.kind <= Kind::write && record.offset + record.length > kLargestFile)
      throw Error("the ledger of " + ledger.header.file +
                  " reaches beyond 1 TiB; that is not replayed on a disk");
  }
  std::vector<std::byte> data(longest, std::byte{0x5a});
  Scratch file(directory, cache);
  Written written;
  std::vector<const Record*> missing;
  for (const Record& record : ledger.records) {
    if (record.kind == Kind::read && !written.has(record.offset, record.length))
      missing.push_back(&record);
    if (record.kind <= Kind::write) written.add(record.offset, record.length);
  }
  for (const Record* record : missing) file.write(data.data(), record->length, record->offset);
  double seconds = 0;
  for (const Record& record : ledger.records) {
    if (record.kind > Kind::write || record.length == 0) continue;
    seconds += record.kind == Kind::read ? file.read(data.data(), record.length, record.offset)
                                         : file.write(data.data(), record.length, record.offset);
  }
  return seconds;
}

}  // namespace headrace::model
