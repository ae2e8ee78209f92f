#include "connectors/stripe/transfers.hpp"

#include "base/connection_string.hpp"
#include "base/error.hpp"
#include "drivers/stripe/striped_file.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/dataset/elements.hpp"

namespace headrace::stripe {
namespace {

struct KeptList {
  Id<Kind::plist> list;
};

bool has_filters(const vol::Object& dataset) {
  const Id<Kind::plist> dcpl(vol::get(dataset, H5VL_DATASET_GET_DCPL).args.get_dcpl.dcpl_id);
  return h5.Pget_nfilters(dcpl.get()) > 0;
}

}  // namespace

void Transfers::add(const Transfers& from, std::size_t i) {
  datasets.push_back(from.datasets[i]);
  mem_types.push_back(from.mem_types[i]);
  mem_spaces.push_back(from.mem_spaces[i]);
  file_spaces.push_back(from.file_spaces[i]);
  buffers.push_back(from.buffers[i]);
}

std::pair<Transfers, Transfers> parted(const Transfers& all) {
  std::pair<Transfers, Transfers> parts;
  for (std::size_t i = 0; i < all.datasets.size(); ++i)
    (has_filters(vol::Object::from(all.datasets[i])) ? parts.first : parts.second).add(all, i);
  return parts;
}

hid_t independent(const vol::Object& dataset, hid_t dxpl) {
  if (!StripedFile::any_over_mpi() || !vol::collective(dxpl)) return dxpl;
  const PrivateErrors own;
  Id<Kind::plist> copy(h5.Pcopy(dxpl));
  const int mode = 0;  // H5FD_MPIO_INDEPENDENT
  if (!copy || h5.Pset(copy.get(), "io_xfer_mode", &mode) < 0)
    throw Error("the data transfer property list cannot be copied");
  auto& kept = dataset.connector->state.get<KeptList>();
  kept.list = std::move(copy);
  return kept.list.get();
}

std::string with_seat(const std::string& config) {
  Options options = parse_connection_string(config);
  options["seat"] = "both";
  return format_connection_string(options, "under_config");
}

}  // namespace headrace::stripe
