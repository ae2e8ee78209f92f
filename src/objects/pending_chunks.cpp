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
#include "objects/chunks/cut_off.hpp"
#include "objects/keys.hpp"
#include "objects/ranges.hpp"
#include "objects/whole_blob.hpp"

namespace headrace::objects {
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
  Reading(PendingChunks& chunks, const Coordinates& at, std::size_t i, const Deliver& deliver)
      : chunks_(chunks),
        key_(chunks.key_of(at)),
        i_(i),
        deliver_(deliver),
        whole_(chunks.whole_pending(key_)),
        stored_(whole_ == nullptr ? chunks.decoded(key_) : DecodedChunk{}) {}
  [[nodiscard]] bool is_here() const { return whole_ != nullptr || stored_; }

  void work() override {
    if (whole_ != nullptr) return;
    load();
    const auto pending = chunks_.pending_.find(key_);
    if (pending == chunks_.pending_.end()) return;
    overlaid_ = engine::Buffer(chunks_.of_.chunk_bytes);
    std::ranges::copy(stored_.bytes(), overlaid_.data());
    pending->second.overlay(overlaid_.bytes());
  }
  void finish() override {
    if (is_new_ && stored_.version != store::kAbsent) chunks_.decoded_.keep(key_, stored_);
    deliver_(i_, whole_ != nullptr       ? whole_
                 : overlaid_.size() != 0 ? overlaid_.data()
                                         : stored_.data());
  }
  // All of it, while no other job works. A chunk that is written in part is made whole, for the
  // next time.
  void work_alone() {
    const auto pending = chunks_.pending_.find(key_);
    if (whole_ == nullptr && pending != chunks_.pending_.end() &&
        chunks_.may_fill(pending->second)) {
      load();
      chunks_.size_ -= pending->second.size();
      pending->second.fill(stored_);
      chunks_.size_ += pending->second.size();
      whole_ = pending->second.chunk().data();
    }
    work();
    finish();
  }

 private:
  void load() {
    if (stored_) return;
    const Loaded loaded = chunks_.load(key_);
    stored_ = {loaded.buffer, loaded.offset, loaded.version, loaded.epoch};
    is_new_ = true;
  }

  PendingChunks& chunks_;
  std::string key_;
  std::size_t i_;
  const Deliver& deliver_;
  const std::byte* whole_;   // all of it is pending
  DecodedChunk stored_;      // as it is stored
  bool is_new_ = false;      // it was read now
  engine::Buffer overlaid_;  // with what is pending of it
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

void PendingChunks::read(const Coordinates& at, std::span<std::byte> chunk) const {
  const std::string key = key_of(at);
  if (const std::byte* const whole = whole_pending(key); whole != nullptr) {
    std::copy_n(whole, chunk.size(), chunk.begin());
    return;
  }
  std::ranges::copy(load(key).chunk(), chunk.begin());
  if (const auto found = pending_.find(key); found != pending_.end()) found->second.overlay(chunk);
}

const std::byte* PendingChunks::whole_pending(const std::string& key) const {
  const auto found = pending_.find(key);
  if (found == pending_.end()) return nullptr;
  const PendingChunk& pending = found->second;
  if (pending.is_whole()) return pending.chunk().data();
  if (!pending.filling()) return nullptr;
  const auto info = store_.get(key, 0, {});
  const store::Version now = info ? info->version : store::kAbsent;
  return now == pending.filling()->version ? pending.chunk().data() : nullptr;
}

// Those that are read do not take more memory than this.
bool PendingChunks::may_fill(const PendingChunk& pending) const {
  constexpr std::size_t kMostFilled = std::size_t{16} << 20U;
  return !pending.is_in_pieces() || size_ + of_.chunk_bytes + elements() <= kMostFilled;
}

DecodedChunk PendingChunks::decoded(const std::string& key) {
  if (!decoded_.has(key)) return {};
  const auto info = store_.get(key, 0, {});
  return info ? decoded_.find(key, info->version) : DecodedChunk{};
}

void PendingChunks::read_all(std::span<const Coordinates> all, const Deliver& deliver) {
  engine::Ordered jobs(std::size_t{2} * std::max(engine::workers(), 1U));
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto job = std::make_unique<Reading>(*this, all[i], i, deliver);
    jobs.finish_done();
    const bool here = job->is_here() || all.size() == 1 || !codec_.any_thread();
    if (jobs.empty() && here) {
      job->work_alone();
    } else {
      jobs.give(std::move(job));
    }
  }
  jobs.finish();
}

void PendingChunks::write(const Coordinates& at, engine::Buffer chunk) {
  const std::string key = key_of(at);
  forget(key);
  const auto made = pending_.try_emplace(key, std::move(chunk), of_.element).first;
  size_ += made->second.size();
}

void PendingChunks::write_part(const Coordinates& at, const PutElements& put,
                               const Touched& touched) {
  const auto [found, is_new] = pending_.try_emplace(key_of(at), of_.chunk_bytes, of_.element);
  PendingChunk& pending = found->second;
  if (!is_new) size_ -= pending.size();
  try {
    pending.put(put, touched, scratch_);
  } catch (...) {
    if (is_new)
      pending_.erase(found);
    else
      size_ += pending.size();
    throw;
  }
  size_ += pending.size();
}

