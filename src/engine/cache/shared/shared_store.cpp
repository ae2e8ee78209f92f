#include "engine/cache/shared/shared_store.hpp"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/error.hpp"
#include "base/process/machine.hpp"
#include "base/process/size_signal.hpp"
#include "engine/cache/shared/holders.hpp"
#include "engine/cache/shared/racing.hpp"

namespace headrace::engine::cache {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

constexpr auto kPatience = std::chrono::milliseconds(200);
constexpr auto kLook = std::chrono::microseconds(50);

// How many rounds of eviction a chunk survives that takes so long to decode: about a nanosecond a
// byte is what fast codecs need, ten what gzip does.
std::uint32_t weight_of(nanoseconds time, std::size_t bytes) {
  const auto each_kib = static_cast<std::uint64_t>(time.count()) / (bytes / 1024 + 1);
  if (each_kib < 500) return 1;
  if (each_kib < 2000) return 2;
  return each_kib < 8000 ? 3 : 4;
}
constexpr std::uint32_t kLeft = 0xffff;  // of Way::used: the rounds that are left, below the weight

std::string path() { return shared_folder() + "/" + kFile; }

void make(int descriptor, std::size_t memory) {
  const Layout layout = Layout::for_memory(memory);
  if (!layout.is_sound(kLargestSlab))
    throw Error("too little memory for shared chunks", ErrorKind::no_space);
  const NoSizeSignal no_signal;
  if (::ftruncate(descriptor, static_cast<off_t>(layout.bytes())) != 0)
    throw Error("cannot make the file of shared chunks", errno);
  reserve(descriptor, 0, sizeof(Fixed));
  const std::array<std::uint64_t, 4> begin{kFileMagic, layout.slab_bytes, layout.slabs,
                                           static_cast<std::uint64_t>(since_1970())};
  if (::pwrite(descriptor, begin.data(), sizeof begin, 0) != sizeof begin)
    throw Error("cannot write to the file of shared chunks", errno);
}

Layout layout_of(int descriptor) {
  std::array<std::uint64_t, 3> begin{};
  struct stat status{};
  const bool read = ::pread(descriptor, begin.data(), sizeof begin, 0) == sizeof begin &&
                    ::fstat(descriptor, &status) == 0;
  const Layout layout{begin[1], begin[2]};
  if (!read || begin[0] != kFileMagic || !layout.is_sound(kLargestSlab) ||
      static_cast<std::size_t>(status.st_size) != layout.bytes())
    throw Error(path() + " is damaged", ErrorKind::corrupt);
  return layout;
}

// Whether nobody has it, and nobody has had it for as long.
bool is_abandoned(int descriptor, nanoseconds linger) {
  std::uint64_t left = 0;
  if (Owners::any_other(descriptor) ||
      ::pread(descriptor, &left, sizeof left, offsetof(Header, left)) != sizeof left)
    return false;
  const std::int64_t age = since_1970() - static_cast<std::int64_t>(left);
  return age > linger.count() || age < -linger.count();  // the clock may have been set
}

bool is_claimed(const Way& way) { return WayState{way.state.load()}.is_claimed(); }
bool is_empty(const Way& way) {
  return !is_claimed(way) && way.length.load(std::memory_order_relaxed) == 0;
}

// Of the ways that nobody fills that which has survived as many rounds as it may; all others
// survive one less. kSet where there is none.
std::size_t victim_of(const WaySet& set) {
  std::size_t victim = kSet;
  std::uint32_t least = kLeft;
  for (std::size_t i = 0; i < set.ways.size(); ++i) {
    const std::uint32_t left = set.ways[i].used.load(std::memory_order_relaxed) & kLeft;
    if (is_claimed(set.ways[i]) || left >= least) continue;
    victim = i;
    least = left;
  }
  for (Way& way : set.ways) {
    const std::uint32_t used = way.used.load(std::memory_order_relaxed);
    way.used.store(used - std::min(used & kLeft, least), std::memory_order_relaxed);
  }
  return victim;
}

void note_used(Way& way) {
  const std::uint32_t used = way.used.load(std::memory_order_relaxed);
  if ((used & kLeft) != used >> 16U)
    way.used.store((used & ~kLeft) | used >> 16U, std::memory_order_relaxed);
}

bool is_full(const WaySet& set) { return std::ranges::none_of(set.ways, &is_empty); }

bool begins_with(const Way& way, std::span<const std::uint64_t> words) {
  for (std::size_t i = 0; i < words.size(); ++i)
    if (way.key[i].load(std::memory_order_relaxed) != words[i]) return false;
  return true;
}

// Leaked: HDF5 reads while the process exits.
std::atomic<SharedStore*>& of_this_process() {
  static auto& store = *new std::atomic<SharedStore*>;
  return store;
}

}  // namespace

