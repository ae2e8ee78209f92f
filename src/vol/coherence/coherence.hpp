// What a layer does before HDF5 carries out a call, so that the call finds in the file what the
// layer holds back, and the layer does not go on believing what the call changes. Which calls need
// what stands in vol/effects.def; a layer only says how it does it, in a struct of static
// functions:
//
//   static constexpr std::array kNeeds{Need{…}, …};
//     Which effect needs how much to be published: each effect once, or nothing compiles. None
//     where the layer holds nothing back.
//   static Touched touched(const Call& call);
//     What the call may look at or change.
//   static void publish(const Call& call, const Touched& what, Strength strength);
//     It is held back no more. A layer that cannot publish it keeps the error for the next call
//     that may tell it, or throws: then HDF5 is not called.
//
// and, where it has more to say:
//   static void forget(const Call& call, const Touched& what);
//     Raw data, extents or where things are may be others after the call.
//   static constexpr unsigned kStops; static void stop(const Call& call);
//     From now on others read or write past the layer, or find things by other names: the call has
//     one of those effects. Once more for a file that is mounted, with that as the object.
//   static void refuse(const Arguments<Callback::x>& args);
//     Of a callback or of several: throws Error where the call must not be made. What it would need
//     has been published.
//   static bool is_own(H5VL_subclass_t kind, int operation);
//     An optional operation that the layer carries out by itself.
//   static bool keeps_places(const Object& dataset, const hsize_t* extent);
//     All elements keep their places in the new extent: then nothing else is done.
//   static void publish_file(const char* name);
//     Of the file of that name, which is opened, or looked at while it is not: in publish()'s
//     place.
//   static void address_told(const Object& dataset);
//     The program is told where data of the dataset lie.
//   static After flushing(Object& object, H5I_type_t type), closing(Object& file): in publish()'s
//     place; static After reshaping(Object& dataset, const hsize_t* extent): besides, first; the
//     extent is null where the dataset is refreshed. What they return is called after the call.
//
// The layer's own functions see to transfers of raw data and to the close of a handle. A call
// enters the layers from the top down, and what one of them publishes goes to the layer below it:
// so each publishes to those that come after it. Calls that ranks make together reach all of them
// here, and so must what a layer throws. The program's thread only.
#pragma once

#include <array>
#include <functional>

#include "vol/coherence/call.hpp"

namespace headrace::vol::coherence {

// To be called after HDF5, with whether it has succeeded; may be empty.
using After = std::function<void(bool)>;

template <std::size_t n>
constexpr bool has_each_effect_once(const std::array<Need, n>& needs) {
  unsigned seen = effect::nothing;
  for (const Need& need : needs) {
    if ((seen & need.effects) != 0) return false;
    seen |= need.effects;
  }
  return seen == effect::kAll;
}

// The strongest that any of the effects needs; of a call that may do anything, what that needs.
template <std::size_t n>
constexpr Strength strength_of(const std::array<Need, n>& needs, const Effects& effects) {
  const unsigned what = effects.any(effect::unknown) ? unsigned{effect::unknown} : effects.what;
  Strength strongest = Strength::none;
  for (const Need& need : needs)
    if ((need.effects & what) != 0 && need.strength > strongest) strongest = need.strength;
  return strongest;
}

// After these something else may be in a dataset's chunks, or elsewhere, than was known.
constexpr unsigned kChanges =
    effect::writes | effect::resizes | effect::refreshes | effect::tells_addresses;

template <typename Layer>
void publish_and_forget(const Call& call) {
  static_assert(has_each_effect_once(Layer::kNeeds));
  const Touched what = Layer::touched(call);
  Layer::publish(call, what, strength_of(Layer::kNeeds, call.effects));
  if constexpr (requires { &Layer::forget; })
    if (call.effects.any(kChanges)) Layer::forget(call, what);
}

// Makes the data that the call needs visible to HDF5.
template <typename Layer, Callback callback>
After publish_before(const Call& call, const Arguments<callback>& args) {
  if constexpr (requires { &Layer::publish_file; }) {
    if (const char* name = file_named_by(args)) {
      Layer::publish_file(name);
      return {};
    }
  }
  if constexpr (callback == Callback::file_specific && requires { &Layer::flushing; })
    if (args.operation->op_type == H5VL_FILE_FLUSH)
      return Layer::flushing(*call.object, args.operation->args.flush.obj_type);
  if constexpr (callback == Callback::file_close && requires { &Layer::closing; })
    return Layer::closing(*call.object);
  if constexpr (requires { Layer::kNeeds; }) publish_and_forget<Layer>(call);
  return {};
}

template <typename Layer, Callback callback>
void refuse_before(const Arguments<callback>& args) {
  if constexpr (requires { Layer::refuse(args); }) Layer::refuse(args);
}

template <typename Layer, Callback callback>
void stop_before(Call call, const Arguments<callback>& args) {
  if constexpr (requires { Layer::kStops; }) {
    if (!call.surely(Layer::kStops)) return;
    Layer::stop(call);
    call.object = mounted_by(args);
    if (call.object != nullptr) Layer::stop(call);
  }
}

// Transfers, handles that are closed, and calls that touch nothing a layer could hold.
template <Callback callback>
constexpr bool is_left_alone(const Effects& effects) {
  if (callback == Callback::dataset_read || callback == Callback::dataset_write) return true;
  return effects.what == effect::nothing ||
         (effects.what == effect::closes && effects.reach == Reach::object);
}

template <typename Layer, Callback callback>
After prepare(const Arguments<callback>& args) {
  const Call call = call_of(args);
  if (is_left_alone<callback>(call.effects)) {
    refuse_before<Layer>(args);
    return {};
  }
  if constexpr (kind_of(callback) != H5VL_SUBCLS_NONE && requires { &Layer::is_own; })
    if (Layer::is_own(kind_of(callback), operation_of(args))) return {};
  After after;
  if constexpr (callback == Callback::dataset_specific) {
    const hsize_t* const extent = extent_given_by(args);
    if constexpr (requires { &Layer::reshaping; })
      if (call.effects.any(effect::resizes | effect::refreshes))
        after = Layer::reshaping(*call.object, extent);
    if constexpr (requires { &Layer::keeps_places; })
      if (extent != nullptr && Layer::keeps_places(*call.object, extent)) return after;
  }
  if (After then = publish_before<Layer>(call, args)) after = std::move(then);
  refuse_before<Layer>(args);
  stop_before<Layer>(call, args);
  if constexpr (callback == Callback::dataset_optional && requires { &Layer::address_told; })
    if (call.effects.any(effect::tells_addresses)) Layer::address_told(*call.object);
  return after;
}

template <typename Layer, Callback callback>
constexpr bool acts_after() {
  if constexpr (callback == Callback::file_specific)
    return requires { &Layer::flushing; };
  else if constexpr (callback == Callback::file_close)
    return requires { &Layer::closing; };
  else if constexpr (callback == Callback::dataset_specific)
    return requires { &Layer::reshaping; };
  else
    return false;
}

// A connector's hook of this name (vol/hooks.hpp).
template <typename Layer, Callback callback>
auto before(const Arguments<callback>& args) {
  if constexpr (acts_after<Layer, callback>()) {
    After after = prepare<Layer>(args);
    return [after = std::move(after)](bool done) {
      if (after) after(done);
    };
  } else {
    prepare<Layer>(args);
  }
}

}  // namespace headrace::vol::coherence
