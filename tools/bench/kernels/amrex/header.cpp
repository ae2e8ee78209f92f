#include "kernels/amrex/header.hpp"

#include "kernels/shared/attributes.hpp"

namespace headrace::bench::amrex {
namespace {

Handle compound(std::span<const char* const> members) {
  Handle type(H5Tcreate(H5T_COMPOUND, members.size() * sizeof(std::int32_t)), H5Tclose, "type");
  std::size_t offset = 0;
  for (const char* member : members) {
    check(H5Tinsert(type.get(), member, offset, H5T_NATIVE_INT), "type");
    offset += sizeof(std::int32_t);
  }
  return type;
}

void write_level(hid_t group, const Level& level, bool finest, double time) {
  const double size = 1.0 / level.domain;
  write_number<std::int32_t>(group, "ref_ratio", finest ? 1 : 2);
  write_numbers<double>(group, "Vec_dx", std::array{size, size, size});
  write_number<double>(group, "dx", size);
  write_numbers<double>(group, "prob_lo", std::array{0.0, 0.0, 0.0});
  write_numbers<double>(group, "prob_hi", std::array{1.0, 1.0, 1.0});
  const std::int32_t last = level.domain - 1;
  const Box domain{{0, 0, 0}, {last, last, last}};
  const Handle scalar(H5Screate(H5S_SCALAR), H5Sclose, "dataspace");
  write_attribute(group, "prob_domain", box_type().get(), scalar.get(), &domain);
  write_numbers<std::int32_t>(group, "domain_type", std::array<std::int32_t, 3>{});
  write_number<std::int32_t>(group, "steps", 0);
  write_number<std::int32_t>(group, "ngrid", static_cast<std::int32_t>(level.boxes.size()));
  write_number<double>(group, "time", time);
  write_number<std::int32_t>(group, "ngrow", 0);
}

}  // namespace

Handle box_type() { return compound(std::array{"lo_i", "lo_j", "lo_k", "hi_i", "hi_j", "hi_k"}); }

Handle center_type() { return compound(std::array{"i", "j", "k"}); }

void write_header(const std::string& path, const std::vector<Level>& levels, int components,
                  double time) {
  Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose,
              "create " + path);
  const auto count = static_cast<std::int32_t>(levels.size());
  write_text(file.get(), "version_name", "HyperCLaw-V1.1");
  write_text(file.get(), "plotfile_type", "VanillaHDF5");
  write_number<std::int32_t>(file.get(), "num_components", components);
  for (int i = 0; i < components; ++i) {
    const std::string name = "component_" + std::to_string(i);
    write_text(file.get(), name, name);
  }
  write_number<std::int32_t>(file.get(), "dim", 3);
  write_number<double>(file.get(), "time", time);
  write_number<std::int32_t>(file.get(), "finest_level", count - 1);
  write_number<std::int32_t>(file.get(), "coordinate_system", 0);
  write_number<std::int32_t>(file.get(), "num_levels", count);
  const auto create_group = [&](const std::string& name) {
    return Handle(H5Gcreate2(file.get(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                  H5Gclose, "create group " + name);
  };
  write_number<std::int32_t>(create_group("Chombo_global").get(), "SpaceDim", 3);
  for (std::int32_t i = 0; i < count; ++i)
    write_level(create_group("level_" + std::to_string(i)).get(),
                levels[static_cast<std::size_t>(i)], i + 1 == count, time);
  file.close();
}

}  // namespace headrace::bench::amrex