void PendingChunks::encode(std::uint64_t epoch, std::span<const std::byte> chunk,
                           Blob& blob) const {
  StoredChunk stored{epoch, 0, chunk};
  blob.filtered = codec_.encode(chunk, stored.left_out);
  if (blob.filtered.size() > 0) stored.bytes = std::as_const(blob.filtered).bytes();
  blob.head = encode_head(stored);
  blob.body = stored.bytes;
}

PendingChunks::Blob PendingChunks::blob_of(const std::string& key, const PendingChunk& pending,
                                           bool anew) const {
  Blob blob;
  if (pending.is_whole()) {
    encode(of_.epoch, pending.chunk(), blob);
    return blob;
  }
  // Another that has cut the dataset may have stored it since: nothing of that is cut off.
  if (const auto& filling = pending.filling(); filling && !anew) {
    blob.expected = filling->version;
    encode(std::max(of_.epoch, filling->epoch), pending.chunk(), blob);
    return blob;
  }
  const Loaded before = load(key);
  pending.overlay(before.chunk());
  blob.merged = before.buffer;
  blob.expected = before.version;
  encode(std::max(of_.epoch, before.epoch), before.chunk(), blob);
  return blob;
}

// Together, as a store syncs and commits once for all of them.
void PendingChunks::store_several(std::span<const Chunks::const_iterator> several) const {
  std::vector<Blob> blobs;
  std::vector<store::Change> changes;
  blobs.reserve(several.size());  // changes refer to them
  for (const auto& chunk : several) {
    const auto& [key, pending] = *chunk;
    const Blob& blob = blobs.emplace_back(blob_of(key, pending, /*anew=*/false));
    changes.push_back({key, blob.body, blob.expected, store::bytes_of(blob.head)});
  }
  const auto versions = store_.put(changes);
  for (std::size_t i = 0; i < several.size(); ++i)
    if (versions[i] == store::kAbsent)
      store_one(several[i]->first, several[i]->second, /*anew=*/true);
}

void PendingChunks::store_one(const std::string& key, const PendingChunk& pending,
                              bool anew) const {
  for (;; anew = true) {
    const Blob blob = blob_of(key, pending, anew);
    const store::Change change{key, blob.body, blob.expected, store::bytes_of(blob.head)};
    if (store_.put({&change, 1}).front() != store::kAbsent) return;
  }
}

void PendingChunks::forget(const std::string& key) {
  const auto found = pending_.find(key);
  if (found == pending_.end()) return;
  size_ -= found->second.size();
  pending_.erase(found);
}

void PendingChunks::flush() {
  constexpr std::size_t kMostBytes = 4 << 20;
  constexpr std::size_t kMostChunks = 1000;
  const std::size_t workers = std::max(engine::workers(), 1U);
  // All have some to do.
  const std::size_t share = std::min(kMostBytes, pending_.size() * of_.chunk_bytes / (4 * workers));
  engine::Ordered jobs(2 * workers);
  // Jobs erase what they have stored, behind this place.
  for (auto at = pending_.cbegin(); at != pending_.cend();) {
    std::vector<Chunks::const_iterator> several;
    std::size_t bytes = 0;
    do {
      bytes += of_.chunk_bytes;
      several.push_back(at++);
    } while (at != pending_.cend() && bytes + of_.chunk_bytes <= share &&
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
  scratch_ = {};
}

void PendingChunks::cut(std::uint64_t epoch, const std::vector<std::uint64_t>& dims,
                        std::vector<Cut> cuts) {
  decoded_.clear();
  of_.epoch = epoch;
  of_.cuts = std::move(cuts);
  for (auto at = pending_.begin(); at != pending_.end();) {
    auto& [key, pending] = *at;
    size_ -= pending.size();
    const bool is_left =
        pending.cut(of_.rank, within(of_.rank, coordinates_in(key), of_.chunk, dims), of_.chunk);
    size_ += pending.size();
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
    store_one(key, found->second, /*anew=*/false);
    forget(key);
  }
  return stored(key);
}

void PendingChunks::write_stored(const Coordinates& at, std::uint32_t left_out,
                                 store::Bytes bytes) {
  const std::string key = key_of(at);
  const std::string head = encode_head({of_.epoch, left_out, bytes});
  const store::Change change{key, bytes, std::nullopt, store::bytes_of(head)};
  store_.put({&change, 1});
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
  flush();
  std::vector<StoredInfo> found;
  each_blob(store_, of_.prefix, [&](const store::ListedBlob& blob) {
    const Coordinates at = coordinates_in(blob.key);
    if (is_nothing(within(of_.rank, at, of_.chunk, dims))) return;
    if (const auto one = info_of(blob.key, at)) found.push_back(*one);
  });
  return found;
}

}  // namespace headrace::objects
