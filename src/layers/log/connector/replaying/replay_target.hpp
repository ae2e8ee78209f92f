// A dataset that ranks write together, each a share of what the logs of all hold of it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "comm/communicator.hpp"
#include "hdf5/id.hpp"
#include "layers/log/connector/file/dataset.hpp"
#include "layers/log/connector/replaying/earlier_logs.hpp"
#include "layers/log/connector/replaying/logged_object.hpp"
#include "layers/log/connector/replaying/replay.hpp"
#include "sidecar/log_file.hpp"

namespace headrace::log_layout {

// Which chunks of a dataset have filters: not `some` of them, as where those at the borders have
// none.
enum class Filters { none, all, some };
Filters filters_of(const vol::Object& dataset);

class ReplayTarget {
 public:
  // Throws Error, see LoggedObject.
  ReplayTarget(const OpenFile& place, const vol::UnderRef& connector, std::span<const Part> parts);

  // The same on all ranks. `together`: a transfer list for calls that all ranks make together.
  // `cached`: HDF5 may have chunks of it in a rank's memory. Throws Error.
  void plan(Communicator& ranks, hid_t together, bool cached);
  // Makes all calls that other ranks wait for, whatever comes of them; then throws Error.
  void write();

  [[nodiscard]] const vol::Identity& identity() { return logged_.dataset().identity; }

 private:
  LoggedObject logged_;
  Share share_;
};

// A transfer list for calls that all ranks make together. To be made in the context of the
// program's call: HDF5 forgets the lists of contexts that end.
Id<Kind::plist> collective_list();

// Collective: writes all parts to their datasets, each rank its share. `cached` as of plan().
// Throws Error, on all ranks if on one. What a rank has written for others is in the file after a
// flush.
using Cached = std::function<bool(const vol::Identity&)>;
void write_together(const OpenFile& place, const vol::UnderRef& connector, Communicator& ranks,
                    const Parts& parts, hid_t together, const Cached& cached);

}  // namespace headrace::log_layout
