// What the layer does before HDF5 goes on with something else than the transfer of raw data
// (vol/coherence/coherence.hpp): which operations leave the log alone, which ones need all of it in
// the datasets, and which ones are refused.
#pragma once

#include <span>

#include "layers/log/connector/file/dataset.hpp"
#include "layers/log/connector/file/logged_file.hpp"
#include "layers/log/connector/serial/all_files.hpp"
#include "layers/log/connector/serial/elsewhere.hpp"
#include "vol/coherence/coherence.hpp"

namespace headrace::log_layout {

inline LoggedFile* file_of(const void* self) {
  return LoggedFile::of(*vol::Object::from(self).connector);
}

struct Coherence {
  using Callback = vol::Callback;
  using Call = vol::coherence::Call;
  using Strength = vol::coherence::Strength;
  using After = vol::coherence::After;
  template <Callback callback>
  using Arguments = vol::Arguments<callback>;

  // An image is another file; readers see all, through whatever id of the file; of mounted files
  // HDF5 finds the marker, and the datasets by their names, in another one.
  static constexpr unsigned kUnmarked =
      vol::effect::copies_file | vol::effect::lets_others_read | vol::effect::mounts;
  static constexpr unsigned kNames = vol::effect::renames | vol::effect::unlinks;
  static constexpr std::array kNeeds{
      vol::coherence::Need{vol::effect::counts, Strength::seen},
      vol::coherence::Need{kNames, Strength::nameless},
      vol::coherence::Need{kUnmarked, Strength::unmarked},
      vol::coherence::Need{vol::effect::kAll & ~(vol::effect::counts | kNames | kUnmarked),
                           Strength::emptied}};
  static Touched touched(const Call& call);
  static void publish(const Call& call, const Touched& what, Strength strength);
  static void publish_file(const char* name) { drain_and_unmark(name); }
  static void forget(const Call& call, const Touched& what);

  static constexpr unsigned kStops = vol::effect::gives_handle | vol::effect::lets_others_read |
                                     vol::effect::makes_atomic | vol::effect::mounts | kNames;
  static void stop(const Call& call);

  static bool is_own(H5VL_subclass_t kind, int operation);
  // Elements keep their numbers when a dataset grows in its slowest dimension.
  static bool keeps_places(const vol::Object& dataset, const hsize_t* extent) {
    return grows_at_its_end(dataset, extent);
  }
  static void address_told(const vol::Object& dataset);

  static After flushing(const vol::Object& object, H5I_type_t type);
  static After closing(const vol::Object& file);
  static After reshaping(vol::Object& dataset, const hsize_t* extent);

  // A copy of a file's attributes must not name a log: who copies them has read all of the data.
  static void refuse(const Arguments<Callback::attr_create>& args);
  static void refuse(const Arguments<Callback::attr_specific>& args);
  // What HDF5 would do with raw data that is not all in the file, or copy, delete, read and write
  // past its datasets where a log of somebody else is for them.
  static void refuse(const Arguments<Callback::object_copy>& args);
  static void refuse(const Arguments<Callback::file_optional>& args);
  static void refuse(const Arguments<Callback::dataset_optional>& args);
  static void refuse(const Arguments<Callback::dataset_specific>& args);
  static void refuse(const Arguments<Callback::group_specific>& args);
  static void refuse(const Arguments<Callback::link_specific>& args);
};

// Before HDF5 reads datasets it gets what is logged of them; before it writes to them, nothing is
// logged of them any more: a log that is replayed once more must not undo that.
void before_reads(std::span<void* const> datasets);
void before_writes(std::span<void* const> datasets);

// Throws Error where what HDF5 would find of the datasets is not all there.
void require_usable(std::span<void* const> datasets);

}  // namespace headrace::log_layout
