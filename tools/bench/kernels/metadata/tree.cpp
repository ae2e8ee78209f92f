#include "kernels/metadata/tree.hpp"

#include <cstdio>
#include <cstring>

#include "base/error.hpp"

namespace headrace::bench::metadata {
namespace {

std::string numbered(const char* what, std::uint64_t number) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%s_%06llu", what,
                static_cast<unsigned long long>(number));
  return text.data();
}

std::string attribute_value(const std::string& path, std::uint64_t attribute) {
  const auto bits = value<std::uint64_t>(key_of(path + '/' + attribute_name(attribute)), 0);
  if (attribute % 2 == 0) {
    std::string bytes(sizeof bits, '\0');
    std::memcpy(bytes.data(), &bits, sizeof bits);
    return bytes;
  }
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(bits));
  return text.data();
}

struct Entry {
  std::string name;
  H5O_type_t type;
  hsize_t attributes;
};

extern "C" herr_t add_entry(hid_t group, const char* name, const H5L_info2_t* /*link*/,
                            void* entries) {
  H5O_info2_t info;
  if (H5Oget_info_by_name3(group, name, &info, H5O_INFO_BASIC | H5O_INFO_NUM_ATTRS, H5P_DEFAULT) <
      0)
    return -1;
  try {
    static_cast<std::vector<Entry>*>(entries)->push_back({name, info.type, info.num_attrs});
  } catch (const std::exception&) {
    return -1;  // no memory; the caller of H5Literate2 tells of it
  }
  return 0;
}

std::vector<Entry> entries_of(hid_t group, const std::string& name) {
  std::vector<Entry> all;
  hsize_t index = 0;
  check(H5Literate2(group, H5_INDEX_NAME, H5_ITER_INC, &index, &add_entry, &all), "list " + name);
  return all;
}

template <typename NameOf>
void verify_entries(const std::vector<Entry>& found, std::uint64_t count, const NameOf& name_of,
                    H5O_type_t type, std::uint64_t attributes, const std::string& where) {
  if (found.size() != count)
    throw Error(where + " has " + std::to_string(found.size()) + " members instead of " +
                std::to_string(count));
  for (std::uint64_t i = 0; i < count; ++i) {
    const Entry& each = found[i];
    if (each.name != name_of(i))
      throw Error(where + " has " + each.name + " where " + name_of(i) + " must be");
    if (each.type != type) throw Error(where + ": " + each.name + " is another kind of object");
    if (each.attributes != attributes)
      throw Error(where + ": " + each.name + " has " + std::to_string(each.attributes) +
                  " attributes instead of " + std::to_string(attributes));
  }
}

}  // namespace

std::string group_name(std::uint64_t group) { return numbered("group", group); }
std::string dataset_name(std::uint64_t dataset) { return numbered("dataset", dataset); }
std::string attribute_name(std::uint64_t attribute) { return numbered("attribute", attribute); }
std::string path_of(std::uint64_t group, std::uint64_t dataset) {
  return '/' + group_name(group) + '/' + dataset_name(dataset);
}

Attributes::Attributes(std::uint64_t count)
    : text_(H5Tcopy(H5T_C_S1), H5Tclose, "text type"),
      scalar_(H5Screate(H5S_SCALAR), H5Sclose, "dataspace") {
  check(H5Tset_size(text_.get(), attribute_bytes(1)), "text size");
  check(H5Tset_strpad(text_.get(), H5T_STR_NULLPAD), "text padding");
  for (std::uint64_t i = 0; i < count; ++i) {
    names_.push_back(attribute_name(i));
    values_.emplace_back(attribute_bytes(i), '\0');
  }
}

hid_t Attributes::type(std::size_t i, bool in_file) const {
  if (i % 2 != 0) return text_.get();
  return in_file ? H5T_STD_I64LE : H5T_NATIVE_INT64;
}

void Attributes::fill(const std::string& path) {
  for (std::size_t i = 0; i < names_.size(); ++i) values_[i] = attribute_value(path, i);
}

void Attributes::create(hid_t object) {
  for (std::size_t i = 0; i < names_.size(); ++i)
    open_.emplace_back(H5Acreate2(object, names_[i].c_str(), type(i, true), scalar_.get(),
                                  H5P_DEFAULT, H5P_DEFAULT),
                       H5Aclose, "create " + names_[i]);
}

void Attributes::write() const {
  for (std::size_t i = 0; i < names_.size(); ++i)
    check(H5Awrite(open_[i].get(), type(i, false), values_[i].data()), "write attribute");
}

void Attributes::read(hid_t object) {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    Handle attribute(H5Aopen(object, names_[i].c_str(), H5P_DEFAULT), H5Aclose, names_[i]);
    check(H5Aread(attribute.get(), type(i, false), values_[i].data()), "read attribute");
    attribute.close();
  }
}

void Attributes::verify(const std::string& path) const {
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (values_[i] != attribute_value(path, i))
      throw Error("wrong data in attribute " + names_[i] + " of " + path);
}

std::uint64_t Attributes::bytes() const {
  std::uint64_t sum = 0;
  for (const std::string& each : values_) sum += each.size();
  return sum;
}

void list_tree(Run& run, hid_t file, const Shape& shape) {
  const std::vector<Entry> groups = run.timed(Phase::open, [&] { return entries_of(file, "/"); });
  run.untimed([&] { verify_entries(groups, shape.groups, group_name, H5O_TYPE_GROUP, 0, "/"); });
  for (const Entry& each : groups) {
    const std::vector<Entry> found = run.timed(Phase::open, [&] {
      Handle group(H5Gopen2(file, each.name.c_str(), H5P_DEFAULT), H5Gclose, "open " + each.name);
      std::vector<Entry> datasets = entries_of(group.get(), each.name);
      group.close();
      return datasets;
    });
    run.untimed([&] {
      verify_entries(found, shape.datasets, dataset_name, H5O_TYPE_DATASET, shape.attributes,
                     each.name);
    });
  }
}

}  // namespace headrace::bench::metadata
