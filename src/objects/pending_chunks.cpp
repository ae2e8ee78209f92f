#include "objects/pending_chunks.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "engine/threads/ordered.hpp"
#include "engine/threads/thread_pool.hpp"
#include "objects/cut_off.hpp"
#include "objects/keys.hpp"
#include "objects/whole_blob.hpp"

namespace headrace::objects {
namespace {

engine::Buffer blob_of(const StoredChunk& chunk) {
  const std::string head = encode_head(chunk);
  engine::Buffer blob(head.size() + chunk.bytes.size());
  std::memcpy(blob.data(), head.data(), head.size());
  if (!chunk.bytes.empty())
    std::memcpy(blob.data() + head.size(), chunk.bytes.data(), chunk.bytes.size());
  return blob;
}

}  // namespace

// Stores chunks on a worker.
class PendingChunks::Job final : public engine::Job {
 public:
  Job(PendingChunks& chunks, std::vector<Chunks::const_iterator> several)
      : chunks_(chunks), several_(std::move(several)) {}
  void work() override { chunks_.store_several(several_); }
  void finish() override {
    for (const auto& chunk : several_) chunks_.forget(std::string(chunk->first));
  }

 private:
  PendingChunks& chunks_;
  std::vector<Chunks::const_iterator> several_;
};

// Reads a chunk on a worker, unless it lies in memory.
class PendingChunks::Reading final : public engine::Job {
 public:
  Reading(const PendingChunks& chunks, const Coordinates& at, std::size_t i, const Deliver& deliver)
      : chunks_(chunks),
        key_(chunks.key_of(at)),
        i_(i),
        deliver_(deliver),
        whole_(chunks.whole_pending(at)),
        stored_(whole_ == nullptr ? chunks.decoded(key_) : DecodedChunk{}) {}
  [[nodiscard]] bool is_here() const { return whole_ != nullptr || stored_; }

  void work() override {
    if (whole_ != nullptr) return;
    if (!stored_) {
      const Loaded loaded = chunks_.load(key_);
      version_ = loaded.version;
      stored_ = {loaded.buffer, loaded.offset};
    }
    const auto pending = chunks_.pending_.find(key_);
    if (pending == chunks_.pending_.end()) return;
    overlaid_ = engine::Buffer(chunks_.of_.chunk_bytes);
    std::ranges::copy(stored_.bytes(), overlaid_.data());
    chunks_.overlay(pending->second, overlaid_.bytes());
  }
  void finish() override {
    if (version_ != store::kAbsent) chunks_.decoded_.keep(key_, version_, stored_);
    deliver_(i_, whole_ != nullptr       ? whole_
                 : overlaid_.size() != 0 ? overlaid_.data()
                                         : stored_.data());
  }