SharedStore::SharedStore(std::size_t memory, nanoseconds linger) { open(memory, linger); }

SharedStore& SharedStore::of_process(std::size_t memory, nanoseconds linger) {
  static auto& making = *new std::mutex;
  const std::lock_guard lock(making);
  if (made() == nullptr) {
    of_this_process() = new SharedStore(memory, linger);
    ::pthread_atfork(nullptr, nullptr, [] { made()->begin_child(); });
  }
  return *made();
}

SharedStore* SharedStore::made() { return of_this_process(); }

void SharedStore::leave() {
  slabs_->fixed().header.left.store(static_cast<std::uint64_t>(since_1970()));
}

bool SharedStore::needs_holders(std::size_t memory) {
  std::error_code none;
  return room_of_shared_folder().all < memory && !std::filesystem::exists(path(), none);
}

void SharedStore::open(std::size_t memory, nanoseconds linger) {
  const auto fill = [memory](int descriptor) { make(descriptor, memory); };
  held_ = needs_holders(memory);
  if (!held_) file_ = open_private(shared_folder(), kFile, fill);
  if (!held_ && is_abandoned(file_.get(), linger)) {
    ::unlink(path().c_str());
    held_ = needs_holders(memory);
    if (!held_) file_ = open_private(shared_folder(), kFile, fill);
  }
  if (held_) file_ = open_held(fill);
  file_.note_file();
  const Layout layout = layout_of(file_.get());
  slabs_ = std::make_unique<Slabs>(map_shared(file_.get(), layout.bytes()), layout);
  owners_ = std::make_unique<Owners>(file_.get(), slabs_->fixed().epochs);
}

std::size_t SharedStore::largest() const { return slabs_->layout().slab_bytes; }

// Another thread may have had the mutex, and workers what is being filled: that stays, unused.
void SharedStore::begin_child() {
  owners_.reset();
  file_.reopen();
  error_of([&] { owners_ = std::make_unique<Owners>(file_.get(), slabs_->fixed().epochs); });
  if (held_ && owners_ != nullptr) error_of([&] { note_holder(file_.get()); });
  new (&mutex_) std::mutex;
  new (&filling_) decltype(filling_);
}

// Between the two loads of the state nothing of the way has changed, or the chunk has gone.
bool SharedStore::show(Way& way, const std::byte* data, std::size_t of_class, const Key& key,
                       const Visitor& visitor) const {
  const std::uint64_t state = way.state.load(std::memory_order_acquire);
  if (WayState{state}.is_claimed()) return false;
  const std::uint64_t length = way.length.load(std::memory_order_relaxed);
  if (length == 0 || length > bytes_of_class(of_class)) return false;
  if (!begins_with(way, words_of(key))) return false;
  fence(std::memory_order_acquire);
  if (way.state.load(std::memory_order_relaxed) != state) return false;
  {
    [[maybe_unused]] const RacingReads racing;
    visitor({data, length});
  }
  fence(std::memory_order_acquire);
  return way.state.load(std::memory_order_relaxed) == state;
}

bool SharedStore::read(const Key& key, Visitor visitor) {
  return show_if_there(key, visitor, true);
}

bool SharedStore::peek(const Key& key, Visitor visitor) {
  return show_if_there(key, visitor, false);
}

