// Around each call that HDF5 makes to the connector (vol/hooks.hpp): its row in the trace.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "base/json.hpp"
#include "connectors/trace/arguments.hpp"
#include "connectors/trace/callback_kinds.hpp"
#include "connectors/trace/objects.hpp"
#include "connectors/trace/opened.hpp"
#include "connectors/trace/transfers.hpp"
#include "hdf5/quiet_errors.hpp"
#include "trace/current_call.hpp"
#include "trace/native_callers.hpp"
#include "trace/python_lines.hpp"
#include "trace/recorder.hpp"
#include "vol/dataset/selection.hpp"
#include "vol/effects.hpp"
#include "vol/hooks.hpp"
#include "vol/own_question.hpp"

namespace headrace::trace {

class RecordedCall : CurrentCall {
 public:
  template <Callback callback, typename... Args>
    requires Recorded<callback>
  void begin(const Args&... args) noexcept {
    Recorder& recorder = Recorder::get();
    if (!recorder.on() && !names_file<callback>(args...)) return;
    if (vol::OwnQuestion::current() != nullptr) return;  // of a layer above
    guarded([&] {
      release_held();
      if constexpr (!is_of_file(callback)) note_object<callback>(args...);
      row_.parent = within == nullptr ? 0 : within->number;
      row_.event_set = is_in_event_set(args...);
      number = recorder.next_number();
      row_.begin = Recorder::now();
    });
  }

  template <Callback callback, typename R, typename... Args>
    requires Recorded<callback>
  void end(const vol::Outcome<R>& outcome, const Args&... args) noexcept {
    if (number == 0 || !Recorder::get().on()) return;
    row_.duration = Recorder::now() - row_.begin;
    row_.number = number;
    number = 0;  // what is asked from here on is no part of the call
    row_.callback = static_cast<std::uint16_t>(callback);
    row_.failed = outcome.failed();
    ((row_.operation = std::max(row_.operation, vol::operation_of(args))), ...);
    row_.thread = Recorder::get().thread();
    if (row_.parent == 0) row_.line = line_that_called();
    guarded([&] {
      if constexpr (is_of_file(callback))
        if (!outcome.failed()) note_level(vol::Object::from(outcome.result));
      note_inner_time();
      forget_changed<callback>(args...);
      tell<callback>(outcome, args...);
      if constexpr (has_arguments(callback))
        if (Recorder::get().choices().arguments && level == 0)
          answered([&] { tell_arguments<callback>(outcome, args...); });
    });
    if constexpr (callback == Callback::file_close)
      if (Recorder::get().in_child()) Recorder::get().flush();  // which may end without HDF5
  }

 private:
  static std::uint32_t line_that_called() {
    const Choices& choices = Recorder::get().choices();
    const std::uint32_t line = choices.lines ? python_line() : 0;
    return line == 0 && choices.callers ? native_caller() : line;
  }

  // HDF5 knows nothing of what goes wrong here.
  template <typename Action>
  static void guarded(Action action) noexcept {
    try {
      action();
    } catch (const std::exception& error) {
      Recorder::get().give_up(error.what());
    }
  }

  // Where HDF5 does not answer a question, the row has less in it.
  template <typename Action>
  static void answered(Action action) {
    try {
      action();
    } catch (const Error&) {
      return;
    }
  }

  // A call that is for an object of the program: it may be gone when the call has ended.
  template <Callback callback, typename... Args>
  void note_object(const Args&... args) {
    if constexpr (is_transfer(callback)) {
      note_level(vol::Object::from(first_of(args...)));
      return;
    }
    vol::Object* const object = vol::object_of(args...);
    if (object == nullptr) return;
    note_level(*object);
    const H5VL_loc_params_t* const place = place_of(args...);
    constexpr H5I_type_t kSure = type_of(callback);
    const H5I_type_t type = place != nullptr ? place->obj_type : kSure;
    TracedObject* const found =
        type == H5I_BADID ? object->state.template find<TracedObject>() : traced(*object, type);
    if (found == nullptr) return;
    row_.object = found->known->id;
    row_.name = found->name;
  }

  // HDF5 makes no transfer of no dataset.
  template <typename... Rest>
  static void* first_of(std::size_t /*count*/, void* const datasets[], const Rest&... /*rest*/) {
    return datasets[0];
  }

  void note_level(const vol::Object& object) {
    if (const auto* const file = object.connector->state.find<TracedFile>()) level = file->level;
  }

  // What is known of names and extents may be wrong from now on.
  template <Callback callback, typename... Args>
  static void forget_changed(const Args&... args) {
    using namespace vol::effect;
    constexpr unsigned kNames = renames | unlinks | mounts;
    constexpr unsigned kExtents = kNames | resizes | refreshes;
    if constexpr ((vol::all_effects_of(callback) & kExtents) != 0) {
      const vol::Effects effects = vol::effects_of<callback>(args...);
      if (effects.any(kNames)) forget_paths();
      if (effects.any(kExtents)) forget_extents();
    }
  }