 private:
  const PendingChunks& chunks_;
  std::string key_;
  std::size_t i_;
  const Deliver& deliver_;
  const std::byte* whole_;                   // all of it is pending
  DecodedChunk stored_;                      // as it is stored
  store::Version version_ = store::kAbsent;  // of that, where it was read now
  engine::Buffer overlaid_;                  // with what is pending of it
};

PendingChunks::PendingChunks(store::Store& store, const Codec& codec, ChunksOf dataset)
    : store_(store), codec_(codec), of_(std::move(dataset)) {}

std::string PendingChunks::key_of(const Coordinates& at) const {
  std::string key = of_.prefix;
  for (unsigned d = 0; d < of_.rank; ++d) key += in_order(at[d]);
  return key;
}

Coordinates PendingChunks::coordinates_in(const std::string& key) const {
  constexpr std::size_t kNumber = sizeof(std::uint64_t);
  std::string_view left = std::string_view(key).substr(of_.prefix.size());
  if (left.size() != kNumber * of_.rank)
    throw Error("the key of a chunk is damaged", ErrorKind::corrupt);
  Coordinates at{};
  for (unsigned d = 0; d < of_.rank; ++d, left.remove_prefix(kNumber))
    at[d] = number_in(left.substr(0, kNumber));
  return at;
}

// What counts of a chunk that was stored under an epoch: so many elements from its first one on.
Coordinates PendingChunks::left_of(const Coordinates& at, std::uint64_t epoch) const {
  const auto cut = std::ranges::upper_bound(of_.cuts, epoch, {}, &Cut::epoch);
  return cut == of_.cuts.end() ? of_.chunk : within(of_.rank, at, of_.chunk, cut->dims);
}

bool PendingChunks::is_nothing(const Coordinates& left) const {
  return engine::volume(of_.rank, left) == 0;
}

void PendingChunks::decode(const StoredChunk& stored, const Coordinates& left,
                           std::span<std::byte> chunk) const {
  codec_.decode(stored.left_out, stored.bytes, chunk);
  fill_beyond(of_.rank, left, of_.chunk, of_.fill, chunk);
}

// As it is stored, or filled.
PendingChunks::Loaded PendingChunks::load(const std::string& key) const {
  // Elements of chunks that are as they are stored are to begin at a multiple of this.
  constexpr std::size_t kAligned = 64;
  const std::size_t front = kAligned - encode_head({of_.epoch, 0, {}}).size() % kAligned;
  const auto bytes = std::make_shared<engine::Buffer>(front + kMostHead + of_.chunk_bytes);
  const store::BlobInfo info = whole_blob(store_, key, *bytes, front);
  if (info.version == store::kAbsent) {
    bytes->resize(of_.chunk_bytes);
    engine::fill_all(of_.fill, bytes->bytes());
    return {bytes, 0};
  }
  const StoredChunk stored = decode_chunk(std::as_const(*bytes).bytes().subspan(front));
  const Coordinates left = left_of(coordinates_in(key), stored.epoch);
  Loaded loaded{bytes, bytes->size() - stored.bytes.size(), info.version, stored.epoch};
  if (codec_.is_as_stored(stored.left_out) && stored.bytes.size() == of_.chunk_bytes) {
    fill_beyond(of_.rank, left, of_.chunk, of_.fill, loaded.chunk());
    return loaded;
  }
  loaded.buffer = std::make_shared<engine::Buffer>(of_.chunk_bytes);
  loaded.offset = 0;
  decode(stored, left, loaded.chunk());
  return loaded;
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
  if (found == pending_.end() || !found->second.written.empty())
    std::ranges::copy(load(key).chunk(), chunk.begin());
  if (found != pending_.end()) overlay(found->second, chunk);
}

const std::byte* PendingChunks::whole_pending(const Coordinates& at) const {
  const auto found = pending_.find(key_of(at));
  const bool is_whole = found != pending_.end() && found->second.written.empty();
  return is_whole ? found->second.chunk.data() : nullptr;
}

DecodedChunk PendingChunks::decoded(const std::string& key) const {
  if (!decoded_.has(key)) return {};
  const auto info = store_.get(key, 0, {});
  return info ? decoded_.find(key, info->version) : DecodedChunk{};
}

void PendingChunks::read_all(std::span<const Coordinates> all, const Deliver& deliver) const {
  engine::Ordered jobs(std::size_t{2} * std::max(engine::workers(), 1U));
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto job = std::make_unique<Reading>(*this, all[i], i, deliver);
    jobs.finish_done();
    const bool here = job->is_here() || all.size() == 1 || !codec_.any_thread();
    if (jobs.empty() && here) {
      job->work();
      job->finish();
    } else {
      jobs.give(std::move(job));
    }
  }
  jobs.finish();
}

