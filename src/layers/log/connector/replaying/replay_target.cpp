#include "layers/log/connector/replaying/replay_target.hpp"

#include <exception>

#include "base/error.hpp"
#include "comm/agreement.hpp"
#include "vol/chunks/layout.hpp"
#include "vol/dataset/box_io.hpp"

namespace headrace::log_layout {

Filters filters_of(const vol::Object& dataset) {
  const auto dcpl = vol::creation_list(dataset);
  if (h5.Pget_nfilters(dcpl.get()) == 0) return Filters::none;
  return vol::filters_all_chunks(dcpl.get()) ? Filters::all : Filters::some;
}

ReplayTarget::ReplayTarget(const OpenFile& place, const vol::UnderRef& connector,
                           std::span<const Part> parts)
    : logged_(place, connector, parts, writes_in(parts)) {}

void ReplayTarget::plan(Communicator& ranks, hid_t together, bool cached) {
  const Filters filters = filters_of(logged_.object());
  if (filters == Filters::some)
    throw Error(logged_.name() +
                " has chunks at its border without filters, which ranks do not write together: "
                "its log must be replayed first (headrace replay)");
  if (logged_.dataset().chunked()) vol::read_nothing(logged_.object(), logged_.dataset());
  share_.ranks = &ranks;
  if (filters == Filters::all) share_.together = together;
  share_.boxes = count_boxes(logged_.dataset(), logged_.writes(), share_, cached);
}

void ReplayTarget::write() {
  const auto error = error_of([&] { replay_share(logged_.dataset(), logged_.writes(), share_); });
  const auto unclosed = error_of([&] { logged_.close(); });
  // One text, as programs show the innermost cause only.
  if (error != nullptr) throw Error("writing " + logged_.name() + " failed: " + text_of(error));
  if (unclosed != nullptr) std::rethrow_exception(unclosed);
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
    std::unique_ptr<ReplayTarget> target;
    do_together(ranks, [&] {
      target = std::make_unique<ReplayTarget>(place, connector, of);
      target->plan(ranks, together, cached(target->identity()));
    });
    const auto error = error_of([&] { target->write(); });
    if (failure == nullptr) failure = error;
  }
  agree(ranks, failure);
}

}  // namespace headrace::log_layout
