#include "layers/tune/connector/rules/chunk_cache.hpp"

#include <headrace/cache.h>

#include <algorithm>
#include <array>

#include "base/report/log.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/tune/connector/rules/reopen.hpp"
#include "vol/chunks/layout.hpp"
#include "vol/dataset/selection.hpp"
#include "vol/operations.hpp"

namespace headrace::tune {
namespace {

bool others_read = false;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// Of a dataset's transfers together: in less, no chunk was decoded twice that would be worth the
// time that it takes to ask HDF5 for the dataset's properties (about 40 us).
constexpr auto kWorthALook = std::chrono::milliseconds(2);

using Numbers = std::array<hsize_t, engine::kMaxRank>;

// The size of a chunk cache: slots, each of which one chunk may be found in, and bytes.
struct Cache {
  std::size_t slots = 0;
  std::size_t bytes = 0;
  double preemption = 0;
  bool operator==(const Cache&) const = default;
};

// HDF5's default for files, which is that of their datasets.
std::optional<Cache> default_cache() {
  Cache cache;
  int unused = 0;
  if (h5.Pget_cache(h5.access_list.get(), &unused, &cache.slots, &cache.bytes, &cache.preemption) <
      0)
    return std::nullopt;
  return cache;
}

std::optional<Cache> cache_in(hid_t dapl) {
  Cache cache;
  if (h5.Pget_chunk_cache(dapl, &cache.slots, &cache.bytes, &cache.preemption) < 0)
    return std::nullopt;
  return cache;
}

Id<Kind::plist> access_list_of(const vol::Object& dataset) {
  return Id<Kind::plist>(vol::get(dataset, H5VL_DATASET_GET_DAPL).args.get_dapl.dapl_id);
}

bool is_prime(std::size_t number) {
  for (std::size_t d = 2; d * d <= number; ++d)
    if (number % d == 0) return false;
  return true;
}

// HDF5 numbers chunks by their place, modulo the slots: it advises a prime of some 100 a chunk.
std::size_t slots_for(std::uint64_t chunks, std::size_t least) {
  constexpr std::uint64_t kMany = 1000;  // chunks from which fewer do
  std::size_t slots = std::max<std::size_t>(chunks * (chunks < kMany ? 100 : 10), least);
  while (!is_prime(slots)) ++slots;
  return slots;
}

// Whether decoding gives back what was encoded. Elsewhere values depend on how often a chunk has
// left the cache while it was written.
bool loses_nothing(hid_t dcpl) {
  const auto filters = vol::filters_of(dcpl);
  return filters && !vol::inexact_filter(*filters);
}

// What a program selects, at most: lists and unions count as the box around them. None where that
// is nothing, or not known without asking for the extent.
std::optional<engine::Box> box_of(hid_t file_space) {
  Numbers first{};
  Numbers last{};
  if (!vol::is_dataspace(file_space) || h5.Sget_select_npoints(file_space) <= 0 ||
      h5.Sget_select_bounds(file_space, first.data(), last.data()) < 0)
    return std::nullopt;
  engine::Box box;
  for (unsigned d = 0; d < engine::kMaxRank; ++d) {
    box.start[d] = first.at(d);
    box.count[d] = last.at(d) - first.at(d) + 1;
  }
  return box;
}

bool lies_within(const engine::Box& box, const engine::Grid& grid) {
  for (unsigned d = 0; d < grid.rank; ++d)
    if (box.start[d] >= grid.dims[d] || box.count[d] > grid.dims[d] - box.start[d]) return false;
  return true;
}

}  // namespace

// Whether HDF5 puts chunks of the dataset into a cache whose size the program has left alone.
bool Watched::learn(vol::Object& dataset, FileState& file) {
  const DatasetOptions options = file.options_of(dataset, H5I_DATASET, nullptr);
  // What the layer cache keeps of the dataset needs no room in HDF5's cache, too.
  if (vol::is_known_below(dataset, H5VL_SUBCLS_DATASET, HEADRACE_OPERATION_EXPECT)) return false;
  const auto dcpl = vol::creation_list(dataset);
  const auto chunks = options.chunk_cache ? vol::chunk_shape(dcpl.get()) : std::nullopt;
  if (!chunks) return false;
  const Id<Kind::datatype> type(vol::get(dataset, H5VL_DATASET_GET_TYPE).args.get_type.type_id);
  const Id<Kind::plist> dapl = access_list_of(dataset);
  const auto cache = cache_in(dapl.get());
  if (!type || !cache || cache != default_cache()) return false;
  grid_.rank = chunks->rank;
  std::ranges::copy(chunks->lengths, grid_.chunk.begin());
  grid_.dims.fill(~std::uint64_t{0});  // none that is followed
  chunk_bytes_ = engine::volume(grid_.rank, grid_.chunk) * h5.Tget_size(type.get());
  const std::uint64_t assumed = options.assume_cache;
  capacity_ = chunk_bytes_ == 0 ? 0 : (assumed == 0 ? cache->bytes : assumed) / chunk_bytes_;
  // Of chunks without filters that do not fit in, HDF5 reads and writes parts in the file.
  if (chunk_bytes_ == 0 || chunk_bytes_ > file.options.memory ||
      (capacity_ == 0 && h5.Pget_nfilters(dcpl.get()) <= 0) ||
      (file.writes && !loses_nothing(dcpl.get())))
    return false;
  return vol::read_identity(dataset, identity_);
}

// The extent that HDF5 has now is that of the program's space, or must be asked for.
bool Watched::update_grid(hid_t file_space) {
  unsigned rank = 0;
  engine::Index dims{};
  if (!vol::read_dims(file_space, rank, dims) || rank != grid_.rank) return false;
  if (dims == grid_.dims) return true;
  grid_.dims = dims;
  return reuse_.follow(grid_);
}

void Watched::after_transfer(hid_t file_space) {
  if (!wanted_ || transfers_ != 1 || Clock::now() - begun_ < kWorthALook) return;
  const PrivateErrors own;
  first_ = box_of(file_space);
}

void Watched::before_transfer(vol::Object& dataset, hid_t file_space, bool between) {
  if (!wanted_ || ++transfers_ % stride_ != 0 || !between || others_read ||
      dataset.under == nullptr)
    return;
  if (transfers_ == 1) begun_ = Clock::now();
  if (transfers_ == 1 || (!known_ && Clock::now() - begun_ < kWorthALook)) return;
  const PrivateErrors own;
  const auto file = dataset.connector->state.share<FileState>();
  wanted_ = known_ = known_ || learn(dataset, *file);
  if (!wanted_) return;
  Id<Kind::dataspace> whole;
  if (file_space == vol::kAll)
    whole = Id<Kind::dataspace>(vol::get(dataset, H5VL_DATASET_GET_SPACE).args.get_space.space_id);
  else if (!vol::is_dataspace(file_space))
    return;
  wanted_ = update_grid(whole ? whole.get() : file_space);
  if (!wanted_) return;
  note_quiet();
  for (const auto& box : {std::exchange(first_, std::nullopt),
                          whole ? std::optional(engine::Box{{}, grid_.dims}) : box_of(file_space)})
    if (box && lies_within(*box, grid_))
      if (const std::uint64_t chunks = reuse_.touch(*box); chunks > capacity_)
        enlarge(dataset, file, chunks);
}

// Of a program that has had no use for a larger cache for long, ever fewer transfers are looked at:
// what those in between touch is not counted, so a cache may be found to need less, never more.
void Watched::note_quiet() {
  constexpr unsigned kLong = 64;
  if (++quiet_ < kLong) return;
  quiet_ = 0;
  stride_ = std::min(2 * stride_, kLong);
}

void Watched::enlarge(vol::Object& dataset, const std::shared_ptr<FileState>& file,
                      std::uint64_t chunks) {
  const Id<Kind::plist> dapl = access_list_of(dataset);
  auto cache = cache_in(dapl.get());
  if (!cache) return;
  const std::size_t before = cache->bytes;
  cache->bytes = chunks * chunk_bytes_;
  cache->slots = slots_for(chunks, cache->slots);
  const std::uint64_t memory = cache->bytes + cache->slots * sizeof(void*);
  const std::string name = vol::describe(dataset);
  const std::uint64_t held = grant_ ? grant_->bytes() : 0;
  auto grant = Grant::of(memory, file->options.memory + held);
  if (!grant) {
    ++statistics().beyond;
    log(Level::info, "tune: " + name + " would need a chunk cache of " + std::to_string(memory) +
                         " bytes, more than is left of memory=");
    wanted_ = false;
    return;
  }
  wanted_ = h5.Pset_chunk_cache(dapl.get(), cache->slots, cache->bytes, cache->preemption) >= 0 &&
            reopen(dataset, identity_, dapl.get()) &&
            // What is open by another handle keeps its cache.
            cache_in(access_list_of(dataset).get()) == cache;
  if (!wanted_) return;
  grant_ = std::move(grant);
  capacity_ = chunks;
  quiet_ = 0;
  stride_ = 1;
  file_ = file;
  file_->grown.insert(identity_);
  ++statistics().caches;
  statistics().cache_bytes += cache->bytes;
  log(Level::info, "tune: the chunk cache of " + name + " has " + std::to_string(cache->bytes) +
                       " bytes now, not " + std::to_string(before) + ": chunks came again after " +
                       std::to_string(chunks) + " others");
}

Watched::~Watched() {
  if (file_ != nullptr) file_->grown.erase(identity_);
}

void enlarge_no_more() { others_read = true; }

void restore_chunk_cache(const vol::Object& dataset, hid_t dapl) {
  const auto* const file = dataset.connector->state.find<FileState>();
  if (file == nullptr || file->grown.empty()) return;
  const PrivateErrors own;
  vol::Identity identity{};
  const auto cache = default_cache();
  if (cache && vol::read_identity(dataset, identity) && file->grown.contains(identity))
    h5.Pset_chunk_cache(dapl, cache->slots, cache->bytes, cache->preemption);
}

}  // namespace headrace::tune
