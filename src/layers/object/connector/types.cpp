#include <cstring>

#include "layers/object/connector/containers.hpp"
#include "layers/object/container/encoded.hpp"

namespace headrace::object {

void* Containers::datatype_commit(void* self, Loc where, const char* name, hid_t type, hid_t lcpl,
                                  hid_t tcpl, hid_t tapl, hid_t /*dxpl*/, void** /*req*/) {
  require_writable(self);
  require_lists({lcpl, tcpl, tapl});
  objects::Header header;
  header.kind = objects::Header::Kind::datatype;
  header.type = encoded_type(type);
  header.creation = encoded_list(tcpl, h5.datatype_list.get());
  return created(self, *where, name, lcpl, std::move(header));
}

void* Containers::datatype_open(void* self, Loc where, const char* name, hid_t /*tapl*/,
                                hid_t /*dxpl*/, void** /*req*/) {
  Found found = named_from(self, *where, name);
  if (type_of(*found.object) != H5I_DATATYPE) throw Error(found.path + " is not a committed type");
  return handed(self, std::move(found));
}

herr_t Containers::datatype_get(void* self, H5VL_datatype_get_args_t* args, hid_t /*dxpl*/,
                                void** /*req*/) {
  const objects::Header& header = vol::as<Open>(self).found.object->header();
  const std::string encoded = header.type.substr(1);
  auto& out = args->args;
  switch (args->op_type) {
    case H5VL_DATATYPE_GET_BINARY_SIZE:
      *out.get_binary_size.size = encoded.size();
      break;
    case H5VL_DATATYPE_GET_BINARY:
      if (out.get_binary.buf_size < encoded.size()) throw Error("too little room for a type");
      std::memcpy(out.get_binary.buf, encoded.data(), encoded.size());
      break;
    case H5VL_DATATYPE_GET_TCPL:
      out.get_tcpl.tcpl_id =
          copied(decoded_list(header.creation, h5.datatype_list.get()), h5.Pcopy);
      break;
  }
  return 0;
}

herr_t Containers::datatype_specific(void* self, H5VL_datatype_specific_args_t* args,
                                     hid_t /*dxpl*/, void** /*req*/) {
  args->op_type == H5VL_DATATYPE_FLUSH ? flush(self) : refresh(self);
  return 0;
}

}  // namespace headrace::object
