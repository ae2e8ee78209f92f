// What is done before HDF5 does what a callback asks for (vol/coherence/coherence.hpp): it finds
// all that the connector holds in the file, where it could look at it. The application's thread
// only.
#pragma once

#include "vol/coherence/coherence.hpp"

namespace headrace::async {

struct Coherence {
  using Call = vol::coherence::Call;
  using Strength = vol::coherence::Strength;
  using After = vol::coherence::After;

  // Chunks are held by datasets' tokens, and what is staged is seen by HDF5's own driver.
  static constexpr std::array kNeeds{vol::coherence::Need{vol::effect::kAll, Strength::seen}};
  static vol::Touched touched(const Call& call);
  static void publish(const Call& call, const vol::Touched& what, Strength strength);
  static void forget(const Call& call, const vol::Touched& what);

  static constexpr unsigned kStops = vol::effect::gives_handle | vol::effect::lets_others_read |
                                     vol::effect::makes_atomic | vol::effect::mounts |
                                     vol::effect::unlinks;
  static void stop(const Call& call);

  static bool is_own(H5VL_subclass_t kind, int operation);
  // Where a dataset grows by further rows of chunks only, those that it has stay what and where
  // they are. The extent is asked for anew then.
  static bool keeps_places(const vol::Object& dataset, const hsize_t* extent);
  static void address_told(const vol::Object& dataset);
  // HDF5 would fail on the rank that cannot write, after others have taken the extent.
  static After reshaping(const vol::Object& dataset, const hsize_t* extent);
};

}  // namespace headrace::async
