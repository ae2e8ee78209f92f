#include "layers/object/copying/regions.hpp"

#include <cstring>

#include "base/error.hpp"
#include "hdf5/error_stack.hpp"

namespace headrace::object {
namespace {

bool registering = false;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace

bool is_registering() { return registering; }

RegionCopies::Registered::~Registered() {
  if (id_ < 0) return;
  const ErrorStackKeeper keep;
  h5.Idec_ref(id_);
}

RegionCopies::Registered RegionCopies::root_of(const Held& object) {
  Held root = object.open("/");
  registering = true;  // the context is that of a file, whose objects would be wrapped twice
  Registered registered(h5.VLwrap_register(root.get(), H5I_GROUP));
  registering = false;
  if (registered.get() < 0) throw Error("a root group gets no id: " + root_cause());
  root.release();
  return registered;
}

hdset_reg_ref_t RegionCopies::copy_of(const hdset_reg_ref_t& reference, const PathOf& path_of) {
  hdset_reg_ref_t copy{};
  if (std::memcmp(&reference, &copy, sizeof copy) == 0) return copy;
  if (source_.get() < 0) source_ = root_of(from_);
  if (target_.get() < 0) target_ = root_of(to_);
  H5O_info2_t info{};
  {
    const Registered object(
        h5.Rdereference2(source_.get(), kDefaultPlist, H5R_DATASET_REGION, &reference));
    if (object.get() < 0) return copy;  // what it leads to is gone
    if (h5.Oget_info3(object.get(), &info, H5O_INFO_BASIC) < 0)
      throw Error("HDF5 does not tell what a region reference leads to: " + root_cause());
  }
  std::uint64_t token = 0;
  std::memcpy(&token, &info.token, sizeof token);
  const auto path = path_of(token);
  if (!path) return copy;
  const Id<Kind::dataspace> region(h5.Rget_region(source_.get(), H5R_DATASET_REGION, &reference));
  if (!region ||
      h5.Rcreate(&copy, target_.get(), path->c_str(), H5R_DATASET_REGION, region.get()) < 0)
    throw Error("a region reference cannot be copied: " + root_cause());
  return copy;
}

}  // namespace headrace::object
