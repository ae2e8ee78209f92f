// What every terminal VOL connector derives from, one that has no connector below it: one static
// member per row of vol/callbacks.def, with HDF5's own signature, that refuses the call.
//
// A connector derives, shadows the functions that it has and states them, as one that derives from
// vol/pass_through.hpp does; hooks, errors, reports and the plug-in's entry are those of
// vol/make_class.hpp. What it hands to HDF5 is of types of its own (vol/terminal/object.hpp).
//
//   struct Connector : vol::Terminal<Connector> {
//     static constexpr const char* kName = "headrace_mine";
//     static constexpr H5VL_class_value_t kValue = 7299;
//     static constexpr std::array kOverrides{vol::Callback::file_create, ...};
//     static void* file_create(...) { return vol::handed(std::make_unique<...>(...)); }
//   };
//
// What HDF5 asks of every connector stands here. A function that a connector shadows for its own
// operations leaves the others to the one here, which answers or refuses them.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "vol/terminal/entry.hpp"

namespace headrace::vol {

// Of all callbacks, as if HDF5 asked for nothing.
template <typename C>
struct Refusals {
#define HEADRACE_REFUSE_pass(name) \
  static constexpr signature::name name = &Refusal<C, Callback::name, signature::name>::call;
#define HEADRACE_REFUSE_own(name) HEADRACE_REFUSE_pass(name)
#define HEADRACE_REFUSE_alone(name) HEADRACE_REFUSE_pass(name)
#define HEADRACE_REFUSE_close(name) \
  static constexpr signature::name name = &Released<signature::name>::call;
#define HEADRACE_VOL(name, member, how, position) HEADRACE_REFUSE_##how(name)
#include "vol/callbacks.def"
#undef HEADRACE_VOL
#undef HEADRACE_REFUSE_pass
#undef HEADRACE_REFUSE_own
#undef HEADRACE_REFUSE_alone
#undef HEADRACE_REFUSE_close
};

template <typename C>
class Terminal : public Refusals<C> {
  using Refused = Refusals<C>;

 public:
  using Inherited = Terminal<C>;
  using ConnectorInfo = TerminalInfo;
  static constexpr std::span<const Setting> kSettings{};
  static constexpr unsigned kVersion = 1;
  static constexpr std::uint64_t kCapFlags = 0;

  static herr_t initialize(hid_t /*vipl*/) {
    report_load(Seat::vol, C::kName);
    watch_library();
    return 0;
  }
  static herr_t terminate() { return 0; }

  static void* info_copy(const void* info) {
    return new TerminalInfo(*static_cast<const TerminalInfo*>(info));
  }
  static herr_t info_cmp(int* result, const void* a, const void* b) {
    const auto order = static_cast<const TerminalInfo*>(a)->options <=>
                       static_cast<const TerminalInfo*>(b)->options;
    *result = static_cast<int>(order > 0) - static_cast<int>(order < 0);
    return 0;
  }
  static herr_t info_free(void* info) {
    delete static_cast<TerminalInfo*>(info);
    return 0;
  }
  static herr_t info_to_str(const void* info, char** text) {
    *text =
        info == nullptr ? nullptr : format_terminal_info(*static_cast<const TerminalInfo*>(info));
    return 0;
  }
  static herr_t info_from_str(const char* text, void** info) {
    *info = parse_terminal_info(text, C::kName, C::kSettings).release();
    return 0;
  }

  // What a connector hands out is what HDF5 holds, so nothing is wrapped: HDF5 does without these.
  static constexpr signature::wrap_get_wrap_ctx wrap_get_wrap_ctx = nullptr;
  static constexpr signature::wrap_free_wrap_ctx wrap_free_wrap_ctx = nullptr;
  static constexpr signature::wrap_wrap_object wrap_wrap_object = nullptr;
  static constexpr signature::wrap_unwrap_object wrap_unwrap_object = nullptr;
  static void* wrap_get_object(const void* self) { return TerminalObject::face_of(self); }
  // Without these it compares and prints tokens byte by byte.
  static constexpr signature::token_cmp token_cmp = nullptr;

  static herr_t introspect_get_conn_cls(void* self, H5VL_get_conn_lvl_t level,
                                        const H5VL_class_t** cls) {
    const bool native = level == H5VL_GET_CONN_LVL_TERM && self != nullptr;
    *cls = native ? TerminalObject::from(self).opening()->native() : &class_of<C>();
    return 0;
  }
  static herr_t introspect_get_cap_flags(const void* /*info*/, std::uint64_t* flags) {
    *flags = C::kCapFlags;
    return 0;
  }
  static herr_t introspect_opt_query(void* /*self*/, H5VL_subclass_t /*subclass*/,
                                     int /*operation*/, std::uint64_t* flags) {
    *flags = 0;  // none is supported
    return 0;
  }

