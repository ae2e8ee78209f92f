#include "vol/own_question.hpp"

#include "hdf5/quiet_errors.hpp"
#include "vol/under.hpp"

namespace headrace::vol {

void* driver_handle(void* under_file, const UnderConnector& connector, hid_t fapl, hid_t dxpl) {
  const PrivateErrors own;  // the file is open: nothing that the program asked for has failed
  const OwnQuestion question;
  void* handle = nullptr;
  H5VL_native_file_optional_args_t native{};
  native.get_vfd_handle = {fapl, &handle};
  H5VL_optional_args_t args{H5VL_NATIVE_FILE_GET_VFD_HANDLE, &native};
  const herr_t result =
      call_under<Callback::file_optional>(connector, under_file, &args, dxpl, nullptr);
  return result < 0 ? nullptr : handle;
}

}  // namespace headrace::vol
