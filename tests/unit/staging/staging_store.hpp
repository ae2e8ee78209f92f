// A file in memory that misbehaves as a test wants it, and a staged file over it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "engine/staging/dirty.hpp"
#include "engine/staging/staged_file.hpp"
#include "support/waiting.hpp"

namespace headrace::test {

using namespace std::chrono_literals;
using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kMiB = 1U << 20U;
constexpr std::uint64_t kPage = engine::staging::kPageBytes;

inline Bytes noise(std::size_t size, unsigned seed) {
  Bytes bytes(size);
  std::mt19937_64 random(seed);
  for (std::size_t at = 0; at < size; at += 8) {
    const std::uint64_t some = random();
    std::memcpy(bytes.data() + at, &some, std::min<std::size_t>(8, size - at));
  }
  return bytes;
}

// Quicker than comparing byte by byte, for the sanitizers.
inline bool same(const Bytes& a, const Bytes& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

// What the files of a test share: the file, and how it misbehaves.
struct Store {
  std::mutex mutex;
  Bytes bytes;
  std::chrono::microseconds delay{};  // so that requests meet others; nothing waits for its end
  std::atomic<int> begun{0};
  std::atomic<int> writes{0};
  std::atomic<int> reads{0};
  std::atomic<int> fail_from{-1};  // the number of the first write that fails; -1: none
  std::atomic<int> fail_count{1 << 30};
  Gate gate;  // of writes that have begun
  std::set<std::pair<std::uint64_t, std::uint64_t>> busy;
  std::atomic<bool> overlapped{false};

  void write(std::uint64_t offset, std::span<const std::span<const std::byte>> pieces) {
    std::uint64_t size = 0;
    for (const auto piece : pieces) size += piece.size();
    ++begun;
    gate.pass();
    {
      const std::lock_guard lock(mutex);
      for (const auto& [begin, end] : busy)
        if (begin < offset + size && end > offset) overlapped = true;
      busy.emplace(offset, offset + size);
    }
    if (delay.count() > 0) std::this_thread::sleep_for(delay);
    const std::lock_guard lock(mutex);
    busy.erase({offset, offset + size});
    const int number = writes++;
    if (fail_from >= 0 && number >= fail_from && number < fail_from + fail_count)
      throw Error("write of file f at offset " + std::to_string(offset) + " failed", ENOSPC);
    if (bytes.size() < offset + size) bytes.resize(offset + size);
    for (const auto piece : pieces) {
      std::memcpy(bytes.data() + offset, piece.data(), piece.size());
      offset += piece.size();
    }
  }

  void read(std::uint64_t offset, std::span<std::byte> into) {
    ++reads;
    if (delay.count() > 0) std::this_thread::sleep_for(delay / 2);
    const std::lock_guard lock(mutex);
    std::memset(into.data(), 0, into.size());
    if (offset < bytes.size())
      std::memcpy(into.data(), bytes.data() + offset,
                  std::min<std::size_t>(into.size(), bytes.size() - offset));
  }
};

struct FakeFile final : engine::io::File {
  explicit FakeFile(Store& file) : store(file) {}
  void write(std::uint64_t offset, std::span<const std::span<const std::byte>> pieces) override {
    store.write(offset, pieces);
  }
  void read(std::uint64_t offset, std::span<std::byte> bytes) override {
    store.read(offset, bytes);
  }
  void sync() override {}
  void resize(std::uint64_t size) override {
    const std::lock_guard lock(store.mutex);
    store.bytes.resize(size);
  }
  Store& store;
};

inline thread_local engine::StagingLimits limits;  // of files made from now on

struct Staged {
  explicit Staged(Store& file)
      : store(file), staged(std::make_unique<FakeFile>(file), file.bytes.size(), limits) {}
  void write(std::uint64_t offset, const Bytes& bytes) { staged.write(offset, bytes); }
  Bytes read(std::uint64_t offset, std::size_t size) {
    Bytes bytes(size, std::byte{0xee});
    const engine::StagedView view(staged, offset, size);
    if (view.beyond())
      std::memset(bytes.data(), 0, bytes.size());
    else
      for (const auto& [begin, missing] : view.missing())
        store.read(begin, std::span(bytes).subspan(begin - offset, missing));
    view.apply(bytes);
    return bytes;
  }
  void resize(std::uint64_t size) {
    staged.drain();
    staged.storage().resize(size);
    staged.set_end(size);
  }
  Store& store;
  engine::StagedFile staged;
};

}  // namespace headrace::test