void PendingChunks::write(const Coordinates& at, engine::Buffer chunk) {
  const std::string key = key_of(at);
  forget(key);
  size_ += chunk.size();
  pending_.emplace(key, Pending{std::move(chunk), {}, 0});
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
  auto& [chunk, marks, first_left] = pending;
  while (first_left < marks.size() && marks[first_left] != std::byte{0}) ++first_left;
  if (first_left < marks.size()) return;
  size_ -= pending.written.size();
  pending.written = {};
}

engine::Buffer PendingChunks::encoded(std::uint64_t epoch, std::span<const std::byte> chunk) const {
  StoredChunk stored{epoch, 0, chunk};
  const engine::Buffer filtered = codec_.encode(chunk, stored.left_out);
  if (filtered.size() > 0) stored.bytes = filtered.bytes();
  return blob_of(stored);
}

store::Version PendingChunks::put(const std::string& key, const engine::Buffer& blob,
                                  std::optional<store::Version> expected) const {
  const store::Change change{key, blob.bytes(), expected};
  return store_.put({&change, 1}).front();
}

// Those that are whole are put together, as a store syncs and commits once for all of them.
void PendingChunks::store_several(std::span<const Chunks::const_iterator> several) const {
  std::vector<engine::Buffer> blobs;
  std::vector<store::Change> changes;
  blobs.reserve(several.size());
  for (const auto& chunk : several) {
    const auto& [key, pending] = *chunk;
    if (!pending.written.empty()) {
      store_one(key, pending);
      continue;
    }
    blobs.push_back(encoded(of_.epoch, pending.chunk.bytes()));
    changes.push_back({key, blobs.back().bytes(), std::nullopt});
  }
  if (!changes.empty()) store_.put(changes);
}

void PendingChunks::store_one(const std::string& key, const Pending& pending) const {
  while (true) {
    Loaded before;
    std::span<const std::byte> chunk = pending.chunk.bytes();
    std::uint64_t epoch = of_.epoch;
    std::optional<store::Version> expected;
    if (!pending.written.empty()) {
      before = load(key);
      expected = before.version;
      // Another that has cut the dataset may have stored it since: nothing of that is cut off.
      epoch = std::max(epoch, before.epoch);
      overlay(pending, before.chunk());
      chunk = before.chunk();
    }
    if (put(key, encoded(epoch, chunk), expected) != store::kAbsent) return;
  }
}

void PendingChunks::forget(const std::string& key) {
  const auto found = pending_.find(key);
  if (found == pending_.end()) return;
  size_ -= found->second.chunk.size() + found->second.written.size();
  pending_.erase(found);
}

void PendingChunks::flush() {
  constexpr std::size_t kMostBytes = 4 << 20;
  constexpr std::size_t kMostChunks = 1000;
  const std::size_t workers = std::max(engine::workers(), 1U);
  const std::size_t share = std::min(kMostBytes, size_ / (4 * workers));  // all have some to do
  engine::Ordered jobs(2 * workers);
  // Jobs erase what they have stored, behind this place.
  for (auto at = pending_.cbegin(); at != pending_.cend();) {
    std::vector<Chunks::const_iterator> several;
    std::size_t bytes = 0;
    do {
      bytes += at->second.chunk.size();
      several.push_back(at++);
    } while (at != pending_.cend() && bytes + at->second.chunk.size() <= share &&
             several.size() < kMostChunks);
    auto job = std::make_unique<Job>(*this, std::move(several));
    if (codec_.any_thread()) {
      jobs.give(std::move(job));
    } else {
      job->work();
      job->finish();
    }
  }
  jobs.finish();
}

// Whether anything of it is left.
bool PendingChunks::cut_pending(const std::string& key, Pending& pending,
                                const std::vector<std::uint64_t>& dims) const {
  const Coordinates left = within(of_.rank, coordinates_in(key), of_.chunk, dims);
  if (is_nothing(left)) return false;
  if (left == of_.chunk) return true;
  constexpr std::byte kNotWritten{0};
  if (pending.written.empty()) pending.written.resize(elements(), std::byte{1});
  fill_beyond(of_.rank, left, of_.chunk, {&kNotWritten, 1}, pending.written);
  pending.first_left = 0;
  return std::ranges::find(pending.written, std::byte{1}) != pending.written.end();
}

