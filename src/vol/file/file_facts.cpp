#include "vol/file/file_facts.hpp"

#include "base/report/log.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/file/placed_driver.hpp"

namespace headrace::vol {
namespace {

unsigned long features_of(hid_t fapl) {
  const PrivateErrors own;
  unsigned long features = 0;
  h5.FDdriver_query(h5.Pget_driver(fapl), &features);
  return features;
}

bool ask(const BelowFile& file, H5VL_file_get_args_t& args) {
  const PrivateErrors own;
  return h5.VLfile_get(file.file, file.connector, &args, h5.transfer_list.get(), nullptr) >= 0;
}

}  // namespace

bool is_parallel(hid_t fapl) {
  if (h5.mpio_driver == nullptr) return false;
  const hid_t driver = h5.Pget_driver(fapl);
  if (driver == h5.sec2_driver()) return false;
  if (const PlacedDriver* const ours = placed_driver(driver)) return ours->parallel;
  return (features_of(fapl) & H5FD_FEAT_HAS_MPI) != 0;
}

CommunicatorHandle ranks_of(hid_t fapl) {
  if (!is_parallel(fapl)) return nullptr;
  const PrivateErrors own;
  try {
    return communicator_of(fapl);
  } catch (const std::exception& error) {
    log(Level::debug, std::string("ranks cannot agree: ") + error.what());
    return nullptr;
  }
}

bool reads_metadata_together(hid_t fapl) {
  if (!is_parallel(fapl)) return false;
  const PrivateErrors own;
  int reads = 0;  // H5P_USER_FALSE
  return h5.Pget(fapl, "collective_metadata_read", &reads) < 0 || reads > 0;
}

bool makes_ordinary_files(hid_t fapl) {
  return (features_of(fapl) & H5FD_FEAT_DEFAULT_VFD_COMPATIBLE) != 0;
}

bool has_page_buffer(hid_t fapl) {
  const PrivateErrors own;
  std::size_t size = 0;
  unsigned least_metadata = 0;
  unsigned least_raw = 0;
  return h5.Pget_page_buffer_size(fapl, &size, &least_metadata, &least_raw) < 0 || size > 0;
}

bool tells_of_flushes(hid_t fapl) {
  const PrivateErrors own;
  H5F_flush_cb_t function = nullptr;
  void* data = nullptr;
  return h5.Pget_object_flush_cb(fapl, &function, &data) < 0 || function != nullptr;
}

std::optional<unsigned long> number_of(const BelowFile& file) {
  unsigned long number = 0;
  H5VL_file_get_args_t args{H5VL_FILE_GET_FILENO, {}};
  args.args.get_fileno.fileno = &number;
  return ask(file, args) ? std::optional(number) : std::nullopt;
}

bool is_read_only(const BelowFile& file) {
  unsigned flags = kReadWrite;
  H5VL_file_get_args_t args{H5VL_FILE_GET_INTENT, {}};
  args.args.get_intent.flags = &flags;
  return ask(file, args) && (flags & kReadWrite) == 0;
}

bool only_one_open(const BelowFile& file) {
  std::size_t open = 0;
  H5VL_file_get_args_t args{H5VL_FILE_GET_OBJ_COUNT, {}};
  args.args.get_obj_count = {H5F_OBJ_ALL, &open};
  return ask(file, args) && open <= 1;
}

}  // namespace headrace::vol
