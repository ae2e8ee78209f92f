#include "layers/log/connector/opening/opened_object.hpp"

#include <utility>

namespace headrace::log_layout {

OpenedObject::OpenedObject(const vol::BelowFile& from, const H5VL_loc_params_t& where)
    : connector_(from.connector) {
  under_ = h5.VLobject_open(from.file, &where, connector_, &type_, h5.transfer_list.get(), nullptr);
  if (under_ == nullptr) return;
  H5VL_object_get_args_t args{H5VL_OBJECT_GET_INFO, {}};
  args.args.get_info = {H5O_INFO_BASIC, &info_};
  const H5VL_loc_params_t self{type_, H5VL_OBJECT_BY_SELF, {}};
  known_ = h5.VLobject_get(under_, &self, connector_, &args, h5.transfer_list.get(), nullptr) >= 0;
}

bool OpenedObject::close() {
  void* const under = std::exchange(under_, nullptr);
  if (under == nullptr) return true;
  const hid_t dxpl = h5.transfer_list.get();
  if (type_ == H5I_GROUP) return h5.VLgroup_close(under, connector_, dxpl, nullptr) >= 0;
  if (type_ == H5I_DATATYPE) return h5.VLdatatype_close(under, connector_, dxpl, nullptr) >= 0;
  return h5.VLdataset_close(under, connector_, dxpl, nullptr) >= 0;
}

}  // namespace headrace::log_layout
