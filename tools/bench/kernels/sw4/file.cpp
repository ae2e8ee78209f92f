#include "kernels/sw4/file.hpp"

#include <initializer_list>

namespace headrace::bench::sw4 {
namespace {

void write_doubles(hid_t file, const char* name, std::initializer_list<double> values) {
  const hsize_t count = values.size();
  const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose, "dataspace");
  Handle dataset(
      H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      H5Dclose, std::string("create ") + name);
  check(H5Dwrite(dataset.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.begin()),
        std::string("write ") + name);
  dataset.close();
}

// The names and shapes of SW4's (ESSI3DHDF5.C), with some values.
void write_header(hid_t file) {
  write_doubles(file, "Grid lon-lat origin", {-122.0, 37.5});
  write_doubles(file, "Grid azimuth", {143.6});
  write_doubles(file, "ESSI xyz grid spacing", {12.5});
  write_doubles(file, "ESSI xyz origin", {0.0, 0.0, 0.0});
  write_doubles(file, "time start", {0.0});
  write_doubles(file, "timestep", {0.0015});
}

}  // namespace

void create_file(const std::string& path, const std::vector<Item>& items, const Cells& grid,
                 const Chunks& chunks, bool with_header) {
  Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose,
              "create " + path);
  if (with_header) write_header(file.get());
  const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose, "link property list");
  check(H5Pset_create_intermediate_group(links.get(), 1), "intermediate groups");
  const Handle dcpl(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "creation property list");
  check(H5Pset_alloc_time(dcpl.get(), H5D_ALLOC_TIME_LATE), "allocation time");
  if (!chunks.shape.empty()) {
    check(H5Pset_chunk(dcpl.get(), static_cast<int>(chunks.shape.size()), chunks.shape.data()),
          "chunk");
    check(H5Pset_deflate(dcpl.get(), chunks.gzip), "gzip");
    check(H5Pset_alloc_time(dcpl.get(), H5D_ALLOC_TIME_INCR), "allocation time");
  }
  for (const Item& item : items) {
    const std::vector<hsize_t> shape = item.shape(grid);
    const Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
                       H5Sclose, "dataspace");
    Handle dataset(
        H5Dcreate2(file.get(), item.path.c_str(), item.wide ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT,
                   space.get(), links.get(), dcpl.get(), H5P_DEFAULT),
        H5Dclose, "create dataset " + item.path);
    dataset.close();
  }
  file.close();
}

}  // namespace headrace::bench::sw4
