#include "layers/trace/connector/opened.hpp"

#include <utility>
#include <vector>

#include "base/report/json.hpp"
#include "base/report/printable.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/trace/connector/arguments.hpp"
#include "vol/dataset/elements.hpp"
#include "vol/own_question.hpp"
#include "vol/under.hpp"

namespace headrace::trace {
namespace {

// Asked in the context of the program's call, which has ended below: HDF5 tells of committed types
// in no other.
template <Callback callback, typename Asked>
bool answers(const vol::Object& object, Asked& args) {
  return vol::call_under<callback>(*object.connector, object.under, &args, h5.transfer_list.get(),
                                   nullptr) >= 0;
}

std::string words_of_file(const vol::Object& file) {
  H5VL_file_get_args_t args{H5VL_FILE_GET_FCPL, {}};
  args.args.get_fcpl.fcpl_id = kInvalidId;
  if (!answers<Callback::file_get>(file, args)) return {};
  const Id<Kind::plist> list(args.args.get_fcpl.fcpl_id);
  JsonObject words;
  words.raw("list", Arguments::word(list.get()));
  unsigned superblock = 0;  // which version it has is no part of what HDF5 encodes
  if (h5.Pget(list.get(), "super_version", &superblock) >= 0)
    words.number("superblock", superblock);
  return words.str();
}

hid_t asked(const vol::Object& dataset, H5VL_dataset_get_t what) {
  H5VL_dataset_get_args_t args{what, {}};
  args.args.get_dcpl.dcpl_id = kInvalidId;  // the ids share their place in the union
  return answers<Callback::dataset_get>(dataset, args) ? args.args.get_dcpl.dcpl_id : kInvalidId;
}

std::string words_of_dataset(const vol::Object& dataset, bool is_parallel) {
  const Id<Kind::datatype> type(asked(dataset, H5VL_DATASET_GET_TYPE));
  const Id<Kind::dataspace> space(asked(dataset, H5VL_DATASET_GET_SPACE));
  const Id<Kind::plist> list(asked(dataset, H5VL_DATASET_GET_DCPL));
  JsonObject words;
  words.raw("type", Arguments::word(type.get()))
      .raw("space", Arguments::word(space.get()))
      .raw("list", Arguments::word(list.get()));
  // By which references to it are known again. Over MPI the question may be one for all ranks.
  vol::Identity identity{};
  if (!is_parallel && vol::read_identity(dataset, identity))
    words.text("token", hexadecimal(identity.token.__data));
  return words.str();
}

hid_t asked(const vol::Object& attribute, H5VL_attr_get_t what) {
  H5VL_attr_get_args_t args{what, {}};
  args.args.get_type.type_id = kInvalidId;  // as above
  return answers<Callback::attr_get>(attribute, args) ? args.args.get_type.type_id : kInvalidId;
}

std::string words_of_attribute(const vol::Object& attribute) {
  const Id<Kind::datatype> type(asked(attribute, H5VL_ATTR_GET_TYPE));
  const Id<Kind::dataspace> space(asked(attribute, H5VL_ATTR_GET_SPACE));
  return JsonObject()
      .raw("type", Arguments::word(type.get()))
      .raw("space", Arguments::word(space.get()))
      .str();
}

std::string words_of_type(const vol::Object& datatype) {
  H5VL_datatype_get_args_t args{H5VL_DATATYPE_GET_BINARY_SIZE, {}};
  std::size_t size = 0;
  args.args.get_binary_size.size = &size;
  if (!answers<Callback::datatype_get>(datatype, args)) return {};
  std::vector<unsigned char> encoded(size);
  args = {H5VL_DATATYPE_GET_BINARY, {}};
  args.args.get_binary = {encoded.data(), encoded.size()};
  if (!answers<Callback::datatype_get>(datatype, args)) return {};
  return JsonObject().raw("type", Arguments::word_of_encoded(encoded, H5I_DATATYPE)).str();
}

}  // namespace

std::string opened_words(const vol::Object& object, H5I_type_t type, TracedObject& traced) {
  const auto* const file = object.connector->state.find<TracedFile>();
  if (file == nullptr || file->created) return {};
  const PrivateErrors own;
  const vol::OwnQuestion question;
  switch (type) {
    case H5I_FILE:
      return words_of_file(object);
    case H5I_DATASET:
      if (std::exchange(traced.known->told_as_opened, true)) return {};
      return words_of_dataset(object, file->parallel);
    case H5I_DATATYPE:
      return words_of_type(object);
    case H5I_ATTR:
      return words_of_attribute(object);
    default:
      return {};
  }
}

}  // namespace headrace::trace
