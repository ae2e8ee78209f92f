#include "kernels/e3sm/file.hpp"

#include "base/error.hpp"
#include "kernels/shared/attributes.hpp"

namespace headrace::bench::e3sm {
namespace {

void write(hid_t object, const Attribute& attribute) {
  std::visit(
      [&](const auto& value) {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, std::string>)
          write_text(object, attribute.name, value);
        else
          write_numbers<typename Value::value_type>(object, attribute.name, value);
      },
      attribute.value);
}

// E3SM-IO's way to keep a dimension in HDF5.
void write_dimension(hid_t file, const Dimension& dimension) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose, "dataspace");
  const hsize_t length = dimension.length == 0 ? H5S_UNLIMITED : dimension.length;
  write_attribute(file, "_DIM_" + dimension.name, H5T_NATIVE_HSIZE, space.get(), &length);
}

Handle create_dataset(hid_t file, const Field& field, hid_t type) {
  const std::vector<hsize_t> now = field.extents(0);
  std::vector<hsize_t> most = now;
  std::vector<hsize_t> chunk = field.extents(1);
  const Handle dcpl(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "creation property list");
  check(H5Pset_fill_time(dcpl.get(), H5D_FILL_TIME_NEVER), "fill time");
  const int rank = static_cast<int>(now.size());
  if (field.record) {
    most[0] = H5S_UNLIMITED;
    check(H5Pset_chunk(dcpl.get(), rank, chunk.data()), "chunk");
  }
  const Handle space(
      rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, now.data(), most.data()), H5Sclose,
      "dataspace");
  Handle dataset(
      H5Dcreate2(file, field.name.c_str(), type, space.get(), H5P_DEFAULT, dcpl.get(), H5P_DEFAULT),
      H5Dclose, "create dataset " + field.name);
  for (const Attribute& attribute : field.attributes) write(dataset.get(), attribute);
  return dataset;
}

void check_dataset(const Field& field, const Handle& dataset, hid_t type, hsize_t records) {
  const Handle stored(H5Dget_type(dataset.get()), H5Tclose, "type of " + field.name);
  const Handle space(H5Dget_space(dataset.get()), H5Sclose, "dataspace of " + field.name);
  std::vector<hsize_t> found(
      static_cast<std::size_t>(check(H5Sget_simple_extent_ndims(space.get()), "dataspace")));
  check(H5Sget_simple_extent_dims(space.get(), found.data(), nullptr), "dataspace");
  if (check(H5Tequal(stored.get(), type), "compare types") == 0 || found != field.extents(records))
    throw Error("dataset " + field.name + " has another type or shape than was written");
}

}  // namespace

Handle type_of(Type type) {
  const hid_t native = type == Type::character ? H5T_C_S1
                       : type == Type::integer ? H5T_NATIVE_INT
                       : type == Type::real    ? H5T_NATIVE_FLOAT
                                               : H5T_NATIVE_DOUBLE;
  return {H5Tcopy(native), H5Tclose, "type"};
}

void HistoryFile::close() {
  for (Handle& dataset : datasets) dataset.close();
  file.close();
}

HistoryFile create_history(Run& run, const Plan& plan) {
  HistoryFile made;
  const Handle fapl = run.fapl();
  made.file = Handle(H5Fcreate(run.file().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl.get()),
                     H5Fclose, "create " + run.file());
  for (const Attribute& attribute : plan.attributes) write(made.file.get(), attribute);
  for (const Dimension& dimension : plan.dimensions) write_dimension(made.file.get(), dimension);
  for (const Field& field : plan.fields) {
    made.types.push_back(type_of(field.type));
    made.datasets.push_back(create_dataset(made.file.get(), field, made.types.back().get()));
  }
  return made;
}

HistoryFile open_history(Run& run, const Plan& plan, hsize_t records) {
  HistoryFile opened;
  const Handle fapl = run.fapl();
  opened.file = Handle(H5Fopen(run.file().c_str(), H5F_ACC_RDONLY, fapl.get()), H5Fclose,
                       "open " + run.file());
  for (const Field& field : plan.fields) {
    opened.types.push_back(type_of(field.type));
    opened.datasets.emplace_back(H5Dopen2(opened.file.get(), field.name.c_str(), H5P_DEFAULT),
                                 H5Dclose, "open dataset " + field.name);
    check_dataset(field, opened.datasets.back(), opened.types.back().get(), records);
  }
  return opened;
}

}  // namespace headrace::bench::e3sm
