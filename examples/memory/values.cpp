#include "values.hpp"

#include <algorithm>
#include <cstring>

namespace memory {
namespace {

using Bytes = std::vector<std::byte>;

// The type as the file has it: its conversion puts what has variable length into blobs of the file.
Id<Kind::datatype> file_type(const vol::TerminalObject& object, hid_t type) {
  const Id<Kind::vol> connector(h5.VLget_connector_id_by_name("headrace_memory"));
  auto* const self = const_cast<vol::TerminalObject*>(&object);
  Id<Kind::datatype> in_file(h5.VLget_file_type(self, connector.get(), type));
  if (!in_file) throw Error("the type has no form in a file: " + root_cause());
  return in_file;
}

// A selection, in place of which H5S_ALL may stand for all of `whole`.
Id<Kind::dataspace> selection_of(hid_t space, hid_t whole) {
  const bool all = space <= H5S_PLIST;
  Id<Kind::dataspace> copy(h5.Scopy(all ? whole : space));
  if (!copy) throw Error("the selection cannot be copied");
  if (all) h5.Sselect_all(copy.get());
  return copy;
}

std::uint64_t selected_in(hid_t space) {
  const hssize_t count = h5.Sget_select_npoints(space);
  if (count < 0 || h5.Sselect_valid(space) <= 0)
    throw Error("the selection is not within the dataspace");
  return static_cast<std::uint64_t>(count);
}

void gather(hid_t space, const void* from, hid_t type, Bytes& to, std::uint64_t count) {
  const std::size_t size = count * h5.Tget_size(type);
  if (h5.Dgather(space, from, type, size, to.data(), nullptr, nullptr) < 0)
    throw Error("elements cannot be gathered: " + root_cause());
}

void scatter(const Bytes& from, hid_t type, std::uint64_t count, hid_t space, void* to) {
  struct Source {
    const void* data;
    std::size_t bytes;
  } source{from.data(), count * h5.Tget_size(type)};
  const auto give = [](const void** data, std::size_t* bytes, void* all) -> herr_t {
    *data = static_cast<Source*>(all)->data;
    *bytes = static_cast<Source*>(all)->bytes;
    return 0;
  };
  if (h5.Dscatter(give, &source, type, space, to) < 0)
    throw Error("elements cannot be scattered: " + root_cause());
}

// So many elements of a creation list's fill value: of variable length, each has blobs of its own.
Bytes filled(std::uint64_t count, hid_t type, hid_t in_file, hid_t dcpl) {
  const std::size_t size = h5.Tget_size(type);
  Bytes fill(size);
  if (h5.Pget_fill_value(dcpl, type, fill.data()) < 0)
    throw Error("the fill value cannot be read: " + root_cause());
  Bytes all(count * std::max(size, h5.Tget_size(in_file)));
  Bytes background(all.size());
  for (std::uint64_t i = 0; i < count; ++i) std::memcpy(&all[i * size], fill.data(), size);
  const bool converted =
      h5.Tconvert(type, in_file, count, all.data(), background.data(), kDefaultPlist) >= 0;
  constexpr hsize_t kOne = 1;
  const Id<Kind::dataspace> one(h5.Screate_simple(1, &kOne, nullptr));
  h5.Treclaim(type, one.get(), kDefaultPlist, fill.data());
  if (!converted) throw Error("the fill value does not convert: " + root_cause());
  all.resize(count * h5.Tget_size(in_file));
  return all;
}

// Makes the elements, if there are none yet: of the creation list's fill value, or zeros.
void make(Values& values, hid_t in_file, hid_t dcpl) {
  const std::uint64_t count = elements_of(values.space.get());
  if (!values.bytes.empty() || count == 0) return;
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  const bool fills = dcpl != kInvalidId && h5.Pfill_value_defined(dcpl, &defined) >= 0 &&
                     defined == H5D_FILL_VALUE_USER_DEFINED;
  values.bytes = fills ? filled(count, values.type.get(), in_file, dcpl)
                       : Bytes(count * h5.Tget_size(in_file));
}

// Whether elements lead to more than their bytes: strings or sequences of variable length.
bool varies(hid_t type) {
  const H5T_class_t kind = h5.Tget_class(type);
  if (kind == H5T_STRING) return h5.Tis_variable_str(type) > 0;
  if (kind == H5T_ARRAY) return varies(Id<Kind::datatype>(h5.Tget_super(type)).get());
  if (kind != H5T_COMPOUND) return kind == H5T_VLEN;
  const int members = h5.Tget_nmembers(type);
  for (int i = 0; i < members; ++i)
    if (varies(Id<Kind::datatype>(h5.Tget_member_type(type, static_cast<unsigned>(i))).get()))
      return true;
  return false;
}

// Both ways: what a transfer needs of types, selections and room.
struct Transfer {
  Transfer(const vol::TerminalObject& object, Values& values, hid_t mem_type, hid_t mem_space,
           hid_t file_space, hid_t dcpl)
      : type(file_type(object, values.type.get())),
        file(selection_of(file_space, values.space.get())),
        // H5S_ALL in memory is the file's selection, in an array of the file's extent.
        memory(mem_space <= H5S_PLIST ? h5.Scopy(file.get()) : h5.Scopy(mem_space)),
        count(selected_in(file.get())) {
    if (selected_in(memory.get()) != count)
      throw Error("memory and file selections have different numbers of elements");
    const std::size_t element = std::max(h5.Tget_size(type.get()), h5.Tget_size(mem_type));
    elements.resize(count * element);
    background.resize(count * element);
    make(values, type.get(), dcpl);
  }
  void convert(hid_t from, hid_t to) {
    if (h5.Tconvert(from, to, count, elements.data(), background.data(), kDefaultPlist) < 0)
      throw Error("the types do not convert: " + root_cause());
  }
  Id<Kind::datatype> type;
  Id<Kind::dataspace> file;
  Id<Kind::dataspace> memory;
  std::uint64_t count;
  Bytes elements;
  Bytes background;  // what a conversion of some members of a compound type keeps
};

}  // namespace

void require_plain(hid_t type, const std::string& what) {
  if (h5.Tdetect_class(type, H5T_REFERENCE) > 0)
    throw Error(what + " cannot be created: headrace_memory holds no references");
}

std::uint64_t elements_of(hid_t space) {
  return static_cast<std::uint64_t>(std::max<hssize_t>(h5.Sget_simple_extent_npoints(space), 0));
}

std::uint64_t size_of(const vol::TerminalObject& object, const Values& values) {
  const Id<Kind::datatype> type = file_type(object, values.type.get());
  return elements_of(values.space.get()) * h5.Tget_size(type.get());
}

void write(const vol::TerminalObject& object, Values& values, hid_t mem_type, hid_t mem_space,
           hid_t file_space, const void* buffer, hid_t dcpl) {
  Transfer transfer(object, values, mem_type, mem_space, file_space, dcpl);
  if (transfer.count == 0) return;
  gather(transfer.memory.get(), buffer, mem_type, transfer.elements, transfer.count);
  gather(transfer.file.get(), values.bytes.data(), transfer.type.get(), transfer.background,
         transfer.count);
  transfer.convert(mem_type, transfer.type.get());
  scatter(transfer.elements, transfer.type.get(), transfer.count, transfer.file.get(),
          values.bytes.data());
}

void read(const vol::TerminalObject& object, Values& values, hid_t mem_type, hid_t mem_space,
          hid_t file_space, void* buffer, hid_t dcpl) {
  Transfer transfer(object, values, mem_type, mem_space, file_space, dcpl);
  if (transfer.count == 0) return;
  gather(transfer.file.get(), values.bytes.data(), transfer.type.get(), transfer.elements,
         transfer.count);
  if (!varies(mem_type))
    gather(transfer.memory.get(), buffer, mem_type, transfer.background, transfer.count);
  transfer.convert(transfer.type.get(), mem_type);
  scatter(transfer.elements, mem_type, transfer.count, transfer.memory.get(), buffer);
}

void release(const vol::TerminalObject& object, Values& values) {
  const hid_t type = values.type.get();
  if (values.bytes.empty() || !varies(type)) return;
  const Bytes nothing(elements_of(values.space.get()) * h5.Tget_size(type));
  write(object, values, type, H5S_ALL, H5S_ALL, nothing.data());
}

}  // namespace memory
