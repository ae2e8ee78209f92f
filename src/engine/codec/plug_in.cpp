#include "engine/codec/plug_in.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "base/error.hpp"

namespace headrace::engine {
namespace {

constexpr unsigned kReverse = 0x0100;  // H5Z_FLAG_REVERSE

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

struct Result {
  std::unique_ptr<void, Free> memory;
  std::size_t size;  // 0 when the filter fails
};

// What it is given is the filter's to free, so it is malloc's, as it is HDF5's.
Result run(PlugInCopies& copies, unsigned flags, std::span<const unsigned> parameters,
           std::span<const std::byte> from) {
  std::unique_ptr<void, Free> given(std::malloc(from.size()));
  if (given == nullptr) throw std::bad_alloc();
  std::memcpy(given.get(), from.data(), from.size());
  std::size_t room = from.size();
  const FilterFunction filter = copies.take();
  void* memory = given.release();
  const std::size_t size =
      filter(flags, parameters.size(), parameters.data(), from.size(), &room, &memory);
  copies.give_back(filter);
  return {std::unique_ptr<void, Free>(memory), size};
}

}  // namespace

PlugInCopies::PlugInCopies(std::function<FilterFunction()> load, unsigned most)
    : load_(std::move(load)), left_(most) {
  free_.reserve(most);
  give_back(take());
}

FilterFunction PlugInCopies::take() {
  std::unique_lock lock(mutex_);
  while (free_.empty()) {
    if (left_ == 0) {
      given_back_.wait(lock);
      continue;
    }
    if (const FilterFunction copy = load_()) {
      --left_;
      any_ = true;
      return copy;
    }
    if (!any_) throw Error("no copy of the filter's plug-in can be loaded");
    left_ = 0;
  }
  const FilterFunction copy = free_.back();
  free_.pop_back();
  return copy;
}

void PlugInCopies::give_back(FilterFunction copy) {
  {
    const std::lock_guard lock(mutex_);
    free_.push_back(copy);
  }
  given_back_.notify_one();
}

Buffer PlugInFilter::encode(std::span<const std::byte> from) const {
  const Result result = run(copies_, 0, parameters_, from);
  // Of the chunk's own size it would be mistaken for a chunk that the filter was left out of.
  if (result.size == 0 || result.size == from.size()) return {};
  Buffer encoded(result.size);
  std::memcpy(encoded.data(), result.memory.get(), encoded.size());
  return encoded;
}

void PlugInFilter::decode(std::span<const std::byte> from, std::span<std::byte> to) const {
  const Result result = run(copies_, kReverse, parameters_, from);
  if (result.size != to.size()) throw Error("the filter's plug-in does not decode the chunk");
  std::memcpy(to.data(), result.memory.get(), to.size());
}

}  // namespace headrace::engine
