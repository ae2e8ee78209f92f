#include "vol/dataset/transfer.hpp"

#include <algorithm>

#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/pass_through.hpp"

namespace headrace::vol {
namespace {

// Through HDF5 in a context of its own: it would take the list of this question for that of the
// program's call.
Id<Kind::dataspace> extent_of(const Object& dataset) {
  std::optional<LibraryContext> apart;
  if (dataset.connector->direct() == nullptr) apart.emplace();
  H5VL_dataset_get_args_t args{H5VL_DATASET_GET_SPACE, {}};
  args.args.get_space.space_id = kInvalidId;
  call_under<Callback::dataset_get>(*dataset.connector, dataset.under, &args,
                                    h5.transfer_list.get(), nullptr);
  return Id<Kind::dataspace>(args.args.get_space.space_id);
}

// The dataspace that says what a transfer selects: the one in memory, or else the one in the file,
// or else that of the whole dataset.
class SelectedSpace {
 public:
  explicit SelectedSpace(const Transfer& transfer)
      : id_(is_dataspace(transfer.mem_space) ? transfer.mem_space : transfer.file_space) {
    if (is_dataspace(id_)) return;
    all_ = extent_of(transfer.dataset);
    id_ = all_.get();
  }
  [[nodiscard]] hid_t id() const { return id_; }

 private:
  Id<Kind::dataspace> all_;
  hid_t id_;
};

std::uint64_t selected_in(hid_t space) {
  return static_cast<std::uint64_t>(std::max<hssize_t>(h5.Sget_select_npoints(space), 0));
}

}  // namespace

std::uint64_t Transfer::bytes() const {
  const PrivateErrors own;
  return selected_in(SelectedSpace(*this).id()) * h5.Tget_size(mem_type);
}

std::optional<engine::Run> Transfer::memory_bounds() const {
  const PrivateErrors own;
  if (mem_space == kPlist || file_space == kPlist || file_space == kBlock) return std::nullopt;
  const SelectedSpace space(*this);
  if (mem_space == kBlock) return engine::Run{0, selected_in(space.id())};
  return bounds_of(space.id());
}

std::uint64_t Transfer::memory_extent() const {
  const PrivateErrors own;
  if (mem_space == kPlist) return 0;
  const SelectedSpace space(*this);
  if (mem_space == kBlock) return selected_in(space.id());
  const hssize_t elements = h5.Sget_simple_extent_npoints(space.id());
  return static_cast<std::uint64_t>(std::max<hssize_t>(elements, 0));
}

herr_t pass_on(const Reads& reads) { return reads.as_arguments(&own::dataset_read); }
herr_t pass_on(const Writes& writes) { return writes.as_arguments(&own::dataset_write); }

}  // namespace headrace::vol
