// Around each call that HDF5 makes to the connector (vol/hooks.hpp): its row in the trace.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "base/report/json.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/trace/connector/arguments.hpp"
#include "layers/trace/connector/callback_kinds.hpp"
#include "layers/trace/connector/objects.hpp"
#include "layers/trace/connector/opened.hpp"
#include "layers/trace/connector/transfers.hpp"
#include "layers/trace/recorder/current_call.hpp"
#include "layers/trace/recorder/native_callers.hpp"
#include "layers/trace/recorder/python_lines.hpp"
#include "layers/trace/recorder/recorder.hpp"
#include "vol/dataset/selection.hpp"
#include "vol/effects.hpp"
#include "vol/hooks.hpp"
#include "vol/own_question.hpp"

namespace headrace::trace {

class RecordedCall : CurrentCall {
 public:
  template <Callback callback>
    requires Recorded<callback>
  void begin(const vol::Arguments<callback>& args) noexcept {
    Recorder& recorder = Recorder::get();
    if (!recorder.on() && !names_file(args)) return;
    if (vol::OwnQuestion::current() != nullptr) return;  // of a layer above
    guarded([&] {
      release_held();
      if constexpr (!is_of_file(callback)) note_object(args);
      row_.parent = within == nullptr ? 0 : within->number;
      row_.event_set = is_in_event_set(args);
      number = recorder.next_number();
      row_.begin = Recorder::now();
    });
  }

