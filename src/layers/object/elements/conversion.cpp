#include "layers/object/elements/conversion.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "hdf5/error_stack.hpp"
#include "layers/object/elements/data_transform.hpp"
#include "vol/dataset/elements.hpp"

namespace headrace::object {
namespace {

bool is_compound(hid_t type) { return h5.Tget_class(type) == H5T_COMPOUND; }

bool is_single(hid_t type) {
  const H5T_class_t kind = h5.Tget_class(type);
  return kind != H5T_COMPOUND && kind != H5T_ARRAY && vol::is_flat(type);
}

std::string name_of_member(hid_t type, unsigned member) {
  const std::unique_ptr<char, herr_t (*)(void*)> name(h5.Tget_member_name(type, member),
                                                      h5.free_memory);
  if (name == nullptr) throw Error("HDF5 does not name a member of a type: " + root_cause());
  return name.get();
}

// The member of that name; none where there is none.
Id<Kind::datatype> member_of(hid_t type, const std::string& name) {
  const int members = h5.Tget_nmembers(type);
  for (int i = 0; i < members; ++i) {
    const auto member = static_cast<unsigned>(i);
    if (name_of_member(type, member) == name)
      return Id<Kind::datatype>(h5.Tget_member_type(type, member));
  }
  return {};
}

}  // namespace

Conversion::Conversion(hid_t from, hid_t to, hid_t list, Memory memory)
    : from_(from), to_(to), list_(list), is_alike_(h5.Tequal(from, to) > 0) {
  if (has_data_transform(list)) transforms_ = memory;
  converts_ = !is_alike_ || transforms_;
  target_ = h5.Tget_size(to);
  room_ = std::max(h5.Tget_size(from), target_);
  if (room_ == 0) throw Error("a type has no size: " + root_cause());
  if (is_alike_) return;
  single_ = is_single(from) && is_single(to);
  if (!single_) compare(from, to, 0);
}

void Conversion::require() const {
  if (!is_alike_ && h5.Tconvert(from_, to_, 0, nullptr, nullptr, list_) < 0)
    throw Error("the types do not convert: " + root_cause());
}

void Conversion::compare(hid_t from, hid_t to, std::size_t offset) {
  if (!is_compound(from) || !is_compound(to)) {
    // Of a sequence or an array HDF5 needs nothing that was there, but for members of compounds.
    keeps_ = keeps_ || (h5.Tget_class(to) == H5T_ARRAY && h5.Tdetect_class(to, H5T_COMPOUND) > 0);
    if (!vol::is_flat(to)) overwritten_.push_back({offset, h5.Tget_size(to)});
    return;
  }
  const int members = h5.Tget_nmembers(to);
  std::size_t bytes = 0;
  for (int i = 0; i < members; ++i) {
    const auto member = static_cast<unsigned>(i);
    bytes += h5.Tget_size(Id<Kind::datatype>(h5.Tget_member_type(to, member)).get());
    const Id<Kind::datatype> source = member_of(from, name_of_member(to, member));
    if (!source) {
      keeps_ = true;
      continue;
    }
    const Id<Kind::datatype> target(h5.Tget_member_type(to, member));
    compare(source.get(), target.get(), offset + h5.Tget_member_offset(to, member));
  }
  keeps_ = keeps_ || bytes < h5.Tget_size(to);  // there are gaps between members
}

void Conversion::run(std::uint64_t count, engine::Buffer& elements,
                     engine::Buffer& background) const {
  if (transforms_ == Memory::source) transform_data(list_, from_, count, elements);
  if (!is_alike_) convert(count, elements, background);
  if (transforms_ == Memory::target) transform_data(list_, to_, count, elements);
}

void Conversion::convert(std::uint64_t count, engine::Buffer& elements,
                         engine::Buffer& background) const {
  if (!single_ && !keeps_) {
    background = engine::Buffer(count * room_);
    std::memset(background.data(), 0, background.size());
  } else if (!single_) {
    for (std::uint64_t i = 0; i < count; ++i)
      for (const Range& range : overwritten_)
        std::memset(background.data() + i * target_ + range.first, 0, range.size);
  }
  if (h5.Tconvert(from_, to_, count, elements.data(), single_ ? nullptr : background.data(),
                  list_) < 0)
    throw Error("the types do not convert: " + root_cause());
}

}  // namespace headrace::object