  // The calls that were made in one are no part of its own time; those of layers below are.
  void note_inner_time() {
    for (CurrentCall* call = within; call != nullptr; call = call->within) {
      if (call->number == 0 || call->level != level) continue;
      call->inner += row_.duration;
      return;
    }
  }

  // The first row of a call has its time and its requests.
  void add(const Call& row, hid_t dxpl = kInvalidId) {
    const bool sums = Recorder::get().choices().sums;
    if (!sums && !row.collective) {
      Recorder::get().add(row);
      return;
    }
    HeldRow whole{row, std::exchange(requests, {})};
    if (sums) {
      whole.call.parent = 0;
      whole.call.duration -= std::exchange(inner, 0);
    }
    if (row.collective)
      hold(std::move(whole), dxpl);
    else
      add_row(whole);
  }

  template <Callback callback, typename R, typename... Args>
  void tell(const vol::Outcome<R>& outcome, const Args&... args) {
    if constexpr (is_transfer(callback)) {
      tell_transfers(args...);
      return;
    } else if constexpr (opens(callback)) {
      if (!row_.failed) tell_opened<callback>(outcome.result, args...);
    } else if constexpr (callback == Callback::attr_read || callback == Callback::attr_write) {
      tell_values(args...);
    } else if constexpr (callback == Callback::file_specific) {
      if (!row_.failed) tell_reopened(args...);
    } else if constexpr (callback == Callback::link_create) {
      if (!row_.failed) tell_named(args...);
    }
    add(row_);
  }

  template <Callback callback, typename... Args>
  void tell_opened(void* opened, const Args&... args) {
    vol::Object& object = vol::Object::from(opened);
    if constexpr (!is_of_file(callback)) {
      vol::Object* const from = vol::object_of(args...);
      const H5VL_loc_params_t* const place = place_of(args...);
      if (from == nullptr || place == nullptr) return;
      const TracedObject* const parent = from->state.template find<TracedObject>();
      if (parent == nullptr) return;
      const char* const name = name_among(args...);
      constexpr H5I_type_t kOpened = opened_by(callback);
      H5I_type_t type = kOpened;
      if constexpr (callback == Callback::object_open) type = *opened_type(args...);
      if constexpr (kOpened == H5I_ATTR)
        tell_attribute(object, *parent, *place, name);
      else if (name == nullptr && callback != Callback::object_open)
        tell_object(object, type, kNoPath);
      else
        tell_object(object, type, path_below(*parent, *place, name));
    }
    if (auto* const told = object.state.template find<TracedObject>()) {
      row_.object = told->known->id;
      row_.name = told->name;
      if constexpr (callback == Callback::dataset_create || callback == Callback::attr_create)
        note_space(*told, args...);
      if constexpr (callback == Callback::dataset_create || callback == Callback::dataset_open)
        answered([&] { note_opened(object, *told); });
    }
  }

  // What datasets and attributes are made with.
  static void note_space(TracedObject& dataset, void* /*self*/, const H5VL_loc_params_t* /*place*/,
                         const char* /*name*/, hid_t /*lcpl*/, hid_t /*type*/, hid_t space,
                         hid_t /*dcpl*/, hid_t /*dapl*/, hid_t /*dxpl*/, void** /*req*/) {
    note_extent(dataset, space);
  }
  static void note_space(TracedObject& attribute, void* /*self*/,
                         const H5VL_loc_params_t* /*place*/, const char* /*name*/, hid_t /*type*/,
                         hid_t space, hid_t /*acpl*/, hid_t /*aapl*/, hid_t /*dxpl*/,
                         void** /*req*/) {
    count_elements(attribute, space);
  }
  static H5I_type_t* opened_type(void* /*self*/, const H5VL_loc_params_t* /*place*/,
                                 H5I_type_t* type, hid_t /*dxpl*/, void** /*req*/) {
    return type;
  }

  static void tell_reopened(void* /*self*/, H5VL_file_specific_args_t* args, hid_t /*dxpl*/,
                            void** /*req*/) {
    if (args->op_type == H5VL_FILE_REOPEN && *args->args.reopen.file != nullptr)
      tell_object(vol::Object::from(*args->args.reopen.file), H5I_FILE, "/");
  }

  // A link to an object that was made without a name gives it one.
  static void tell_named(H5VL_link_create_args_t* args, void* self, const H5VL_loc_params_t* place,
                         hid_t /*lcpl*/, hid_t /*lapl*/, hid_t /*dxpl*/, void** /*req*/) {
    if (args->op_type != H5VL_LINK_CREATE_HARD) return;
    const auto& [object, at] = args->args.hard;
    if (self == nullptr || object == nullptr || at.type != H5VL_OBJECT_BY_SELF) return;
    const TracedObject* const parent = vol::Object::from(self).state.find<TracedObject>();
    if (parent != nullptr)
      tell_name(vol::Object::from(object), at.obj_type, path_below(*parent, *place, nullptr));
  }

