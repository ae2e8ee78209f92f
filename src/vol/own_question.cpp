#include "vol/own_question.hpp"

#include "hdf5/quiet_errors.hpp"

namespace headrace::vol {

void ask_driver(const Object& file) {
  const PrivateErrors own;
  const OwnQuestion question;
  void* handle = nullptr;
  H5VL_native_file_optional_args_t native{};
  native.get_vfd_handle = {kDefaultPlist, &handle};
  H5VL_optional_args_t args{H5VL_NATIVE_FILE_GET_VFD_HANDLE, &native};
  h5.VLfile_optional(file.under, file.connector->id(), &args, h5.transfer_list.get(), nullptr);
}

}  // namespace headrace::vol