bool SharedStore::show_if_there(const Key& key, const Visitor& visitor, bool uses) const {
  const std::uint64_t hash = hash_of(key);
  for (std::size_t c = 0; c < kClasses; ++c) {
    Slabs::Sets sets(*slabs_, c, hash);
    for (WaySet set; sets.next(set);)
      for (std::size_t i = 0; i < set.ways.size(); ++i)
        if (set.ways[i].tag.load(std::memory_order_relaxed) == hash &&
            show(set.ways[i], set.data_of(i), c, key, visitor)) {
          if (uses) note_used(set.ways[i]);
          return true;
        }
  }
  return false;
}

SharedStore::Found SharedStore::find(const Key& key, std::size_t of_class) const {
  const std::uint64_t hash = hash_of(key);
  Found found = Found::no;
  Slabs::Sets sets(*slabs_, of_class, hash);
  for (WaySet set; sets.next(set);)
    for (const Way& way : set.ways) {
      if (way.tag.load(std::memory_order_relaxed) != hash) continue;
      const WayState state{way.state.load()};
      if (!state.is_claimed() && way.length.load(std::memory_order_relaxed) != 0)
        return Found::filled;
      if (state.is_claimed() && owners_ != nullptr && !owners_->is_dead(state))
        found = Found::claimed;
    }
  return found;
}

bool SharedStore::wait_for(const Key& key, std::size_t bytes) {
  const std::size_t of_class = class_of(bytes);
  if (of_class == kClasses) return false;
  const auto until = Clock::now() + kPatience;
  Found found = find(key, of_class);
  while (found == Found::claimed && Clock::now() < until) {
    std::this_thread::sleep_for(kLook);
    found = find(key, of_class);
  }
  return found == Found::filled;
}

// The way is this process's; none where another has it, or has been faster.
std::optional<WayState> SharedStore::try_claim(Way& way) const {
  std::uint64_t word = way.state.load();
  const WayState state{word};
  if (state.is_claimed() && !owners_->is_dead(state)) return std::nullopt;
  const WayState mine = owners_->claimed(state.sequence() + 1);
  if (!way.state.compare_exchange_strong(word, mine.word)) return std::nullopt;
  return mine;
}

// Of a way that is claimed it writes nothing before it knows that the class has the slab still.
std::optional<SharedStore::Filling> SharedStore::claim_way(const WaySet& set, std::size_t i,
                                                           const Key& key) const {
  Way& way = set.ways[i];
  const auto state = try_claim(way);
  if (!state) return std::nullopt;
  fence(std::memory_order_seq_cst);
  way.length.store(0, std::memory_order_relaxed);
  if (!slabs_->has(set)) {
    way.state.store(WayState::settled(state->sequence() + 1).word);
    return std::nullopt;
  }
  const auto words = words_of(key);
  for (std::size_t k = 0; k < words.size(); ++k)
    way.key[k].store(words[k], std::memory_order_relaxed);
  way.tag.store(hash_of(key));
  return Filling{set, i, *state, {}, Clock::now()};
}

// Ways without a chunk first, then those of processes that are gone.
std::optional<SharedStore::Filling> SharedStore::claim_in(const WaySet& set, const Key& key) const {
  for (const auto may : {&is_empty, &is_claimed})
    for (std::size_t i = 0; i < set.ways.size(); ++i)
      if (may(set.ways[i]))
        if (auto filling = claim_way(set, i, key)) return filling;
  const std::size_t victim = victim_of(set);
  return victim == kSet ? std::nullopt : claim_way(set, victim, key);
}

// A class takes a further slab before it evicts.
std::optional<SharedStore::Filling> SharedStore::take(const Key& key, std::size_t of_class) {
  const std::uint64_t hash = hash_of(key);
  for (bool grown = true; grown;) {
    Slabs::Sets sets(*slabs_, of_class, hash);
    WaySet set;
    const bool any = sets.next(set);
    grown = (!any || is_full(set)) && slabs_->grow(file_.get(), *owners_, of_class);
    if (!grown) return any ? claim_in(set, key) : std::nullopt;
  }
  return std::nullopt;
}

