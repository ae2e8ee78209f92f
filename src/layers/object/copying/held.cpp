#include "layers/object/copying/held.hpp"

#include "base/error.hpp"
#include "base/report/printable.hpp"
#include "hdf5/error_stack.hpp"
#include "hdf5/quiet_errors.hpp"

namespace headrace::object {
namespace {

hid_t transfer_list() { return h5.transfer_list.get(); }
hid_t link_access() { return h5.default_lists[0].get(); }

void require_done(herr_t result, const std::string& what) {
  if (result < 0) throw Error(what + " failed: " + root_cause());
}

}  // namespace

H5VL_loc_params_t by_name(H5I_type_t type, const char* name) {
  H5VL_loc_params_t where{type, H5VL_OBJECT_BY_NAME, {}};
  where.loc_data.loc_by_name = {name, link_access()};
  return where;
}

Held::Held(const H5VL_class_t& connector, void* object, H5I_type_t type, bool owned)
    : connector_(&connector), object_(object), type_(type), is_owned_(owned) {}

Held& Held::operator=(Held&& other) noexcept {
  std::swap(connector_, other.connector_);
  std::swap(object_, other.object_);
  std::swap(type_, other.type_);
  std::swap(is_owned_, other.is_owned_);
  return *this;
}

Held::~Held() {
  if (!is_owned_) return;
  const PrivateErrors own;
  if (type_ == H5I_GROUP) connector_->group_cls.close(object_, transfer_list(), nullptr);
  if (type_ == H5I_DATASET) connector_->dataset_cls.close(object_, transfer_list(), nullptr);
  if (type_ == H5I_DATATYPE) connector_->datatype_cls.close(object_, transfer_list(), nullptr);
  if (type_ == H5I_MAP) {
    H5VL_optional_args_t args{H5VL_MAP_CLOSE, nullptr};
    connector_->optional(object_, &args, transfer_list(), nullptr);
  }
  if (type_ == H5I_ATTR) connector_->attr_cls.close(object_, transfer_list(), nullptr);
}

Held Held::made(void* object, H5I_type_t type, const std::string& what) const {
  if (object == nullptr) throw Error(what + " failed: " + root_cause());
  return {*connector_, object, type, /*owned=*/true};
}

Held Held::open(const std::string& path) const {
  H5I_type_t type = H5I_BADID;
  const auto where = by_name(type_, path.c_str());
  void* const object =
      connector_->object_cls.open(object_, &where, &type, transfer_list(), nullptr);
  return made(object, type, "opening " + printable(path));
}

Held Held::open(H5O_token_t token) const {
  H5I_type_t type = H5I_BADID;
  H5VL_loc_params_t where{type_, H5VL_OBJECT_BY_TOKEN, {}};
  where.loc_data.loc_by_token.token = &token;
  void* const object =
      connector_->object_cls.open(object_, &where, &type, transfer_list(), nullptr);
  return made(object, type, "opening an object by its token");
}

Held Held::open_attribute(const std::string& name) const {
  const auto where = here();
  void* const attribute = connector_->attr_cls.open(
      object_, &where, name.c_str(), h5.attribute_access_list(), transfer_list(), nullptr);
  return made(attribute, H5I_ATTR, "opening attribute " + printable(name));
}

bool Held::exists(const std::string& path) const {
  const PrivateErrors own;
  bool exists = false;
  H5VL_object_specific_args_t args{H5VL_OBJECT_EXISTS, {}};
  args.args.exists.exists = &exists;
  const auto where = by_name(type_, path.c_str());
  return connector_->object_cls.specific(object_, &where, &args, transfer_list(), nullptr) >= 0 &&
         exists;
}

bool Held::has_link(const std::string& path) const {
  const PrivateErrors own;
  bool exists = false;
  H5VL_link_specific_args_t args{H5VL_LINK_EXISTS, {}};
  args.args.exists.exists = &exists;
  const auto where = by_name(type_, path.c_str());
  return connector_->link_cls.specific(object_, &where, &args, transfer_list(), nullptr) >= 0 &&
         exists;
}

H5O_info2_t Held::info() const {
  H5O_info2_t info{};
  H5VL_object_get_args_t args{H5VL_OBJECT_GET_INFO, {}};
  args.args.get_info.oinfo = &info;
  args.args.get_info.fields = H5O_INFO_ALL;
  const auto where = here();
  require_done(connector_->object_cls.get(object_, &where, &args, transfer_list(), nullptr),
               "asking for an object's info");
  return info;
}

bool Held::is_empty_group() const {
  H5G_info_t group{};
  H5VL_group_get_args_t args{H5VL_GROUP_GET_INFO, {}};
  args.args.get_info.loc_params = here();
  args.args.get_info.ginfo = &group;
  require_done(connector_->group_cls.get(object_, &args, transfer_list(), nullptr),
               "asking for a group's info");
  return group.nlinks == 0 && info().num_attrs == 0;
}

Id<Kind::plist> Held::creation() const {
  hid_t list = kInvalidId;
  herr_t result = -1;
  if (type_ == H5I_GROUP) {
    H5VL_group_get_args_t args{H5VL_GROUP_GET_GCPL, {}};
    result = connector_->group_cls.get(object_, &args, transfer_list(), nullptr);
    list = args.args.get_gcpl.gcpl_id;
  } else if (type_ == H5I_DATASET) {
    H5VL_dataset_get_args_t args{H5VL_DATASET_GET_DCPL, {}};
    result = connector_->dataset_cls.get(object_, &args, transfer_list(), nullptr);
    list = args.args.get_dcpl.dcpl_id;
  } else if (type_ == H5I_ATTR) {
    H5VL_attr_get_args_t args{H5VL_ATTR_GET_ACPL, {}};
    result = connector_->attr_cls.get(object_, &args, transfer_list(), nullptr);
    list = args.args.get_acpl.acpl_id;
  } else {
    H5VL_datatype_get_args_t args{H5VL_DATATYPE_GET_TCPL, {}};
    result = connector_->datatype_cls.get(object_, &args, transfer_list(), nullptr);
    list = args.args.get_tcpl.tcpl_id;
  }
  require_done(result, "asking for a creation list");
  return Id<Kind::plist>(list);
}

Id<Kind::datatype> Held::datatype() const {
  if (type_ == H5I_DATASET) {
    H5VL_dataset_get_args_t args{H5VL_DATASET_GET_TYPE, {}};
    require_done(connector_->dataset_cls.get(object_, &args, transfer_list(), nullptr),
                 "asking for a dataset's type");
    return Id<Kind::datatype>(args.args.get_type.type_id);
  }
  if (type_ == H5I_ATTR) {
    H5VL_attr_get_args_t args{H5VL_ATTR_GET_TYPE, {}};
    require_done(connector_->attr_cls.get(object_, &args, transfer_list(), nullptr),
                 "asking for an attribute's type");
    return Id<Kind::datatype>(args.args.get_type.type_id);
  }
  std::size_t size = 0;
  H5VL_datatype_get_args_t args{H5VL_DATATYPE_GET_BINARY_SIZE, {}};
  args.args.get_binary_size.size = &size;
  require_done(connector_->datatype_cls.get(object_, &args, transfer_list(), nullptr),
               "asking for a committed type");
  std::string bytes(size, '\0');
  args.op_type = H5VL_DATATYPE_GET_BINARY;
  args.args.get_binary = {bytes.data(), size};
  require_done(connector_->datatype_cls.get(object_, &args, transfer_list(), nullptr),
               "asking for a committed type");
  Id<Kind::datatype> type(h5.decode_type != nullptr ? h5.decode_type(bytes.data())
                                                    : h5.decode_type_of(bytes.data(), size));
  if (!type) throw Error("HDF5 does not decode a committed type: " + root_cause());
  return type;
}

Id<Kind::dataspace> Held::dataspace() const {
  if (type_ == H5I_ATTR) {
    H5VL_attr_get_args_t args{H5VL_ATTR_GET_SPACE, {}};
    require_done(connector_->attr_cls.get(object_, &args, transfer_list(), nullptr),
                 "asking for an attribute's dataspace");
    return Id<Kind::dataspace>(args.args.get_space.space_id);
  }
  H5VL_dataset_get_args_t args{H5VL_DATASET_GET_SPACE, {}};
  require_done(connector_->dataset_cls.get(object_, &args, transfer_list(), nullptr),
               "asking for a dataset's dataspace");
  return Id<Kind::dataspace>(args.args.get_space.space_id);
}

std::vector<NamedInfo> Held::links(bool in_order) const {
  std::vector<NamedInfo> all;
  H5VL_link_specific_args_t args{H5VL_LINK_ITER, {}};
  args.args.iterate = {false,
                       in_order ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME,
                       H5_ITER_INC,
                       nullptr,
                       [](hid_t, const char* name, const H5L_info2_t* link, void* to) -> herr_t {
                         static_cast<std::vector<NamedInfo>*>(to)->push_back({name, *link});
                         return 0;
                       },
                       &all};
  const auto where = here();
  require_done(connector_->link_cls.specific(object_, &where, &args, transfer_list(), nullptr),
               "listing links");
  return all;
}

std::vector<std::string> Held::attributes(bool in_order) const {
  std::vector<std::string> all;
  H5VL_attr_specific_args_t args{H5VL_ATTR_ITER, {}};
  args.args.iterate = {in_order ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME, H5_ITER_INC, nullptr,
                       [](hid_t, const char* name, const H5A_info_t*, void* to) -> herr_t {
                         static_cast<std::vector<std::string>*>(to)->emplace_back(name);
                         return 0;
                       },
                       &all};
  const auto where = here();
  require_done(connector_->attr_cls.specific(object_, &where, &args, transfer_list(), nullptr),
               "listing attributes");
  return all;
}

H5L_info2_t Held::link_info(const std::string& name) const {
  H5L_info2_t info{};
  H5VL_link_get_args_t args{H5VL_LINK_GET_INFO, {}};
  args.args.get_info.linfo = &info;
  const auto where = by_name(type_, name.c_str());
  require_done(connector_->link_cls.get(object_, &where, &args, transfer_list(), nullptr),
               "asking for link " + printable(name));
  return info;
}

std::string Held::link_value(const std::string& name, std::size_t size) const {
  std::string value(size, '\0');
  H5VL_link_get_args_t args{H5VL_LINK_GET_VAL, {}};
  args.args.get_val = {size, value.data()};
  const auto where = by_name(type_, name.c_str());
  require_done(connector_->link_cls.get(object_, &where, &args, transfer_list(), nullptr),
               "reading link " + printable(name));
  return value;
}

std::string Held::comment() const {
  std::size_t length = 0;
  H5VL_native_object_optional_args_t native{};
  native.get_comment = {0, nullptr, &length};
  H5VL_optional_args_t args{H5VL_NATIVE_OBJECT_GET_COMMENT, &native};
  const auto where = here();
  require_done(connector_->object_cls.optional(object_, &where, &args, transfer_list(), nullptr),
               "reading a comment");
  std::string text(length + 1, '\0');
  native.get_comment = {text.size(), text.data(), &length};
  if (length > 0)
    require_done(connector_->object_cls.optional(object_, &where, &args, transfer_list(), nullptr),
                 "reading a comment");
  text.resize(length);
  return text;
}

void Held::set_comment(const std::string& comment) const {
  H5VL_native_object_optional_args_t native{};
  native.set_comment.comment = comment.c_str();
  H5VL_optional_args_t args{H5VL_NATIVE_OBJECT_SET_COMMENT, &native};
  const auto where = here();
  require_done(connector_->object_cls.optional(object_, &where, &args, transfer_list(), nullptr),
               "setting a comment");
}

Held Held::new_group(const std::string& name, hid_t lcpl, hid_t creation) const {
  const auto where = here();
  void* const group =
      connector_->group_cls.create(object_, &where, name.c_str(), lcpl, creation,
                                   h5.group_access_list(), transfer_list(), nullptr);
  return made(group, H5I_GROUP, "creating group " + printable(name));
}

Held Held::new_dataset(const std::string& name, hid_t lcpl, hid_t type, hid_t space,
                       hid_t creation) const {
  const auto where = here();
  void* const dataset =
      connector_->dataset_cls.create(object_, &where, name.c_str(), lcpl, type, space, creation,
                                     h5.dataset_access_list(), transfer_list(), nullptr);
  return made(dataset, H5I_DATASET, "creating dataset " + printable(name));
}

Held Held::new_type(hid_t type, hid_t creation) const {
  const auto where = here();
  void* const committed =
      connector_->datatype_cls.commit(object_, &where, nullptr, type, kDefaultPlist, creation,
                                      h5.default_lists[3].get(), transfer_list(), nullptr);
  return made(committed, H5I_DATATYPE, "committing a type");
}

Held Held::new_attribute(const std::string& name, hid_t type, hid_t space, hid_t creation) const {
  const auto where = here();
  void* const attribute =
      connector_->attr_cls.create(object_, &where, name.c_str(), type, space, creation,
                                  h5.attribute_access_list(), transfer_list(), nullptr);
  return made(attribute, H5I_ATTR, "creating attribute " + printable(name));
}

void Held::link(const std::string& name, hid_t lcpl, H5VL_link_create_args_t args) const {
  const auto where = by_name(type_, name.c_str());
  require_done(connector_->link_cls.create(&args, object_, &where, lcpl, link_access(),
                                           transfer_list(), nullptr),
               "creating link " + printable(name));
}

void Held::unlink(const std::string& name) const {
  H5VL_link_specific_args_t args{H5VL_LINK_DELETE, {}};
  const auto where = by_name(type_, name.c_str());
  require_done(connector_->link_cls.specific(object_, &where, &args, transfer_list(), nullptr),
               "removing link " + printable(name));
}

}  // namespace headrace::object