void PendingChunks::cut(std::uint64_t epoch, const std::vector<std::uint64_t>& dims,
                        std::vector<Cut> cuts) {
  decoded_.clear();
  of_.epoch = epoch;
  of_.cuts = std::move(cuts);
  for (auto at = pending_.begin(); at != pending_.end();) {
    auto& [key, pending] = *at;
    size_ -= pending.written.size();
    const bool is_left = cut_pending(key, pending, dims);
    size_ += pending.written.size();
    const auto next = std::next(at);
    if (!is_left) forget(std::string(key));
    at = next;
  }
}

std::optional<RawChunk> PendingChunks::stored(const std::string& key) const {
  engine::Buffer blob(of_.chunk_bytes + kMostHead);
  if (whole_blob(store_, key, blob).version == store::kAbsent) return std::nullopt;
  const StoredChunk stored = decode_chunk(blob.bytes());
  const Coordinates left = left_of(coordinates_in(key), stored.epoch);
  if (is_nothing(left)) return std::nullopt;
  RawChunk raw;
  if (left == of_.chunk) {
    raw.left_out = stored.left_out;
    raw.bytes = engine::Buffer(stored.bytes.size());
    std::ranges::copy(stored.bytes, raw.bytes.data());
    return raw;
  }
  engine::Buffer chunk(of_.chunk_bytes);
  decode(stored, left, chunk.bytes());
  raw.bytes = codec_.encode(chunk.bytes(), raw.left_out);
  if (raw.bytes.size() == 0) raw.bytes = std::move(chunk);
  return raw;
}

std::optional<RawChunk> PendingChunks::read_stored(const Coordinates& at) {
  const std::string key = key_of(at);
  if (const auto found = pending_.find(key); found != pending_.end()) {
    store_one(key, found->second);
    forget(key);
  }
  return stored(key);
}

void PendingChunks::write_stored(const Coordinates& at, std::uint32_t left_out,
                                 store::Bytes bytes) {
  const std::string key = key_of(at);
  put(key, blob_of({of_.epoch, left_out, bytes}), std::nullopt);
  forget(key);
}

// Of a chunk that is cut off in part what it would be, not what the store still has.
std::optional<StoredInfo> PendingChunks::info_of(const std::string& key,
                                                 const Coordinates& at) const {
  std::array<std::byte, kMostHead> front{};
  const auto blob = store_.get(key, 0, front);
  if (!blob) return std::nullopt;
  const std::span read(front.data(), std::min<std::uint64_t>(front.size(), blob->size));
  const ChunkHead head = decode_head(read);
  const Coordinates left = left_of(at, head.epoch);
  if (is_nothing(left)) return std::nullopt;
  if (left == of_.chunk) return StoredInfo{at, blob->size - head.size, head.left_out};
  const auto raw = stored(key);
  if (!raw) return std::nullopt;
  return StoredInfo{at, raw->bytes.size(), raw->left_out};
}

std::vector<StoredInfo> PendingChunks::list(const std::vector<std::uint64_t>& dims) {
  constexpr std::size_t kAtOnce = 1000;
  flush();
  std::vector<StoredInfo> found;
  for (std::string from = of_.prefix; true;) {
    const auto blobs = store_.list(from, kAtOnce);
    for (const auto& [key, blob] : blobs) {
      if (!key.starts_with(of_.prefix)) return found;
      const Coordinates at = coordinates_in(key);
      if (is_nothing(within(of_.rank, at, of_.chunk, dims))) continue;
      if (const auto one = info_of(key, at)) found.push_back(*one);
    }
    if (blobs.empty()) return found;
    from = blobs.back().key + '\0';
  }
}

}  // namespace headrace::objects
