#include "objects/pending_chunks.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "engine/threads/ordered.hpp"
#include "engine/threads/thread_pool.hpp"
#include "objects/format/stored_chunk.hpp"
#include "objects/keys.hpp"

namespace headrace::objects {
namespace {

// The blob of a key; of version kAbsent where there is none.
store::BlobInfo whole_blob(store::Store& store, const std::string& key,
                           std::vector<std::byte>& bytes) {
  while (true) {
    const auto info = store.get(key, 0, bytes);
    if (!info) return {};
    if (info->size <= bytes.size()) {
      bytes.resize(info->size);
      return *info;
    }
    bytes.resize(info->size);
  }
}

}  // namespace

// Stores a chunk on a worker.
class PendingChunks::Job final : public engine::Job {
 public:
  Job(PendingChunks& chunks, Chunks::const_iterator chunk)
      : chunks_(chunks), key_(chunk->first), pending_(chunk->second) {}
  void work() override { chunks_.store_one(key_, pending_); }
  void finish() override { chunks_.forget(std::string(key_)); }

 private:
  PendingChunks& chunks_;
  const std::string& key_;
  const Pending& pending_;
};

PendingChunks::PendingChunks(store::Store& store, const Codec& codec, ChunksOf dataset)
    : store_(store), codec_(codec), of_(std::move(dataset)) {}

std::string PendingChunks::key_of(const Coordinates& at) const {
  std::string key = of_.prefix;
  for (unsigned d = 0; d < of_.rank; ++d) key += in_order(at[d]);
  return key;
}

// As it is stored, or filled.
store::Version PendingChunks::load(const std::string& key, std::span<std::byte> chunk) const {
  constexpr std::size_t kHead = 32;  // more than a chunk has in front
  std::vector<std::byte> bytes(chunk.size() + kHead);
  const store::BlobInfo info = whole_blob(store_, key, bytes);
  if (info.version == store::kAbsent) {
    engine::fill_all(of_.fill, chunk);
    return store::kAbsent;
  }
  const StoredChunk stored = decode_chunk(bytes);
  codec_.decode(stored.left_out, stored.bytes, chunk);
  return info.version;
}

void PendingChunks::overlay(const Pending& pending, std::span<std::byte> chunk) const {
  if (pending.written.empty()) {
    std::ranges::copy(pending.chunk.bytes(), chunk.begin());
    return;
  }
  const std::size_t all = elements();
  for (std::size_t first = 0; first < all;) {
    const bool is_written = pending.written[first] != std::byte{0};
    std::size_t end = first + 1;
    while (end < all && (pending.written[end] != std::byte{0}) == is_written) ++end;
    if (is_written)
      std::memcpy(chunk.data() + first * of_.element, pending.chunk.data() + first * of_.element,
                  (end - first) * of_.element);
    first = end;
  }
}

void PendingChunks::read(const Coordinates& at, std::span<std::byte> chunk) const {
  const std::string key = key_of(at);
  const auto found = pending_.find(key);
  if (found == pending_.end() || !found->second.written.empty()) load(key, chunk);
  if (found != pending_.end()) overlay(found->second, chunk);
}

void PendingChunks::write(const Coordinates& at, engine::Buffer chunk) {
  const std::string key = key_of(at);
  forget(key);
  size_ += chunk.size();
  pending_.emplace(key, Pending{std::move(chunk), {}});
}

void PendingChunks::write_part(const Coordinates& at, const Put& put) {
  const auto [found, is_new] = pending_.try_emplace(key_of(at));
  Pending& pending = found->second;
  if (is_new) {
    pending.chunk = engine::Buffer(of_.chunk_bytes);
    pending.written.resize(elements());
    size_ += of_.chunk_bytes + elements();
  }
  put(pending.chunk.data(), pending.written.empty() ? nullptr : pending.written.data());
  if (std::ranges::find(pending.written, std::byte{0}) != pending.written.end()) return;
  size_ -= pending.written.size();
  pending.written = {};
}

void PendingChunks::store_one(const std::string& key, const Pending& pending) const {
  engine::Buffer merged;
  while (true) {
    std::span<const std::byte> chunk = pending.chunk.bytes();
    std::optional<store::Version> expected;
    if (!pending.written.empty()) {
      merged = engine::Buffer(of_.chunk_bytes);
      expected = load(key, merged.bytes());
      overlay(pending, merged.bytes());
      chunk = merged.bytes();
    }
    StoredChunk stored{of_.epoch, 0, chunk};
    const engine::Buffer encoded = codec_.encode(chunk, stored.left_out);
    if (encoded.size() > 0) stored.bytes = encoded.bytes();
    const std::string head = encode_head(stored);
    engine::Buffer blob(head.size() + stored.bytes.size());
    std::ranges::copy(store::bytes_of(head), blob.data());
    std::ranges::copy(stored.bytes, blob.data() + head.size());
    const store::Change change{key, blob.bytes(), expected};
    if (store_.put({&change, 1}).front() != store::kAbsent) return;
  }
}

void PendingChunks::forget(const std::string& key) {
  const auto found = pending_.find(key);
  if (found == pending_.end()) return;
  size_ -= found->second.chunk.size() + found->second.written.size();
  pending_.erase(found);
}

void PendingChunks::flush() {
  engine::Ordered jobs(std::size_t{2} * std::max(engine::workers(), 1U));
  // Jobs erase what they have stored, behind this place.
  for (auto at = pending_.cbegin(); at != pending_.cend();)
    jobs.give(std::make_unique<Job>(*this, at++));
  jobs.finish();
}

}  // namespace headrace::objects
