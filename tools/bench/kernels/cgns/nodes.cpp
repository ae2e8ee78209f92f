#include "kernels/cgns/nodes.hpp"

#include "kernels/shared/attributes.hpp"

namespace headrace::bench::cgns {
namespace {

// With the nulls that end them.
constexpr std::size_t kName = 33;
constexpr std::size_t kType = 3;
constexpr std::size_t kVersion = 33;

void write_kind(hid_t group, const std::string& name, const std::string& label,
                const std::string& type) {
  write_text(group, "name", name, kName);
  write_text(group, "label", label, kName);
  write_text(group, "type", type, kType);
}

void write_dataset(hid_t group, const char* name, hid_t type, const std::vector<hsize_t>& dims,
                   const void* values) {
  const Handle space(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr),
                     H5Sclose, "dataspace");
  Handle dataset(H5Dcreate2(group, name, type, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                 H5Dclose, std::string("create dataset") + name);
  check(H5Dwrite(dataset.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values),
        std::string("write dataset") + name);
  dataset.close();
}

void write_root_text(hid_t file, const char* name, std::string text, std::size_t size) {
  text.resize(size);
  write_dataset(file, name, H5T_NATIVE_CHAR, {size}, text.data());
}

}  // namespace

Handle ordered(hid_t list_class) {
  Handle list(H5Pcreate(list_class), H5Pclose, "creation property list");
  check(H5Pset_link_creation_order(list.get(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED),
        "order of creation");
  return list;
}

Node::Node(hid_t parent, const std::string& name, const std::string& label,
           const std::string& type) {
  const Handle list = ordered(H5P_GROUP_CREATE);
  group_ = Handle(H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, list.get(), H5P_DEFAULT), H5Gclose,
                  "create group " + name);
  write_kind(group_.get(), name, label, type);
  write_number<std::int32_t>(group_.get(), "flags", 1);
}

void Node::write(hid_t type, const std::vector<hsize_t>& dims, const void* values) const {
  write_dataset(group_.get(), " data", type, dims, values);
}

void Node::write_text(std::string_view text) const {
  write(H5T_NATIVE_CHAR, {text.size()}, text.data());
}

Handle Node::create_array(hid_t type, hsize_t length) const {
  const Handle dcpl(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "creation property list");
  check(H5Pset_layout(dcpl.get(), H5D_CONTIGUOUS), "layout");
  check(H5Pset_alloc_time(dcpl.get(), H5D_ALLOC_TIME_EARLY), "allocation time");
  check(H5Pset_fill_time(dcpl.get(), H5D_FILL_TIME_NEVER), "fill time");
  const Handle space(H5Screate_simple(1, &length, nullptr), H5Sclose, "dataspace");
  return {
      H5Dcreate2(group_.get(), " data", type, space.get(), H5P_DEFAULT, dcpl.get(), H5P_DEFAULT),
      H5Dclose, "create dataset  data"};
}

void write_root(hid_t file) {
  constexpr float kLibraryVersion = 4.4F;
  const std::string format = "IEEE_LITTLE_32";
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  check(H5get_libversion(&major, &minor, &release), "version of HDF5");
  write_kind(file, "HDF5 MotherNode", "Root Node of HDF5 File", "MT");
  write_root_text(file, " format", format, format.size() + 1);
  write_root_text(file, " hdf5version",
                  "HDF5 Version " + std::to_string(major) + '.' + std::to_string(minor) + '.' +
                      std::to_string(release),
                  kVersion);
  const Node version(file, "CGNSLibraryVersion", "CGNSLibraryVersion_t", "R4");
  version.write(H5T_NATIVE_FLOAT, {1}, &kLibraryVersion);
}

}  // namespace headrace::bench::cgns