  template <Callback callback, typename R, typename... Args>
  void tell_arguments(const vol::Outcome<R>& outcome, const Args&... args) {
    const PrivateErrors own;  // a call that has failed keeps its errors
    JsonObject fact;
    fact.number("arguments", static_cast<long long>(row_.number));
    if constexpr (is_transfer(callback) || callback == Callback::attr_read ||
                  callback == Callback::attr_write)
      tell_given(fact, args...);
    else
      fact.raw("given", Arguments::words(args...));
    tell_native(fact, callback, args...);
    if constexpr (callback == Callback::dataset_specific) tell_extent(fact, args...);
    if constexpr (callback == Callback::attr_write) tell_lengths(fact, args...);
    if constexpr (opens_what_was_there(callback))
      if (!row_.failed)
        answered([&] { tell_what_was_there<callback>(fact, outcome.result, args...); });
    Recorder::get().add_fact(fact.str());
  }

  template <typename Buffers>
  void tell_given(JsonObject& fact, std::size_t count, void* const dset[], const hid_t mem_type[],
                  const hid_t mem_space[], const hid_t file_space[], hid_t dxpl, Buffers buf,
                  void** /*req*/) {
    fact.raw("transfers", Arguments::transfers(count, dset, mem_type, mem_space, file_space))
        .raw("list", Arguments::word(dxpl));
    // Of a transfer of several datasets, the first.
    const bool in_order =
        !vol::is_dataspace(mem_space[0]) || h5.Sget_select_type(mem_space[0]) == H5S_SEL_ALL;
    if (std::is_same_v<Buffers, const void**> && in_order && row_.bytes > 0)
      fact.raw("lengths",
               Arguments::lengths(mem_type[0], row_.bytes / h5.Tget_size(mem_type[0]), buf[0]));
  }

  // Without the program's memory, which looks like an object.
  template <typename Buffer>
  static void tell_given(JsonObject& fact, void* attribute, hid_t mem_type, Buffer /*buf*/,
                         hid_t /*dxpl*/, void** /*req*/) {
    fact.raw("given", Arguments::words(attribute, mem_type));
  }

  template <typename... Args>
  static void tell_native(JsonObject& /*fact*/, Callback /*callback*/, const Args&... /*args*/) {}
  static void tell_native(JsonObject& fact, Callback callback, void* /*self*/,
                          H5VL_optional_args_t* args, hid_t /*dxpl*/, void** /*req*/) {
    fact.raw("native", Arguments::native(callback, *args));
  }

  template <Callback callback, typename... Args>
  static void tell_what_was_there(JsonObject& fact, void* opened, const Args&... args) {
    vol::Object& object = vol::Object::from(opened);
    auto* const told = object.state.template find<TracedObject>();
    H5I_type_t type = is_of_file(callback) ? H5I_FILE : opened_by(callback);
    if constexpr (callback == Callback::object_open) type = *opened_type(args...);
    if (told == nullptr) return;
    const std::string words = opened_words(object, type, *told);
    if (!words.empty()) fact.raw("opened", words);
  }

  static void tell_extent(JsonObject& fact, void* self, H5VL_dataset_specific_args_t* args,
                          hid_t /*dxpl*/, void** /*req*/) {
    fact.raw("extent", Arguments::extent(vol::Object::from(self), *args));
  }

  static void tell_lengths(JsonObject& fact, void* self, hid_t mem_type, const void* buffer,
                           hid_t /*dxpl*/, void** /*req*/) {
    const auto* const told = vol::Object::from(self).state.find<TracedObject>();
    const std::size_t elements = told != nullptr && told->counted ? told->elements : 0;
    fact.raw("lengths", Arguments::lengths(mem_type, elements, buffer));
  }

  // A row for each dataset; the first one has the time.
  template <typename Buffers>
  void tell_transfers(std::size_t count, void* const dset[], const hid_t mem_type[],
                      const hid_t mem_space[], const hid_t file_space[], hid_t dxpl,
                      Buffers /*buf*/, void** /*req*/) {
    for (std::size_t i = 0; i < count; ++i) {
      vol::Object& dataset = vol::Object::from(dset[i]);
      Call row = row_;
      if (i > 0) row.duration = 0;  // the first one has it
      if (TracedObject* const told = traced(dataset, H5I_DATASET)) {
        row.object = told->known->id;
        if (!row.failed)
          answered([&] {
            tell_transfer(dataset, *told, {mem_type[i], mem_space[i], file_space[i], dxpl}, row);
          });
      }
      if (i == 0) row_.bytes = row.bytes;
      add(row, dxpl);
    }
  }

  template <typename Buffer>
  void tell_values(void* attribute, hid_t mem_type, Buffer /*buf*/, hid_t /*dxpl*/,
                   void** /*req*/) {
    vol::Object& object = vol::Object::from(attribute);
    auto* const told = object.state.find<TracedObject>();
    if (told != nullptr && !row_.failed)
      answered([&] { tell_elements(object, *told, mem_type, row_); });
  }

  Call row_;
};

}  // namespace headrace::trace
