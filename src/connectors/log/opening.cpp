#include "connectors/log/opening.hpp"

#include <filesystem>

namespace headrace::log_layout {
namespace {

unsigned long features_of(hid_t fapl) {
  unsigned long features = 0;
  h5.FDdriver_query(h5.Pget_driver(fapl), &features);
  return features;
}

}  // namespace

bool parallel(hid_t fapl) { return (features_of(fapl) & H5FD_FEAT_HAS_MPI) != 0; }

bool asks_together(hid_t fapl) {
  int reads = 0;  // H5P_USER_FALSE
  return parallel(fapl) && (h5.Pget(fapl, "collective_metadata_read", &reads) < 0 || reads > 0);
}

bool ordinary(hid_t fapl) { return (features_of(fapl) & H5FD_FEAT_DEFAULT_VFD_COMPATIBLE) != 0; }

std::string path_of(const char* name) {
  std::error_code failure;
  auto path = std::filesystem::canonical(name, failure);
  if (failure) path = std::filesystem::absolute(name, failure);
  return path;
}

bool only_one_open(const Below& file) {
  std::size_t open = 0;
  H5VL_file_get_args_t args{H5VL_FILE_GET_OBJ_COUNT, {}};
  args.args.get_obj_count = {H5F_OBJ_ALL, &open};
  return h5.VLfile_get(file.file, file.connector, &args, h5.transfer_list.get(), nullptr) >= 0 &&
         open <= 1;
}

std::optional<unsigned long> number_of(const Below& file) {
  unsigned long number = 0;
  H5VL_file_get_args_t args{H5VL_FILE_GET_FILENO, {}};
  args.args.get_fileno.fileno = &number;
  if (h5.VLfile_get(file.file, file.connector, &args, h5.transfer_list.get(), nullptr) < 0)
    return std::nullopt;
  return number;
}

}  // namespace headrace::log_layout
