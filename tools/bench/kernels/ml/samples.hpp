// The file of a training run: images and their labels, in two datasets.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "run.hpp"

namespace headrace::bench::ml {

inline constexpr hsize_t kSide = 224;
inline constexpr hsize_t kColours = 3;
inline constexpr hsize_t kImageBytes = kSide * kSide * kColours;
inline constexpr hsize_t kSampleBytes = kImageBytes + sizeof(std::int32_t);

enum class Storage { contiguous, chunked, gzip };

// Images and labels of some samples, in memory.
class SampleBuffer {
 public:
  explicit SampleBuffer(std::size_t samples) : images(samples * kImageBytes), labels(samples) {}
  // `place` is where in the buffer, `sample` which it is.
  void fill(std::size_t place, std::uint64_t sample, Texture texture);
  void verify(std::size_t place, std::uint64_t sample, Texture texture) const;

  std::vector<std::uint8_t> images;
  std::vector<std::int32_t> labels;
};

// The two datasets, open.
class Samples {
 public:
  // Collective. `samples` is how many there are.
  static Samples create(hid_t file, std::uint64_t samples, Storage storage);
  // Throws Error unless they are as create() has made them.
  static Samples open(hid_t file, std::uint64_t samples, Storage storage);
  void close();

  // `count` samples from `first` on; none is fine.
  void write(Run& run, std::uint64_t first, std::size_t count, const SampleBuffer& buffer,
             const Handle& dxpl) const;
  // One sample, to the place in the buffer.
  void read_one(std::uint64_t sample, std::size_t place, SampleBuffer& buffer,
                const Handle& dxpl) const;
  // Samples in ascending order by one call per dataset, to the beginning of the buffer.
  void read_union(std::span<const std::uint64_t> samples, SampleBuffer& buffer,
                  const Handle& dxpl) const;

 private:
  std::uint64_t count_ = 0;
  Handle images_;
  Handle labels_;
};

}  // namespace headrace::bench::ml
