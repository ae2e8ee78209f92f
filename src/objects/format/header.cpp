#include "objects/format/header.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <utility>

#include "base/little_endian.hpp"
#include "base/report/printable.hpp"
#include "engine/checksum.hpp"
#include "objects/format/fields.hpp"

namespace headrace::objects {
namespace {

constexpr std::uint8_t kHeaderVersion = 1;
constexpr std::size_t kMostDims = 32;

constexpr std::uint8_t kInOrder = 0x80;
constexpr std::uint8_t kKept = 0x40;
enum Flag : std::uint8_t { kIsNull = 1, kHasData = 2, kHasChunks = 4 };

std::uint32_t checksum_of(std::string_view bytes) {
  return engine::checksum(std::as_bytes(std::span(bytes)));
}

void put_dims(std::string& bytes, const std::vector<std::uint64_t>& dims) {
  put_varint(bytes, dims.size());
  for (const std::uint64_t dim : dims) put_varint(bytes, dim);
}

std::vector<std::uint64_t> take_dims(std::string_view& bytes) {
  std::vector<std::uint64_t> dims(take_count(bytes));
  if (dims.size() > kMostDims) fail_damaged("an extent");
  for (std::uint64_t& dim : dims) dim = take_varint(bytes);
  return dims;
}

void put_attribute(std::string& bytes, const Attribute& attribute) {
  put_text(bytes, attribute.name);
  bytes += static_cast<char>(attribute.utf8);
  put_varint(bytes, attribute.stamp);
  put_text(bytes, attribute.type);
  put_text(bytes, attribute.space);
  put_text(bytes, attribute.value);
}

Attribute take_attribute(std::string_view& bytes) {
  Attribute attribute;
  attribute.name = take_text(bytes);
  const std::uint8_t utf8 = take_byte(bytes);
  if (utf8 > 1) fail_damaged("an attribute");
  attribute.utf8 = utf8 == 1;
  attribute.stamp = take_varint(bytes);
  attribute.type = take_text(bytes);
  attribute.space = take_text(bytes);
  attribute.value = take_text(bytes);
  return attribute;
}

void put_cuts(std::string& bytes, const std::vector<Cut>& cuts) {
  put_varint(bytes, cuts.size());
  for (const Cut& one : cuts) {
    put_varint(bytes, one.epoch);
    for (const std::uint64_t dim : one.dims) put_varint(bytes, dim);
  }
}

// Of a header whose dims and epoch are known.
void take_cuts(std::string_view& bytes, Header& header) {
  Cut before{0, std::vector<std::uint64_t>(header.dims.size())};
  for (std::size_t left = take_count(bytes); left > 0; --left) {
    Cut one = before;
    one.epoch = take_varint(bytes);
    bool is_damaged = one.epoch <= before.epoch || one.epoch > header.epoch;
    for (std::size_t d = 0; d < one.dims.size(); ++d) {
      one.dims[d] = take_varint(bytes);
      is_damaged = is_damaged || one.dims[d] < before.dims[d];
    }
    if (is_damaged) fail_damaged("an extent that was cut");
    before = one;
    header.cuts.push_back(std::move(one));
  }
}

void put_dataset(std::string& bytes, const Header& header) {
  put_dims(bytes, header.dims);
  put_dims(bytes, header.max_dims);
  bytes += static_cast<char>((header.is_null ? kIsNull : 0) | (header.data ? kHasData : 0) |
                             (header.chunk.empty() ? 0 : kHasChunks));
  for (const std::uint64_t length : header.chunk) put_varint(bytes, length);
  put_varint(bytes, header.epoch);
  put_cuts(bytes, header.cuts);
  if (header.data) put_text(bytes, *header.data);
}

// Of a header whose dims are known.
void take_chunk(std::string_view& bytes, Header& header) {
  header.chunk.resize(header.dims.size());
  for (std::uint64_t& length : header.chunk) length = take_varint(bytes);
  if (header.chunk.empty() || std::ranges::find(header.chunk, 0U) != header.chunk.end())
    fail_damaged("the size of a dataset's chunks");
}

void take_dataset(std::string_view& bytes, Header& header) {
  header.dims = take_dims(bytes);
  header.max_dims = take_dims(bytes);
  const std::uint8_t flags = take_byte(bytes);
  header.is_null = (flags & kIsNull) != 0;
  if (header.dims.size() != header.max_dims.size() || flags > (kIsNull | kHasData | kHasChunks) ||
      (header.is_null && !header.dims.empty()))
    fail_damaged("an extent");
  if ((flags & kHasChunks) != 0) take_chunk(bytes, header);
  header.epoch = take_varint(bytes);
  take_cuts(bytes, header);
  if ((flags & kHasData) != 0) header.data = take_text(bytes);
}

// Of what both may have changed.
template <typename T>
T merged(const T& base, const T& mine, const T& theirs, const std::string& what,
         std::vector<std::string>& lost) {
  if (mine == base || mine == theirs) return theirs;
  if (theirs == base) return mine;
  lost.push_back(what);
  return theirs;
}

auto by_name(std::vector<Attribute>& attributes, std::string_view name) {
  return std::ranges::lower_bound(attributes, name, {}, &Attribute::name);
}

std::optional<Attribute> attribute_of(const Header& header, std::string_view name) {
  const Attribute* const found = header.find(name);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

void set(Header& header, const std::string& name, std::optional<Attribute> attribute) {
  const auto at = by_name(header.attributes, name);
  const bool is_there = at != header.attributes.end() && at->name == name;
  if (attribute && is_there)
    *at = std::move(*attribute);
  else if (attribute)
    header.attributes.insert(at, std::move(*attribute));
  else if (is_there)
    header.attributes.erase(at);
}

void merge_attributes(const Header& base, const Header& mine, Header& result,
                      std::vector<std::string>& lost) {
  std::set<std::string> names;
  for (const Header* const one : {&base, &mine})
    for (const Attribute& attribute : one->attributes) names.insert(attribute.name);
  for (const std::string& name : names)
    set(result, name,
        merged(attribute_of(base, name), attribute_of(mine, name), attribute_of(result, name),
               "attribute " + printable(name), lost));
}

}  // namespace

std::size_t Header::size() const {
  std::size_t bytes = creation.size() + comment.size() + type.size() + value_type.size() +
                      key_form.size() + (data ? data->size() : 0);
  for (const Attribute& one : attributes)
    bytes += sizeof one + one.name.size() + one.type.size() + one.space.size() + one.value.size();
  for (const Cut& one : cuts) bytes += sizeof one + one.dims.size() * sizeof one.dims[0];
  return bytes;
}

const Attribute* Header::find(std::string_view name) const {
  const auto at = std::ranges::lower_bound(attributes, name, {}, &Attribute::name);
  return at == attributes.end() || at->name != name ? nullptr : &*at;
}

// Of the cuts after a chunk was stored, the first one has the smallest dims: it tells all.
void cut(Header& header, const std::vector<std::uint64_t>& dims) {
  bool shrinks = false;
  for (std::size_t d = 0; d < dims.size(); ++d) shrinks = shrinks || dims[d] < header.dims[d];
  header.dims = dims;
  if (!shrinks) return;
  std::vector<Cut> cuts = std::exchange(header.cuts, {});
  cuts.push_back({++header.epoch, dims});
  for (Cut& one : cuts) {
    for (std::size_t d = 0; d < dims.size(); ++d) one.dims[d] = std::min(one.dims[d], dims[d]);
    if (!header.cuts.empty() && header.cuts.back().dims == one.dims)
      header.cuts.back().epoch = one.epoch;
    else
      header.cuts.push_back(std::move(one));
  }
}

const char* word_of(Header::Kind kind) {
  constexpr std::array kWords{"group", "dataset", "datatype", "map"};
  return kWords.at(static_cast<std::size_t>(kind));
}

std::string encode(const Header& header) {
  std::string bytes;
  bytes += static_cast<char>(kHeaderVersion);
  bytes += static_cast<char>(static_cast<unsigned>(header.kind) |
                             (header.in_order ? kInOrder : 0U) | (header.kept ? kKept : 0U));
  for (const std::uint64_t number : {header.links, header.created, header.changed, header.stamps})
    put_varint(bytes, number);
  put_text(bytes, header.creation);
  put_text(bytes, header.comment);
  put_varint(bytes, header.attributes.size());
  for (const Attribute& attribute : header.attributes) put_attribute(bytes, attribute);
  if (header.kind != Header::Kind::group) put_text(bytes, header.type);
  if (header.kind == Header::Kind::dataset) put_dataset(bytes, header);
  if (header.kind == Header::Kind::map) {
    put_text(bytes, header.value_type);
    put_text(bytes, header.key_form);
  }
  std::array<std::byte, kChecksum> checksum{};
  put_little_endian(checksum.data(), checksum_of(bytes));
  return bytes.append(reinterpret_cast<const char*>(checksum.data()), checksum.size());
}

Header decode_header(std::string_view bytes) {
  if (bytes.size() < kChecksum) fail_damaged("the header of an object");
  const std::string_view checksum = bytes.substr(bytes.size() - kChecksum);
  bytes.remove_suffix(kChecksum);
  if (little_endian<std::uint32_t>(std::as_bytes(std::span(checksum)).data()) != checksum_of(bytes))
    fail_damaged("the header of an object");
  if (take_byte(bytes) != kHeaderVersion)
    throw Error("the header of an object is of another version of Headrace",
                ErrorKind::unsupported);
  Header header;
  const std::uint8_t first = take_byte(bytes);
  const std::uint8_t kind = first & ~(kInOrder | kKept);
  header.in_order = (first & kInOrder) != 0;
  header.kept = (first & kKept) != 0;
  if (kind > static_cast<std::uint8_t>(Header::Kind::map)) fail_damaged("a kind of object");
  header.kind = static_cast<Header::Kind>(kind);
  for (std::uint64_t* const number :
       {&header.links, &header.created, &header.changed, &header.stamps})
    *number = take_varint(bytes);
  header.creation = take_text(bytes);
  header.comment = take_text(bytes);
  for (std::size_t left = take_count(bytes); left > 0; --left) {
    header.attributes.push_back(take_attribute(bytes));
    const auto last = header.attributes.rbegin();
    if (header.attributes.size() > 1 && (last + 1)->name >= last->name)
      fail_damaged("a list of attributes");
  }
  if (header.kind != Header::Kind::group) header.type = take_text(bytes);
  if (header.kind == Header::Kind::dataset) take_dataset(bytes, header);
  if (header.kind == Header::Kind::map) {
    header.value_type = take_text(bytes);
    header.key_form = take_text(bytes);
  }
  if (!bytes.empty()) fail_damaged("the header of an object");
  return header;
}

Header merge(const Header& base, const Header& mine, const Header& theirs,
             std::vector<std::string>& lost) {
  Header result = theirs;
  result.links = theirs.links + (mine.links - base.links);
  result.kept = mine.kept || theirs.kept;
  result.changed = std::max(mine.changed, theirs.changed);
  result.stamps = std::max(mine.stamps, theirs.stamps);
  result.comment = merged(base.comment, mine.comment, theirs.comment, "the comment", lost);
  merge_attributes(base, mine, result, lost);
  // They belong together: elements that were cut off are of an extent and an epoch.
  const auto elements_of = [](const Header& header) {
    return std::tuple(header.dims, header.epoch, header.cuts, header.data);
  };
  std::tie(result.dims, result.epoch, result.cuts, result.data) = merged(
      elements_of(base), elements_of(mine), elements_of(theirs), "the extent or elements", lost);
  return result;
}

}  // namespace headrace::objects
