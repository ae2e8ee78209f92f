#include "layers/object/regions/regions.hpp"

#include <array>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "hdf5/error_stack.hpp"
#include "hdf5/lifecycle.hpp"
#include "layers/object/regions/sequence_type.hpp"

namespace headrace::object {
namespace {

using Reference = hdset_reg_ref_t;

// An element in the file, as HDF5 has sequences there.
struct Stored {
  std::uint32_t bytes = 0;
  objects::HeapId place;
};
constexpr std::size_t kStored = sizeof(Stored::bytes) + sizeof(Stored::place);
constexpr std::size_t kToken = 8;

// Leaked on purpose: HDF5 closes files after C++ statics are gone.
std::map<std::uint64_t, Regions*>& all_files() {
  static auto& files = *new std::map<std::uint64_t, Regions*>();
  return files;
}

std::uint64_t next_number() {
  static std::uint64_t number = 0;
  return ++number;
}

bool is_region_reference(hid_t type) {
  return h5.Tget_class(type) == H5T_REFERENCE && h5.Tget_size(type) == sizeof(Reference);
}
bool is_new_reference(hid_t type) {
  return h5.Tget_class(type) == H5T_REFERENCE && h5.Tget_size(type) == sizeof(H5R_ref_t);
}

Regions& regions_of(std::uint64_t file) {
  const auto found = all_files().find(file);
  if (found == all_files().end()) throw Error("region references of a file that is closed");
  return *found->second;
}

// Elements that are converted in their place.
struct InPlace {
  std::byte* buffer;
  std::size_t count;
  std::size_t source;  // bytes of an element
  std::size_t target;

  template <typename Convert>
  void each(std::size_t stride, const Convert& convert) const {
    std::vector<std::byte> before(source);
    std::vector<std::byte> after(target);
    const std::size_t from = stride != 0 ? stride : source;
    const std::size_t to = stride != 0 ? stride : target;
    for (std::size_t n = 0; n < count; ++n) {
      const std::size_t i = to > from ? count - 1 - n : n;  // larger ones from the end
      std::memcpy(before.data(), buffer + i * from, source);
      convert(before, after);
      std::memcpy(buffer + i * to, after.data(), target);
    }
  }
};

}  // namespace

struct RegionConversion {
  static void run(hid_t from, hid_t to, std::size_t count, std::size_t stride, void* buffer) {
    const InPlace elements{static_cast<std::byte*>(buffer), count, h5.Tget_size(from),
                           h5.Tget_size(to)};
    if (const auto file = file_of_sequences(to)) {
      Regions& regions = regions_of(*file);
      return elements.each(stride, [&](const auto& before, auto& after) {
        regions.to_file(before.data(), after.data());
      });
    }
    Regions& regions = regions_of(file_of_sequences(from).value_or(0));
    const bool is_new = is_new_reference(to);
    elements.each(stride, [&](const auto& before, auto& after) {
      if (is_new)
        regions.from_file_as(to, before.data(), after);
      else
        regions.from_file(before.data(), after.data());
    });
  }

  // As HDF5 calls it.
  static herr_t call(hid_t from, hid_t to, H5T_cdata_t* data, std::size_t count, std::size_t stride,
                     std::size_t /*background_stride*/, void* buffer, void* /*background*/,
                     hid_t /*list*/) try {
    if (data->command == H5T_CONV_INIT) {
      data->need_bkg = H5T_BKG_NO;
      const bool writes = is_region_reference(from) && file_of_sequences(to);
      const bool reads =
          file_of_sequences(from) && (is_region_reference(to) || is_new_reference(to));
      return writes || reads ? 0 : -1;
    }
    if (data->command == H5T_CONV_CONV) run(from, to, count, stride, buffer);
    return 0;
  } catch (...) {
    push_current_exception("region references");
    return -1;
  }
};

namespace {

// HDF5 forgets it when it ends, and may begin anew.
void register_conversions() {
  static bool are_known = false;
  if (are_known) return;
  const Id<Kind::datatype> byte(h5.Tcreate(H5T_OPAQUE, 1));
  const Id<Kind::datatype> sequence(h5.Tvlen_create(byte.get()));
  const hid_t reference = h5.region_type.get();
  if (h5.Tregister(H5T_PERS_SOFT, "region_in", reference, sequence.get(), RegionConversion::call) <
          0 ||
      h5.Tregister(H5T_PERS_SOFT, "region_out", sequence.get(), reference, RegionConversion::call) <
          0)
    throw Error("HDF5 takes no conversion of region references: " + root_cause());
  are_known = true;
  before_library_ends({[] { return are_known; }, [] { are_known = false; }});
}

}  // namespace

Regions::Regions(objects::Heaps& heaps, vol::FaceMemory& memory,
                 std::function<Id<Kind::datatype>(hid_t)> in_file)
    : heaps_(heaps), memory_(memory), in_file_(std::move(in_file)), number_(next_number()) {
  all_files()[number_] = this;
}

Regions::~Regions() { all_files().erase(number_); }

Id<Kind::datatype> Regions::with_sequences(hid_t type) const {
  register_conversions();
  return object::with_sequences(type, number_);
}

void Regions::to_file(const std::byte* reference, std::byte* element) {
  Reference in_memory;
  std::memcpy(&in_memory, reference, sizeof in_memory);
  haddr_t heap = 0;
  std::memcpy(&heap, reference, sizeof heap);
  std::memset(element, 0, kStored);
  if (heap == 0) return;  // it leads nowhere
  const auto content = memory_.content_of(in_memory);
  if (!content) throw Error("a region reference leads to no region: it was made for another file");
  Stored stored{static_cast<std::uint32_t>(content->size()),
                heaps_.put(std::as_bytes(std::span(*content)))};
  std::memcpy(element, &stored.bytes, sizeof stored.bytes);
  std::memcpy(element + sizeof stored.bytes, &stored.place, sizeof stored.place);
}

void Regions::from_file(const std::byte* element, std::byte* reference) {
  Stored stored;
  std::memcpy(&stored.bytes, element, sizeof stored.bytes);
  std::memcpy(&stored.place, element + sizeof stored.bytes, sizeof stored.place);
  std::memset(reference, 0, sizeof(Reference));
  if (stored.place.heap == 0) return;
  if (stored.bytes != stored.place.size || stored.bytes <= kToken)
    throw Error("a region reference is damaged", ErrorKind::corrupt);
  std::string content(stored.bytes, '\0');
  heaps_.get(stored.place, std::as_writable_bytes(std::span(content)));
  const Reference in_memory = memory_.reference_to(content);
  std::memcpy(reference, &in_memory, sizeof in_memory);
}

void Regions::from_file_as(hid_t type, const std::byte* element, std::span<std::byte> reference) {
  std::array<std::byte, sizeof(H5R_ref_t)> both{};
  std::array<std::byte, sizeof(H5R_ref_t)> background{};
  from_file(element, both.data());
  const Id<Kind::datatype> old = in_file_(h5.region_type.get());
  if (h5.Tconvert(old.get(), type, 1, both.data(), background.data(), kDefaultPlist) < 0)
    throw Error("a region reference does not convert: " + root_cause());
  std::memcpy(reference.data(), both.data(), reference.size());
}

}  // namespace headrace::object
