#include "layers/object/connector/across.hpp"

#include <array>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/report/printable.hpp"
#include "hdf5/quiet_errors.hpp"

namespace headrace::object {
namespace {

constexpr unsigned kMostLinks = 16;  // HDF5's default

// How the file that a link leads to is opened: as the one with the link, if the program's list says
// nothing else.
struct Access {
  Access(const File& file, unsigned intent, hid_t list) : flags(intent) {
    unsigned wanted = kParents;
    if (list != kDefaultPlist)
      if (const hid_t given = h5.Pget_elink_fapl(list); given > 0) fapl = Id<Kind::plist>(given);
    if (!fapl) fapl = Id<Kind::plist>(h5.Pcopy(file.access.get()));
    if (list == kDefaultPlist) return;
    if (h5.Pget_elink_acc_flags(list, &wanted) >= 0 && wanted != kParents) flags = wanted;
    std::array<char, PATH_MAX> text{};
    if (h5.Pget_elink_prefix(list, text.data(), text.size()) > 0) prefix = text.data();
  }
  static constexpr unsigned kParents = 0xffff;  // H5F_ACC_DEFAULT
  unsigned flags;
  Id<Kind::plist> fapl;
  std::string prefix;
};

// As HDF5 looks for the file: by what the environment and the program say, where the one with the
// link is, and then where the program is.
std::string place_of(const std::string& name, const std::string& from, const std::string& prefix) {
  namespace fs = std::filesystem;
  const fs::path path(name);
  std::vector<fs::path> folders;
  if (const char* const folder = std::getenv("HDF5_EXT_PREFIX"); folder != nullptr)
    folders.emplace_back(folder);
  if (!prefix.empty()) folders.emplace_back(prefix);
  folders.push_back(fs::path(from).parent_path());
  std::error_code ignored;
  for (const fs::path& folder : folders)
    if (fs::exists(folder / path.relative_path(), ignored) && !path.is_absolute())
      return folder / path;
  if (path.is_absolute() && !fs::exists(path, ignored))
    for (const fs::path& folder : folders)
      if (fs::exists(folder / path.filename(), ignored)) return folder / path.filename();
  return name;
}

}  // namespace

thread_local unsigned LinkedFile::depth_ = 0;

LinkedFile::LinkedFile(const void* from, const Outside& way, hid_t list) {
  if (depth_ >= kMostLinks) throw Error("too many links on the way to " + printable(way.path));
  if (way.opening == nullptr) {
    open_external(from, way, list);
  } else {
    path_ = way.rest;
    root_ = std::make_unique<Open>(H5I_GROUP, way.opening,
                                   Found{file_of(way.opening).container.root(), "/"});
    file_ = static_cast<vol::TerminalObject*>(root_.get());
  }
  ++depth_;
}

void LinkedFile::open_external(const void* from, const Outside& way, hid_t list) {
  if (way.link.kind != objects::Link::Kind::external)
    throw Error("the link " + printable(way.path) +
                    " is of a class of the program's, which a container cannot follow",
                ErrorKind::unsupported);
  const char* name = nullptr;
  const char* object = nullptr;
  unsigned flags = 0;
  if (h5.Lunpack_elink_val(way.link.target.data(), way.link.target.size(), &flags, &name, &object) <
      0)
    throw Error("the external link " + printable(way.path) + " is damaged", ErrorKind::corrupt);
  path_ = way.rest.empty() ? object : objects::joined(object, way.rest);
  const File& file = file_of(from);
  const Access access(file, vol::TerminalObject::from(from).opening()->intent(), list);
  // By H5Fopen, as a native file opens within the program's own calls for files only.
  last_opened = nullptr;
  const PrivateErrors own;
  id_ = Id<Kind::file>(
      h5.Fopen(place_of(name, file.path, access.prefix).c_str(), access.flags, access.fapl.get()));
  file_ = std::exchange(last_opened, nullptr);
  if (!id_ || file_ == nullptr)
    throw Error("unable to open external file, external link file name = '" + printable(name) +
                "'");
}

LinkedFile::~LinkedFile() { --depth_; }

H5VL_loc_params_t LinkedFile::there(const Outside& way, const H5VL_loc_params_t& where) const {
  H5VL_loc_params_t there = where;
  there.obj_type = type();
  if (way.is_same_path) return there;
  if (way.is_object) {
    there.type = H5VL_OBJECT_BY_NAME;
    there.loc_data.loc_by_name = {path(), list_of(where)};
  } else if (where.type == H5VL_OBJECT_BY_NAME) {
    there.loc_data.loc_by_name.name = path();
  } else if (where.type == H5VL_OBJECT_BY_IDX) {
    there.loc_data.loc_by_idx.name = path();
  }
  return there;
}

bool exists_not(const void* self, const Outside& way, const H5VL_loc_params_t& where,
                const H5VL_object_specific_args_t* args, hid_t /*dxpl*/, void** /*req*/) {
  if (args->op_type != H5VL_OBJECT_EXISTS) return false;
  const PrivateErrors own;
  if (error_of([&] { const LinkedFile file(self, way, list_of(where)); }) == nullptr) return false;
  *args->args.exists.exists = false;
  return true;
}

}  // namespace headrace::object
