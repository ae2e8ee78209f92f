#include "layers/object/container/encoded.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "base/error.hpp"
#include "hdf5/error_stack.hpp"
#include "hdf5/lifecycle.hpp"
#include "layers/object/elements/fill.hpp"
#include "objects/keys.hpp"

namespace headrace::object {
namespace {

// By a function of HDF5's that is asked for the size first.
template <typename Encode>
std::string encoded(const char* what, const Encode& encode) {
  std::size_t size = 0;
  std::string text;
  if (encode(nullptr, &size) >= 0) {
    text.resize(size);
    if (encode(text.data(), &size) >= 0) {
      text.resize(size);
      return text;
    }
  }
  throw Error(std::string("HDF5 does not encode ") + what + ": " + root_cause());
}

// Lists that were decoded, by their texts: files and datasets mostly have few different ones.
using DecodedLists = std::map<std::string, Id<Kind::plist>>;
DecodedLists& decoded_lists() {
  // Leaked on purpose: HDF5 closes files after C++ statics are gone.
  static auto& lists = *new DecodedLists();
  return lists;
}

}  // namespace

std::string encoded_type(hid_t type) {
  return objects::kInlineType + encoded("the type", [&](void* bytes, std::size_t* size) {
           return h5.Tencode(type, bytes, size);
         });
}

Id<Kind::datatype> decoded_type(const std::string& text) {
  const std::string plain = without_reference(text);
  Id<Kind::datatype> type;
  if (plain.size() > 1 && plain.front() == objects::kInlineType)
    type = Id<Kind::datatype>(h5.decode_type_of != nullptr
                                  ? h5.decode_type_of(plain.data() + 1, plain.size() - 1)
                                  : h5.decode_type(plain.data() + 1));
  if (!type) throw Error("a type in the container is damaged", ErrorKind::corrupt);
  return type;
}

std::string encoded_space(hid_t space) {
  return encoded("the dataspace", [&](void* bytes, std::size_t* size) {
    return h5.Sencode2(space, bytes, size, kDefaultPlist);
  });
}

Id<Kind::dataspace> decoded_space(const std::string& text) {
  Id<Kind::dataspace> space(text.empty() ? kInvalidId : h5.Sdecode(text.data()));
  if (!space) throw Error("a dataspace in the container is damaged", ErrorKind::corrupt);
  return space;
}

std::string encoded_list(hid_t list, hid_t usual) {
  if (list == usual || list == kDefaultPlist || h5.Pequal(list, usual) > 0) return {};
  return encoded("the property list", [&](void* bytes, std::size_t* size) {
    return h5.Pencode2(list, bytes, size, kDefaultPlist);
  });
}

Id<Kind::plist> decoded_list(const std::string& text, hid_t usual) {
  Id<Kind::plist> list(text.empty() ? h5.Pcopy(usual) : h5.Pdecode(text.data()));
  if (!list) throw Error("a property list in the container is damaged", ErrorKind::corrupt);
  return list;
}

Id<Kind::plist> shared_list(const std::string& text, hid_t usual) {
  constexpr std::size_t kLongestKept = 4096;
  constexpr std::size_t kMostKept = 64;
  if (text.empty()) return shared(usual);
  if (text.size() > kLongestKept) return decoded_list(text, usual);
  DecodedLists& kept = decoded_lists();
  if (const auto found = kept.find(text); found != kept.end()) return shared(found->second.get());
  Id<Kind::plist> list = decoded_list(text, usual);
  before_library_ends({[] { return !decoded_lists().empty(); }, [] { decoded_lists().clear(); }});
  if (kept.size() == kMostKept) kept.clear();
  return shared(kept.emplace(text, std::move(list)).first->second.get());
}

void put_extent(hid_t space, objects::Header& header) {
  header.is_null = h5.Sget_simple_extent_type(space) == H5S_NULL;
  const int rank = header.is_null ? 0 : h5.Sget_simple_extent_ndims(space);
  if (rank < 0) throw Error("the dataspace has no extent: " + root_cause());
  std::array<hsize_t, H5S_MAX_RANK> dims{};
  std::array<hsize_t, H5S_MAX_RANK> most{};
  if (rank > 0 && h5.Sget_simple_extent_dims(space, dims.data(), most.data()) < 0)
    throw Error("the dataspace has no extent: " + root_cause());
  header.dims.assign(dims.begin(), dims.begin() + rank);
  header.max_dims.assign(most.begin(), most.begin() + rank);
}

Id<Kind::dataspace> extent_of(const objects::Header& header) {
  const std::vector<hsize_t> dims(header.dims.begin(), header.dims.end());
  const std::vector<hsize_t> most(header.max_dims.begin(), header.max_dims.end());
  Id<Kind::dataspace> space(
      dims.empty() ? h5.Screate(header.is_null ? H5S_NULL : H5S_SCALAR)
                   : h5.Screate_simple(static_cast<int>(dims.size()), dims.data(), most.data()));
  if (!space) throw Error("HDF5 makes no dataspace: " + root_cause());
  return space;
}

}  // namespace headrace::object
