#include "layers/tune/connector/rules/read_once.hpp"

#include "comm/agreement.hpp"
#include "hdf5/error_stack.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/dataset/selection.hpp"
#include "vol/dataset/transfer_list.hpp"

namespace headrace::tune {
namespace {

constexpr std::uint64_t kLeast = 4096;  // bytes, below which each rank reads as fast

// All of a dataspace, in order.
bool is_whole(hid_t space) {
  return space == vol::kAll ||
         (vol::is_dataspace(space) && h5.Sget_select_type(space) == H5S_SEL_ALL);
}

// Whether a read leaves nothing of what memory has: of compounds it may leave members and gaps.
bool fills_memory(const vol::Object& dataset, hid_t mem_type) {
  if (!fills_memory(dataset, mem_type)) return false;
  if (h5.Tdetect_class(mem_type, H5T_COMPOUND) == 0) return true;
  const Id<Kind::datatype> stored(vol::get(dataset, H5VL_DATASET_GET_TYPE).args.get_type.type_id);
  return h5.Tequal(mem_type, stored.get()) > 0;
}

// What the read fills in memory; 0 where it is not of this kind.
std::uint64_t bytes_of(const vol::Transfer& read) {
  const PrivateErrors own;
  if (!is_whole(read.file_space) || !is_whole(read.mem_space) || !vol::is_flat(read.mem_type) ||
      !vol::leaves_data_alone(read.dxpl))
    return 0;
  const Id<Kind::dataspace> space(
      vol::get(read.dataset, H5VL_DATASET_GET_SPACE).args.get_space.space_id);
  const hssize_t elements = h5.Sget_simple_extent_npoints(space.get());
  if (elements <= 0 || (vol::is_dataspace(read.mem_space) &&
                        h5.Sget_simple_extent_npoints(read.mem_space) != elements))
    return 0;
  return static_cast<std::uint64_t>(elements) * h5.Tget_size(read.mem_type);
}

// A number for the dataset and the elements that are read of it; 0 where it cannot be told. Ranks
// may read different datasets together, against HDF5's word, and get what they have asked for.
std::int64_t fingerprint(const vol::Transfer& read, std::uint64_t bytes) {
  const PrivateErrors own;
  vol::Identity identity{};
  std::size_t size = 0;
  if (bytes == 0 || !vol::read_identity(read.dataset, identity) ||
      h5.Tencode(read.mem_type, nullptr, &size) < 0)
    return 0;
  std::string text(size, '\0');
  if (h5.Tencode(read.mem_type, text.data(), &size) < 0) return 0;
  text.append(reinterpret_cast<const char*>(&identity.token), sizeof identity.token);
  text += std::to_string(bytes);
  return static_cast<std::int64_t>(std::hash<std::string>()(text) >> 1U) | 1;
}

// Throws Error with HDF5's own words where it cannot be read.
void read_alone(const vol::Transfer& read, void* buffer) {
  if (vol::pass_on(read.with_list(h5.transfer_list.get()), buffer) < 0)
    throw Error(vol::describe(read.dataset) + " cannot be read: " + root_cause());
}

}  // namespace

std::optional<herr_t> read_once(const vol::Transfer& read, void* buffer, Communicator& ranks) {
  if (!vol::collective(read.dxpl)) return std::nullopt;
  std::uint64_t bytes = 0;
  std::int64_t mine = 0;
  try {
    bytes = bytes_of(read);
    if (buffer != nullptr && bytes >= kLeast) mine = fingerprint(read, bytes);
  } catch (const Error&) {  // HDF5 will say why; the others wait for this rank's number
    mine = 0;
  }
  // What decides is the same number on all ranks.
  const std::int64_t least = ranks.reduce(mine, Reduction::min);
  if (least == 0 || ranks.reduce(mine, Reduction::max) != least) return std::nullopt;
  const bool reads = ranks.rank() == 0;
  do_together(ranks, [&] {
    if (reads) read_alone(read, buffer);
  });
  ranks.broadcast({static_cast<std::byte*>(buffer), bytes}, 0);
  ++statistics().reads_shared;
  return 0;
}

}  // namespace headrace::tune