std::span<std::byte> SharedStore::begin(const Key& key, std::size_t bytes) {
  const std::size_t of_class = class_of(bytes);
  if (bytes == 0 || bytes > largest() || bytes_of_class(of_class) > largest() ||
      owners_ == nullptr || !file_.has_noted_file() || find(key, of_class) != Found::no)
    return {};
  auto filling = take(key, of_class);
  if (!filling) return {};
  const auto no_memory = error_of([&] { filling->chunk = Buffer(bytes); });
  const std::lock_guard lock(mutex_);
  // Another thread may have been as fast.
  if (no_memory != nullptr || filling_.contains(key)) {
    end(*filling, 0);
    return {};
  }
  return filling_.emplace(key, std::move(*filling)).first->second.chunk.bytes();
}

// Where the claim has been taken for that of a dead process nothing is left to end.
void SharedStore::end(const Filling& filling, std::size_t length) {
  Way& way = filling.set.ways[filling.way];
  std::uint64_t mine = filling.state.word;
  if (way.state.load() != mine) return;
  const std::uint32_t weight = weight_of(Clock::now() - filling.since, filling.chunk.size());
  way.used.store(weight << 16U | 1U, std::memory_order_relaxed);
  way.length.store(length, std::memory_order_relaxed);
  if (length == 0) way.tag.store(0, std::memory_order_relaxed);
  way.state.compare_exchange_strong(mine, WayState::settled(filling.state.sequence() + 1).word);
}

// A chunk for which there is no memory any more has never been there. By a call: pages of a mapping
// would be cleared first, one fault each, and could not be refused.
bool SharedStore::write(const Filling& filling) const {
  const NoSizeSignal no_signal;
  const auto chunk = filling.chunk.bytes();
  const auto at = slabs_->offset_of(filling.set, filling.way);
  return file_.has_noted_file() && ::pwrite(file_.get(), chunk.data(), chunk.size(), at) ==
                                       static_cast<ssize_t>(chunk.size());
}

void SharedStore::publish(const Key& key) {
  if (const auto filling = taken(key)) end(*filling, write(*filling) ? filling->chunk.size() : 0);
}

void SharedStore::abandon(const Key& key) noexcept {
  if (const auto filling = taken(key)) end(*filling, 0);
}

// None where it was claimed before a fork.
std::optional<SharedStore::Filling> SharedStore::taken(const Key& key) {
  const std::lock_guard lock(mutex_);
  auto node = filling_.extract(key);
  if (node.empty()) return std::nullopt;
  return std::move(node.mapped());
}

// What has no tag is not found, nor is what is published without one.
template <typename Condition>
void SharedStore::forget_if(const Condition& condition) const {
  slabs_->for_each([&](Way& way, std::size_t /*of_class*/) {
    if (condition(way)) way.tag.store(0);
  });
}

void SharedStore::forget(const Key& key) {
  const auto words = words_of(key);
  forget_if([&](const Way& way) { return begins_with(way, words); });
}

void SharedStore::forget(const DatasetKey& dataset) {
  const auto words = words_of({dataset, 0});
  forget_if([&](const Way& way) { return begins_with(way, std::span(words).first<6>()); });
}

void SharedStore::forget(const io::FileIdentity& file) {
  const auto words = words_of({{file, {}, 0}, 0});
  forget_if([&](const Way& way) { return begins_with(way, std::span(words).first<3>()); });
}

std::size_t SharedStore::count(const DatasetKey& dataset) const {
  const auto words = words_of({dataset, 0});
  std::size_t count = 0;
  slabs_->for_each([&](const Way& way, std::size_t /*of_class*/) {
    const bool is_there = (way.key.back().load(std::memory_order_relaxed) & kNoChunk) == 0 &&
                          way.tag.load() != 0 && !WayState{way.state.load()}.is_claimed() &&
                          way.length.load() != 0;
    count += is_there && begins_with(way, std::span(words).first<6>()) ? 1 : 0;
  });
  return count;
}

}  // namespace headrace::engine::cache