  template <Callback callback, typename R>
    requires Recorded<callback>
  void end(const vol::Outcome<R>& outcome, const vol::Arguments<callback>& args) noexcept {
    if (number == 0 || !Recorder::get().on()) return;
    row_.duration = Recorder::now() - row_.begin;
    row_.number = number;
    number = 0;  // what is asked from here on is no part of the call
    row_.callback = static_cast<std::uint16_t>(callback);
    row_.failed = outcome.failed();
    row_.operation = std::max(row_.operation, vol::operation_of(args));
    row_.thread = Recorder::get().thread();
    if (row_.parent == 0) row_.line = line_that_called();
    guarded([&] {
      if constexpr (is_of_file(callback))
        if (!outcome.failed()) note_level(vol::Object::from(outcome.result));
      note_inner_time();
      forget_changed(args);
      tell(outcome, args);
      if constexpr (has_arguments(callback))
        if (Recorder::get().choices().arguments && level == 0)
          answered([&] { tell_arguments(outcome, args); });
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
  template <Callback callback>
  void note_object(const vol::Arguments<callback>& args) {
    if constexpr (is_transfer(callback)) {
      note_level(vol::Object::from(args.datasets[0]));  // HDF5 makes no transfer of no dataset
      return;
    }
    vol::Object* const object = vol::object_of(args);
    if (object == nullptr) return;
    note_level(*object);
    const H5VL_loc_params_t* const place = place_of(args);
    constexpr H5I_type_t kSure = type_of(callback);
    const H5I_type_t type = place != nullptr ? place->obj_type : kSure;
    TracedObject* const found =
        type == H5I_BADID ? object->state.template find<TracedObject>() : traced(*object, type);
    if (found == nullptr) return;
    row_.object = found->known->id;
    row_.name = found->name;
  }

  void note_level(const vol::Object& object) {
    if (const auto* const file = object.connector->state.find<TracedFile>()) level = file->level;
  }

  // What is known of names and extents may be wrong from now on.
  template <Callback callback>
  static void forget_changed(const vol::Arguments<callback>& args) {
    using namespace vol::effect;
    constexpr unsigned kNames = renames | unlinks | mounts;
    constexpr unsigned kExtents = kNames | resizes | refreshes;
    if constexpr ((vol::all_effects_of(callback) & kExtents) != 0) {
      const vol::Effects effects = vol::effects_of(args);
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

  template <Callback callback, typename R>
  void tell(const vol::Outcome<R>& outcome, const vol::Arguments<callback>& args) {
    if constexpr (is_transfer(callback)) {
      tell_transfers(args);
      return;
    } else if constexpr (opens(callback)) {
      if (!row_.failed) tell_opened(outcome.result, args);
    } else if constexpr (callback == Callback::attr_read || callback == Callback::attr_write) {
      tell_values(args);
    } else if constexpr (callback == Callback::file_specific) {
      if (!row_.failed) tell_reopened(args);
    } else if constexpr (callback == Callback::link_create) {
      if (!row_.failed) tell_named(args);
    }
    add(row_);
  }

  template <Callback callback>
  void tell_opened(void* opened, const vol::Arguments<callback>& args) {
    vol::Object& object = vol::Object::from(opened);
    if constexpr (!is_of_file(callback)) {
      vol::Object* const from = vol::object_of(args);
      const H5VL_loc_params_t* const place = place_of(args);
      if (from == nullptr || place == nullptr) return;
      const TracedObject* const parent = from->state.template find<TracedObject>();
      if (parent == nullptr) return;
      const char* const name = name_in(args);
      constexpr H5I_type_t kOpened = opened_by(callback);
      H5I_type_t type = kOpened;
      if constexpr (callback == Callback::object_open) type = *args.type;
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
      if constexpr (callback == Callback::dataset_create) note_extent(*told, args.space);
      if constexpr (callback == Callback::attr_create) count_elements(*told, args.space);
      if constexpr (callback == Callback::dataset_create || callback == Callback::dataset_open)
        answered([&] { note_opened(object, *told); });
    }
  }

  static void tell_reopened(const vol::Arguments<Callback::file_specific>& args) {
    const H5VL_file_specific_args_t& asked = *args.operation;
    if (asked.op_type == H5VL_FILE_REOPEN && *asked.args.reopen.file != nullptr)
      tell_object(vol::Object::from(*asked.args.reopen.file), H5I_FILE, "/");
  }

  // A link to an object that was made without a name gives it one.
  static void tell_named(const vol::Arguments<Callback::link_create>& args) {
    if (args.operation->op_type != H5VL_LINK_CREATE_HARD) return;
    const auto& [object, at] = args.operation->args.hard;
    if (args.object == nullptr || object == nullptr || at.type != H5VL_OBJECT_BY_SELF) return;
    const TracedObject* const parent = vol::Object::from(args.object).state.find<TracedObject>();
    if (parent != nullptr)
      tell_name(vol::Object::from(object), at.obj_type, path_below(*parent, *args.place, nullptr));
  }

  template <Callback callback, typename R>
  void tell_arguments(const vol::Outcome<R>& outcome, const vol::Arguments<callback>& args) {
    const PrivateErrors own;  // a call that has failed keeps its errors
    JsonObject fact;
    fact.number("arguments", static_cast<long long>(row_.number));
    if constexpr (is_transfer(callback))
      tell_given_transfers(fact, args);
    else if constexpr (callback == Callback::attr_read || callback == Callback::attr_write)
      fact.raw("given", Arguments::words(args.object, args.mem_type));
    else
      fact.raw("given", args.each([](const auto&... all) { return Arguments::words(all...); }));
    if constexpr (requires { Arguments::native(callback, *args.operation); })
      fact.raw("native", Arguments::native(callback, *args.operation));
    if constexpr (callback == Callback::dataset_specific)
      fact.raw("extent", Arguments::extent(vol::Object::from(args.object), *args.operation));
    if constexpr (callback == Callback::attr_write) tell_lengths(fact, args);
    if constexpr (opens_what_was_there(callback))
      if (!row_.failed) answered([&] { tell_what_was_there(fact, outcome.result, args); });
    Recorder::get().add_fact(fact.str());
  }

  template <Callback callback>
  void tell_given_transfers(JsonObject& fact, const vol::Arguments<callback>& args) {
    fact.raw("transfers", Arguments::transfers(args.count, args.datasets, args.mem_types,
                                               args.mem_spaces, args.file_spaces))
        .raw("list", Arguments::word(args.dxpl));
    // Of a transfer of several datasets, the first.
    const hid_t space = args.mem_spaces[0];
    const bool in_order = !vol::is_dataspace(space) || h5.Sget_select_type(space) == H5S_SEL_ALL;
    if (callback == Callback::dataset_write && in_order && row_.bytes > 0)
      fact.raw("lengths",
               Arguments::lengths(args.mem_types[0], row_.bytes / h5.Tget_size(args.mem_types[0]),
                                  args.buffers[0]));
  }

  template <Callback callback>
  static void tell_what_was_there(JsonObject& fact, void* opened,
                                  const vol::Arguments<callback>& args) {
    vol::Object& object = vol::Object::from(opened);
    auto* const told = object.state.template find<TracedObject>();
    H5I_type_t type = is_of_file(callback) ? H5I_FILE : opened_by(callback);
    if constexpr (callback == Callback::object_open) type = *args.type;
    if (told == nullptr) return;
    const std::string words = opened_words(object, type, *told);
    if (!words.empty()) fact.raw("opened", words);
  }

  static void tell_lengths(JsonObject& fact, const vol::Arguments<Callback::attr_write>& args) {
    const auto* const told = vol::Object::from(args.object).state.find<TracedObject>();
    const std::size_t elements = told != nullptr && told->counted ? told->elements : 0;
    fact.raw("lengths", Arguments::lengths(args.mem_type, elements, args.buffer));
  }

  // A row for each dataset; the first one has the time.
  template <Callback callback>
  void tell_transfers(const vol::Arguments<callback>& args) {
    for (std::size_t i = 0; i < args.count; ++i) {
      vol::Object& dataset = vol::Object::from(args.datasets[i]);
      Call row = row_;
      if (i > 0) row.duration = 0;  // the first one has it
      if (TracedObject* const told = traced(dataset, H5I_DATASET)) {
        row.object = told->known->id;
        if (!row.failed)
          answered([&] {
            const vol::Transfer transfer{dataset, args.mem_types[i], args.mem_spaces[i],
                                         args.file_spaces[i], args.dxpl};
            tell_transfer(transfer, *told, row);
          });
      }
      if (i == 0) row_.bytes = row.bytes;
      add(row, args.dxpl);
    }
  }

  template <Callback callback>
  void tell_values(const vol::Arguments<callback>& args) {
    vol::Object& object = vol::Object::from(args.object);
    auto* const told = object.state.find<TracedObject>();
    if (told != nullptr && !row_.failed)
      answered([&] { tell_elements(object, *told, args.mem_type, row_); });
  }

  Call row_;
};

}  // namespace headrace::trace
