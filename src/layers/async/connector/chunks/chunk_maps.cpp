#include "layers/async/connector/chunks/chunk_maps.hpp"

#include <limits>
#include <map>
#include <new>

#include "base/error.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/async/connector/file_state.hpp"
#include "layers/async/connector/statistics.hpp"
#include "vol/own_question.hpp"

namespace headrace::async {
namespace {

using engine::ChunkMap;

std::uint64_t map_time = 0;     // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
std::uint64_t chunks_kept = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// Those of datasets without filters. Leaked: HDF5 closes what is open while the process exits.
std::map<vol::Identity, std::shared_ptr<Mapping>>& mappings() {
  static auto& mappings = *new std::map<vol::Identity, std::shared_ptr<Mapping>>;
  return mappings;
}

struct Walk {
  ChunkMap& map;
  const Dataset& dataset;
  H5FD_t* driver;
  haddr_t end = 0;  // of what is allocated in the file, once HDF5 has stored all chunks
};

// What cannot be, HDF5 finds out by itself when it reads.
bool is_sound(Walk& walk, haddr_t address, hsize_t size) {
  if (walk.end == 0) walk.end = walk.driver->cls->get_eoa(walk.driver, H5FD_MEM_DRAW);
  return address >= walk.driver->base_addr && address <= walk.end && size <= walk.end - address &&
         size <= std::numeric_limits<std::uint32_t>::max() &&
         (!walk.dataset.pipeline.empty() || size == walk.dataset.chunk_bytes) &&
         walk.map.size() < kMostMapped;
}

int visit(const hsize_t* origin, unsigned mask, haddr_t address, hsize_t size, void* data) noexcept
    try {
  Walk& walk = *static_cast<Walk*>(data);
  if (!is_sound(walk, address, size)) return -1;
  walk.map.add(origin, address, static_cast<std::uint32_t>(size), mask);
  return 0;
} catch (const std::bad_alloc&) {
  return -1;
}

// One that is kept is counted as long as it lives.
std::shared_ptr<const ChunkMap> keep(const std::shared_ptr<ChunkMap>& map) {
  chunks_kept += map->size();
  return {map.get(), [map](const ChunkMap*) { chunks_kept -= map->size(); }};
}

}  // namespace

MappedFile mapped_file_of(const Dataset& dataset, const vol::Object& object) {
  MappedFile file;
  const unsigned long number = dataset.identity.file;
  file.driver = driver_for_reads(*object.connector, number);
  file.constant = file.driver != nullptr;
  if (!file.constant && reads_pass_by(*object.connector)) file.driver = driver_numbered(number);
  if (file.driver != nullptr && file.driver->base_addr > 0 && !addresses_count_user_block())
    file.driver = nullptr;
  return file;
}

void Mapping::update(const engine::Grid& grid) {
  if (kept == nullptr || (time == map_time && kept->grid().dims == grid.dims)) return;
  kept.reset();
  touched = 0;
}

std::shared_ptr<Mapping> mapping_of(Dataset& dataset, const vol::Object& object) {
  const PrivateErrors own;
  if (!dataset.pipeline.empty() || may_write(*object.connector) ||
      !vol::read_identity(object, dataset.identity))
    return std::make_shared<Mapping>();
  auto& known = mappings()[dataset.identity];
  if (known == nullptr) known = std::make_shared<Mapping>();
  return known;
}

void forget_closed_mappings() {
  std::erase_if(mappings(), [](const auto& one) { return one.second.use_count() == 1; });
}

bool may_keep_map(std::uint64_t chunks) { return chunks_kept + chunks <= kMostMapped; }

std::shared_ptr<const ChunkMap> map_of(const Dataset& dataset, Mapping& mapping,
                                       const MappedFile& file, const vol::Object& object) {
  if (mapping.kept != nullptr) return mapping.kept;
  const auto map = std::make_shared<ChunkMap>(dataset.grid());
  Walk walk{*map, dataset, file.driver};
  const vol::OwnQuestion question;
  visit_chunks({object.under, object.connector->id()}, &visit, &walk);
  map->sort();
  ++statistics().chunk_maps;
  if (!file.constant || !may_keep_map(map->size())) return map;
  mapping.time = map_time;
  mapping.kept = keep(map);
  return mapping.kept;
}

void forget_maps() { ++map_time; }

}  // namespace headrace::async
