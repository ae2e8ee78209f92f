#include "layers/model/driver/queues.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>

#include "base/error.hpp"
#include "base/report/log.hpp"

namespace headrace::model {
namespace {

constexpr std::uint64_t kMark = 0x3153455545555148;  // "HQUEUES1"
constexpr std::int64_t kSecond = 1'000'000'000;
// No queue is that long: a later time is from before the machine was started anew.
constexpr std::int64_t kLongest = 600 * kSecond;

std::int64_t nanoseconds(double seconds) { return static_cast<std::int64_t>(seconds * 1e9); }

// Adds `service` to a queue; returns its end.
std::int64_t append(std::atomic<std::int64_t>& queue, std::int64_t arrival, std::int64_t service) {
  std::int64_t seen = queue.load();
  while (true) {
    const std::int64_t begin = seen > arrival + kLongest ? arrival : std::max(seen, arrival);
    if (queue.compare_exchange_weak(seen, begin + service)) return begin + service;
  }
}

}  // namespace

std::int64_t clock_now() {
  std::timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

Queues::Memory* Queues::map(const std::string& shared) {
  const int fd = ::open(shared.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) throw Error(std::strerror(errno), errno);
  const std::unique_ptr<const int, void (*)(const int*)> closer(
      &fd, [](const int* it) { ::close(*it); });
  struct stat status{};
  if (::fstat(fd, &status) != 0) throw Error(std::strerror(errno), errno);
  constexpr auto kSize = static_cast<off_t>(sizeof(Memory));
  if (status.st_size != 0 && status.st_size != kSize) throw Error("it is some other file");
  // posix_fallocate, so that a full disk is told here and not by a signal later.
  if (const int error = ::posix_fallocate(fd, 0, kSize); error != 0)
    throw Error(std::strerror(error), error);
  void* at = ::mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) throw Error(std::strerror(errno), errno);
  auto* memory = static_cast<Memory*>(at);
  std::uint64_t mark = 0;
  if (!memory->mark.compare_exchange_strong(mark, kMark) && mark != kMark) {
    ::munmap(at, sizeof(Memory));
    throw Error("it is some other file");
  }
  return memory;
}

// Leaked on purpose: files may be closed while the process exits.
Queues& Queues::of(const std::string& shared) {
  static std::mutex mutex;
  static auto* const all = new std::map<std::string, std::unique_ptr<Queues>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<Queues>& queues = (*all)[shared];
  if (queues != nullptr) return *queues;
  Memory* memory = nullptr;
  if (!shared.empty()) try {
      memory = map(shared);
    } catch (const Error& error) {
      log(Level::warning, "model: the shared queues " + shared + " cannot be used (" +
                              error.what() + "); this process has servers of its own");
    }
  if (memory == nullptr) memory = new Memory{};
  queues.reset(new Queues(memory));
  return *queues;
}

bool Queues::take(Kind kind, const Piece& piece) {
  std::uint64_t hash = (piece.stripe + piece.file * 0x9e3779b97f4a7c15U) * 0xbf58476d1ce4e5b9U;
  hash ^= hash >> 29U;
  const std::uint64_t stripe = hash & 0xffffffff00000000U;
  const bool write = kind != Kind::read;
  const auto self = static_cast<std::uint64_t>(::getpid()) & 0x7fffffffU;
  constexpr std::uint64_t kWritten = 0x80000000U;
  std::atomic<std::uint64_t>& place = memory_->locks.at(hash % kLocks);
  std::uint64_t seen = place.load();
  while (true) {
    const bool same = seen != 0 && (seen & 0xffffffff00000000U) == stripe;
    const bool other = same && (seen & 0x7fffffffU) != self;
    const bool written = same && (seen & kWritten) != 0;
    const bool revoked = other && (write || written);
    const std::uint64_t mark = write || (written && !other) ? kWritten : 0;
    if (place.compare_exchange_weak(seen, stripe | mark | self)) return revoked;
  }
}

std::int64_t Queues::reserve(const Parameters& parameters, Kind kind, std::uint64_t file,
                             std::uint64_t offset, std::uint64_t length, std::int64_t now) {
  std::int64_t done = now;
  while (length > 0) {
    const Piece piece = first_piece(parameters, file, offset, length);
    const std::int64_t sent = append(link_, now, nanoseconds(parameters.sending(piece.bytes)));
    double service = parameters.service(kind, piece.bytes);
    if (parameters.revocation > 0 && take(kind, piece)) service += parameters.revocation;
    auto& queue = memory_->free.at(parameters.server_of(file, piece.stripe));
    const std::int64_t arrival = sent - nanoseconds(parameters.sending(piece.bytes));
    done = std::max({done, sent, append(queue, arrival, nanoseconds(service))});
    offset += piece.bytes;
    length -= piece.bytes;
  }
  return done;
}

}  // namespace headrace::model
