// A model of what a staged file holds, and the fixture of the tests that compare with it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "unit/staging/staging_store.hpp"

namespace headrace::test {

// At most 4 MiB that depend on the seed; quick, for the sanitizers.
inline Bytes pattern(std::size_t size, unsigned seed) {
  static const Bytes whole = noise(5 * kMiB, 1);
  Bytes bytes(size);
  std::memcpy(bytes.data(), whole.data() + seed * 7919ULL % kMiB, size);
  return bytes;
}

struct Plain {  // the model
  Bytes bytes;
  void write(std::uint64_t offset, const Bytes& data) {
    if (bytes.size() < offset + data.size()) bytes.resize(offset + data.size());
    std::memcpy(bytes.data() + offset, data.data(), data.size());
  }
  [[nodiscard]] Bytes read(std::uint64_t offset, std::size_t size) const {
    Bytes result(size);
    if (offset < bytes.size())
      std::memcpy(result.data(), bytes.data() + offset,
                  std::min<std::size_t>(size, bytes.size() - offset));
    return result;
  }
};

class Staging : public testing::Test {
 protected:
  void SetUp() override { limits = {64 * kMiB, 0s}; }
};

// Writes, reads, resizes and drains at random.
void random_program(unsigned seed, std::uint64_t budget, std::chrono::microseconds delay);

}  // namespace headrace::test
