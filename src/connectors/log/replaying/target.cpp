#include "connectors/log/replaying/target.hpp"

#include <cstring>
#include <exception>

#include "base/error.hpp"
#include "comm/agreement.hpp"
#include "connectors/log/replaying/fit.hpp"
#include "hdf5/error_stack.hpp"
#include "vol/pass_through.hpp"

namespace headrace::log_layout {
namespace {

H5VL_loc_params_t place_of(const Token& token, H5O_token_t& own) {
  static_assert(sizeof own == sizeof token);
  std::memcpy(&own, token.data(), sizeof own);
  H5VL_loc_params_t where{H5I_FILE, H5VL_OBJECT_BY_TOKEN, {}};
  where.loc_data.loc_by_token.token = &own;
  return where;
}

}  // namespace

Filters filters_of(const vol::Object& dataset) {
  const Id<Kind::plist> dcpl(vol::get(dataset, H5VL_DATASET_GET_DCPL).args.get_dcpl.dcpl_id);
  if (h5.Pget_nfilters(dcpl.get()) == 0) return Filters::none;
  unsigned options = 0;
  return h5.Pget_chunk_opts(dcpl.get(), &options) >= 0 && options == 0 ? Filters::all
                                                                       : Filters::some;
}

void read_nothing(vol::Object& dataset, const Dataset& elements) {
  if (!elements.chunked()) return;
  const hsize_t one = 1;
  const Id<Kind::dataspace> memory(h5.Screate_simple(1, &one, nullptr));
  const Id<Kind::dataspace> file(vol::get(dataset, H5VL_DATASET_GET_SPACE).args.get_space.space_id);
  if (h5.Sselect_none(memory.get()) < 0 || h5.Sselect_none(file.get()) < 0) return;
  void* self = &dataset;
  hid_t type = elements.type.get();
  hid_t spaces[] = {memory.get(), file.get()};
  std::byte none{};
  void* buffer = &none;
  vol::own::dataset_read(1, &self, &type, &spaces[0], &spaces[1], h5.transfer_list.get(), &buffer,
                         nullptr);
}

Target::Target(const OpenFile& place, const vol::UnderRef& connector, std::span<const Part> parts)
    : name_(parts.front().logged().name + " of file " + place.path),
      where_(place_of(parts.front().logged().token, token_)),
      opened_(place.below, where_),
      object_(opened_.under(), connector) {
  if (opened_.under() == nullptr || opened_.type() != H5I_DATASET)
    throw Error("dataset " + name_ + " is not there any more");
  dataset_ = examine(object_);
  if (dataset_ == nullptr || !vol::update_dims(*dataset_, object_))
    throw Error("dataset " + name_ + " is none that is logged");
  for (const Part& part : parts) {
    layers_.add(*part.reader, part.place, part.end);
    require_fit(*dataset_, part.logged(), layers_, place.path);
  }
  dataset_->handle = &object_;
}

void Target::plan(Communicator& ranks, hid_t together, bool cached) {
  const Filters filters = filters_of(object_);
  if (filters == Filters::some)
    throw Error("dataset " + name_ +
                " has chunks at its border without filters, which ranks do not write together: "
                "its log must be replayed first (headrace replay)");
  read_nothing(object_, *dataset_);
  share_.ranks = &ranks;
  if (filters == Filters::all) share_.together = together;
  share_.boxes = count_boxes(*dataset_, layers_, share_, cached);
}

void Target::write() {
  const auto error = error_of([&] { replay_share(*dataset_, layers_, share_); });
  const bool closed = opened_.close();
  // One text, as programs show the innermost cause only.
  if (error != nullptr) throw Error("writing dataset " + name_ + " failed: " + text_of(error));
  if (!closed)
    throw Error("dataset " + name_ + " could not be closed, and misses data: " + root_cause());
}

Id<Kind::plist> collective_list() {
  Id<Kind::plist> list(h5.Pcopy(h5.transfer_list.get()));
  const int collective = 1;  // H5FD_MPIO_COLLECTIVE, which serial headers do not have
  h5.Pset(list.get(), "io_xfer_mode", &collective);
  return list;
}

void write_together(const OpenFile& place, const vol::UnderRef& connector, Communicator& ranks,
                    const Parts& parts, hid_t together, const Cached& cached) {
  std::exception_ptr failure;
  for (const auto& [token, of] : parts) {
    std::unique_ptr<Target> target;
    do_together(ranks, [&] {
      target = std::make_unique<Target>(place, connector, of);
      target->plan(ranks, together, cached(target->identity()));
    });
    const auto error = error_of([&] { target->write(); });
    if (failure == nullptr) failure = error;
  }
  agree(ranks, failure);
}

}  // namespace headrace::log_layout
