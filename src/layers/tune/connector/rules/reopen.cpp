#include "layers/tune/connector/rules/reopen.hpp"

#include "hdf5/error_stack.hpp"

namespace headrace::tune {
namespace {

// An object below, open for a while.
class Below {
 public:
  using Close = decltype(Api::VLdataset_close);
  Below(void* object, const vol::UnderRef& connector, Close close)
      : object_(object), connector_(connector), close_(close) {}
  Below(const Below&) = delete;
  Below& operator=(const Below&) = delete;
  ~Below() {
    if (object_ != nullptr) close_(object_, connector_->id(), h5.transfer_list.get(), nullptr);
  }
  [[nodiscard]] void* get() const { return object_; }

 private:
  void* object_;
  const vol::UnderRef& connector_;
  Close close_;
};

constexpr H5VL_loc_params_t by_self(H5I_type_t type) { return {type, H5VL_OBJECT_BY_SELF, {}}; }

void* open(const Below& root, const vol::UnderRef& connector, const std::string& name, hid_t dapl) {
  const H5VL_loc_params_t place = by_self(H5I_GROUP);
  return h5.VLdataset_open(root.get(), &place, connector->id(), name.c_str(), dapl,
                           h5.transfer_list.get(), nullptr);
}

// A dataset that no link leads to goes when it is closed.
bool leads_to(const Below& root, const vol::UnderRef& connector, const std::string& name,
              const vol::Identity& identity) {
  const Below found(open(root, connector, name, h5.dataset_access_list()), connector,
                    h5.VLdataset_close);
  vol::Identity other{};
  unsigned links = 0;
  return found.get() != nullptr &&
         vol::read_identity(vol::Object(found.get(), connector), other, &links) && links > 0 &&
         !(identity < other) && !(other < identity);
}

// So that closing it has nothing to write, and cannot fail at that.
bool flush(const vol::Object& dataset) {
  H5VL_dataset_specific_args_t args{H5VL_DATASET_FLUSH, {}};
  args.args.flush.dset_id = kInvalidId;  // for a function of the program's, which there is not
  return h5.VLdataset_specific(dataset.under, dataset.connector->id(), &args,
                               h5.transfer_list.get(), nullptr) >= 0;
}

}  // namespace

bool reopen(vol::Object& dataset, const vol::Identity& identity, hid_t dapl) {
  const vol::UnderRef connector = dataset.connector;
  const std::string name = vol::name_of(dataset);
  if (name.empty() || name.front() != '/') return false;
  const H5VL_loc_params_t place = by_self(H5I_DATASET);
  const Below root(h5.VLgroup_open(dataset.under, &place, connector->id(), "/",
                                   h5.group_access_list(), h5.transfer_list.get(), nullptr),
                   connector, h5.VLgroup_close);
  if (root.get() == nullptr || !leads_to(root, connector, name, identity) || !flush(dataset))
    return false;
  const std::string described = vol::describe(dataset);
  void* const closed = std::exchange(dataset.under, nullptr);
  const bool whole =
      h5.VLdataset_close(closed, connector->id(), h5.transfer_list.get(), nullptr) >= 0;
  const std::string why = whole ? "" : root_cause();
  dataset.under = open(root, connector, name, dapl);
  if (!whole || dataset.under == nullptr)
    throw Error(
        described + " was closed to give it another chunk cache, " +
        (whole ? "and cannot be opened again: " + root_cause() : "and misses data: " + why));
  return true;
}

}  // namespace headrace::tune