  static herr_t file_get(void* self, H5VL_file_get_args_t* args, hid_t dxpl, void** req) {
    const TerminalObject& object = TerminalObject::from(self);
    auto& out = args->args;
    if (args->op_type == H5VL_FILE_GET_INTENT) {
      *out.get_intent.flags = object.opening()->intent();
    } else if (args->op_type == H5VL_FILE_GET_OBJ_COUNT) {
      *out.get_obj_count.count = open_ids(object, out.get_obj_count.types, ~std::size_t{0}).size();
    } else if (args->op_type == H5VL_FILE_GET_OBJ_IDS) {
      const auto ids = open_ids(object, out.get_obj_ids.types, out.get_obj_ids.max_objs);
      std::ranges::copy(ids, out.get_obj_ids.oid_list);
      *out.get_obj_ids.count = ids.size();
    } else {
      return Refused::file_get(self, args, dxpl, req);
    }
    return 0;
  }
  static herr_t file_specific(void* self, H5VL_file_specific_args_t* args, hid_t dxpl, void** req) {
    if (args->op_type != H5VL_FILE_IS_EQUAL) return Refused::file_specific(self, args, dxpl, req);
    *args->args.is_equal.same_file =
        is_same_file(TerminalObject::from(self), args->args.is_equal.obj2);
    return 0;
  }

  // Of the native form of an object, for the functions that native objects are asked of: it takes
  // no room.
  static herr_t object_optional(void* self, const H5VL_loc_params_t* where,
                                H5VL_optional_args_t* args, hid_t dxpl, void** req) {
    if (args->op_type != H5VL_NATIVE_OBJECT_GET_NATIVE_INFO)
      return Refused::object_optional(self, where, args, dxpl, req);
    *static_cast<H5VL_native_object_optional_args_t*>(args->args)->get_native_info.ninfo = {};
    return 0;
  }

  // What H5Gget_objinfo asks, by which h5py compares objects: as the object's info says it.
  static herr_t group_optional(void* self, H5VL_optional_args_t* args, hid_t dxpl, void** req) {
    if (args->op_type != H5VL_NATIVE_GROUP_GET_OBJINFO)
      return Refused::group_optional(self, args, dxpl, req);
    const auto& in = static_cast<H5VL_native_group_optional_args_t*>(args->args)->get_objinfo;
    if (!follows_links(in.loc_params, in.follow_link)) {
      H5L_info2_t link{};
      H5VL_link_get_args_t asked{H5VL_LINK_GET_INFO, {}};
      asked.args.get_info.linfo = &link;
      const herr_t result = C::link_get(self, &in.loc_params, &asked, dxpl, req);
      if (result < 0 || link.type != H5L_TYPE_HARD) {
        if (result >= 0 && in.statbuf != nullptr) *in.statbuf = stat_of(link);
        return result;
      }
    }
    H5O_info2_t info{};
    H5VL_object_get_args_t object{H5VL_OBJECT_GET_INFO, {}};
    object.args.get_info = {H5O_INFO_ALL, &info};
    const herr_t result = C::object_get(self, &in.loc_params, &object, dxpl, req);
    if (result >= 0 && in.statbuf != nullptr) *in.statbuf = stat_of(info);
    return result;
  }

  // The table's entry for a callback: the connector's function, with what goes around it.
  template <Callback callback, bool closes, auto function>
  static constexpr auto entry() {
    if constexpr (callback == Callback::dataset_close)
      return &TerminalDatasetClosing<function>::call;
    else if constexpr (callback == Callback::file_specific)
      return &TerminalFlushing<function>::call;
    else if constexpr (callback == Callback::optional)
      return &TerminalMapClosing<function>::call;
    else if constexpr (callback == Callback::file_create || callback == Callback::file_open)
      return &TerminalOpening<C, callback, function>::call;
    else if constexpr (closes)
      return &TerminalClosing<function>::call;
    else
      return function;
  }
  // A connector's functions call those of HDF5, which clear the error stack and print. In those
  // that iterate the program's own code runs, which finds its handler of errors as it set it.
  static constexpr bool runs_program(Callback callback) {
    return callback == Callback::attr_specific || callback == Callback::link_specific ||
           callback == Callback::object_specific || callback == Callback::optional;
  }
  template <Callback callback>
  using Guard =
      std::conditional_t<callback == Callback::initialize || callback == Callback::terminate,
                         NoGuard,
                         std::conditional_t<runs_program(callback), ErrorStackKeeper, NestedCalls>>;
};

}  // namespace headrace::vol
