#include "connectors/stripe/transfers.hpp"

#include "base/connection_string.hpp"
#include "base/error.hpp"
#include "drivers/stripe/striped_file.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/dataset/elements.hpp"
#include "vol/own_question.hpp"

namespace headrace::stripe {
namespace {

// With a file.
struct FileState {
  Id<Kind::plist> list;                 // of the last collective transfer
  std::shared_ptr<StripedFile*> found;  // null for one that is not in pieces, or not over MPI
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
  auto& kept = dataset.connector->state.get<FileState>();
  kept.list = std::move(copy);
  return kept.list.get();
}

void note_opened(const vol::Object& file) {
  FileInquiry inquiry;
  vol::ask_driver(file);
  file.connector->state.get<FileState>().found = inquiry.found;
}

void agree_on_flush(const vol::UnderConnector& connector) {
  const auto* const state = connector.state.find<FileState>();
  if (state != nullptr && state->found != nullptr && *state->found != nullptr)
    (*state->found)->agree_on_flush();
}

std::string with_seat(const std::string& config) {
  Options options = parse_connection_string(config);
  options["seat"] = "both";
  return format_connection_string(options, "under_config");
}

}  // namespace headrace::stripe
