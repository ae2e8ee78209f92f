// Decoded chunks of a dataset that were read last, as they are stored, for reading them again. All
// datasets of a process together keep a limited number of bytes: of whichever dataset it is, the
// chunk that was used longest ago is dropped first. One thread at a time for one object. A child
// after fork() begins with none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "engine/buffer.hpp"
#include "store/store.hpp"

namespace headrace::objects {

// A chunk as it is stored. Its elements begin at an offset in the buffer.
struct DecodedChunk {
  std::shared_ptr<const engine::Buffer> buffer;
  std::size_t offset = 0;
  store::Version version = store::kAbsent;
  std::uint64_t epoch = 0;

  [[nodiscard]] const std::byte* data() const { return buffer->data() + offset; }
  [[nodiscard]] store::Bytes bytes() const { return buffer->bytes().subspan(offset); }
  explicit operator bool() const { return buffer != nullptr; }
};

class DecodedChunks {
 public:
  DecodedChunks() = default;
  DecodedChunks(const DecodedChunks&) = delete;
  DecodedChunks& operator=(const DecodedChunks&) = delete;
  ~DecodedChunks();

  // Bytes of all objects of the process, at most.
  static std::size_t most_bytes();

  [[nodiscard]] bool has(const std::string& key);
  // Nothing where no chunk is kept under that key, or one of another version.
  DecodedChunk find(const std::string& key, store::Version version);
  void keep(const std::string& key, DecodedChunk chunk);
  void clear();

 private:
  struct Kept {
    DecodedChunks* of;
    std::string key;
    DecodedChunk chunk;
  };
  using List = std::list<Kept>;
  class Dropped;
  struct All;
  using Places = std::map<std::string, List::iterator, std::less<>>;
  All& own();
  static void drop(All& all, List::iterator place);

  All* of_ = nullptr;  // that chunks are in; null until one was looked for
  std::list<Places>::iterator places_;
};

}  // namespace headrace::objects
