// The pass-through that every VOL connector derives from: one static member per row of
// vol/callbacks.def, with HDF5's own signature, that hands the call to the connector below.
//
// A connector derives, shadows the few functions it changes and states them:
//
//   struct Null : vol::PassThrough<Null> {
//     static constexpr const char* kName = "headrace_null";
//     static constexpr H5VL_class_value_t kValue = 7200;
//     static constexpr std::array<vol::Callback, 0> kOverrides{};
//   };
//
// Functions may throw; vol/make_class.hpp puts each behind the edge. Called on the application's
// thread only, under HDF5's lock where there is one.
#pragma once

#include <array>
#include <vector>

#include "hdf5/report/events.hpp"
#include "hdf5/report/summary.hpp"
#include "vol/callbacks.hpp"
#include "vol/closing.hpp"
#include "vol/file/file_access.hpp"
#include "vol/file/file_facts.hpp"
#include "vol/file/rank.hpp"
#include "vol/file/system_file.hpp"
#include "vol/forward.hpp"

namespace headrace::vol {

// Forwarders that do not depend on the connector, in vol/own.cpp.
// HDF5 asks every connector that it can find, by a call that has no file, whether it could open one
// which has just failed to open: what failed is on the error stack.
inline bool is_search(const H5VL_file_specific_args_t& args) {
  return args.op_type == H5VL_FILE_IS_ACCESSIBLE && h5.Eget_num(kDefaultStack) > 0;
}

namespace own {
herr_t link_create(H5VL_link_create_args_t* args, void* self, const H5VL_loc_params_t* loc,
                   hid_t lcpl, hid_t lapl, hid_t dxpl, void** req);
herr_t link_copy(void* from, const H5VL_loc_params_t* from_loc, void* to,
                 const H5VL_loc_params_t* to_loc, hid_t lcpl, hid_t lapl, hid_t dxpl, void** req);
herr_t link_move(void* from, const H5VL_loc_params_t* from_loc, void* to,
                 const H5VL_loc_params_t* to_loc, hid_t lcpl, hid_t lapl, hid_t dxpl, void** req);
herr_t object_copy(void* from, const H5VL_loc_params_t* from_loc, const char* from_name, void* to,
                   const H5VL_loc_params_t* to_loc, const char* to_name, hid_t ocpypl, hid_t lcpl,
                   hid_t dxpl, void** req);
herr_t group_specific(void* self, H5VL_group_specific_args_t* args, hid_t dxpl, void** req);
herr_t file_get(void* self, H5VL_file_get_args_t* args, hid_t dxpl, void** req);
herr_t file_specific(const Layer& layer, void* self, H5VL_file_specific_args_t* args, hid_t dxpl,
                     void** req);
herr_t dataset_read(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                    hid_t file_space[], hid_t dxpl, void* buf[], void** req);
herr_t dataset_write(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                     hid_t file_space[], hid_t dxpl, const void* buf[], void** req);
herr_t optional(void* self, H5VL_optional_args_t* args, hid_t dxpl, void** req);
herr_t info_cmp(int* result, const void* a, const void* b);
void* wrap_get_object(const void* self);
herr_t wrap_get_wrap_ctx(const void* self, void** context);
void* wrap_wrap_object(void* under, H5I_type_t type, void* context);
void* wrap_unwrap_object(void* self);
herr_t wrap_free_wrap_ctx(void* context);
}  // namespace own

template <typename C>
class PassThrough {
 public:
  using Inherited = PassThrough<C>;
  using ConnectorInfo = Info;
  // Options of the layer and the driver it wants below; shadow where there are any.
  static constexpr std::span<const Setting> kSettings{};
  static constexpr unsigned kVersion = 1;
  static constexpr std::uint64_t kCapFlags = 0;
  // Whether it may be in a chain twice: what a layer keeps, it takes for its own wherever it is.
  static constexpr bool kRepeats = false;
  static DriverSeat driver_seat(const Options& /*options*/) { return {}; }
  static Layer layer() { return {C::kName, C::kSettings, &C::driver_seat, C::kValue, C::kRepeats}; }

#define HEADRACE_UNDER_pass(name) \
  static constexpr signature::name name = &Forwarder<Callback::name, signature::name>::call;
#define HEADRACE_UNDER_close(name) \
  static constexpr signature::name name = &CloseForwarder<Callback::name, signature::name>::call;
#define HEADRACE_UNDER_own(name)
#define HEADRACE_UNDER_alone(name)
#define HEADRACE_VOL(name, member, how, position) HEADRACE_UNDER_##how(name)
#include "vol/callbacks.def"
#undef HEADRACE_VOL
#undef HEADRACE_UNDER_pass
#undef HEADRACE_UNDER_close
#undef HEADRACE_UNDER_own
#undef HEADRACE_UNDER_alone

  static herr_t initialize(hid_t /*vipl*/) {
    report_load(Seat::vol, C::kName);
    watch_library();
    return 0;
  }
  static herr_t terminate() { return 0; }

  static void* file_create(const char* name, unsigned flags, hid_t fcpl, hid_t fapl, hid_t dxpl,
                           void** req) {
    const QuietForwarding quiet;
    FileAccess access(fapl, layer());
    let_prepare(access, {name, flags, true, fapl});
    void* under = h5.VLfile_create(name, flags, fcpl, access.under_fapl(), dxpl, req);
    return opened("file_create", {name, flags, true, fapl}, under, access.connector(), dxpl, req);
  }
  static void* file_open(const char* name, unsigned flags, hid_t fapl, hid_t dxpl, void** req) {
    const QuietForwarding quiet;
    FileAccess access(fapl, layer());
    let_prepare(access, {name, flags, false, fapl});
    void* under = h5.VLfile_open(name, flags, access.under_fapl(), dxpl, req);
    return opened("file_open", {name, flags, false, fapl}, under, access.connector(), dxpl, req);
  }
  static herr_t file_specific(void* self, H5VL_file_specific_args_t* args, hid_t dxpl, void** req) {
    return own::file_specific(layer(), self, args, dxpl, req);
  }

  static constexpr auto link_create = &own::link_create;
  static constexpr auto link_copy = &own::link_copy;
  static constexpr auto link_move = &own::link_move;
  static constexpr auto object_copy = &own::object_copy;
  static constexpr auto group_specific = &own::group_specific;
  static constexpr auto file_get = &own::file_get;
  static constexpr auto dataset_read = &own::dataset_read;
  static constexpr auto dataset_write = &own::dataset_write;
  static constexpr auto optional = &own::optional;
  static constexpr auto info_cmp = &own::info_cmp;
  static constexpr auto wrap_get_object = &own::wrap_get_object;
  static constexpr auto wrap_get_wrap_ctx = &own::wrap_get_wrap_ctx;
  static constexpr auto wrap_wrap_object = &own::wrap_wrap_object;
  static constexpr auto wrap_unwrap_object = &own::wrap_unwrap_object;
  static constexpr auto wrap_free_wrap_ctx = &own::wrap_free_wrap_ctx;

  static void* info_copy(const void* info) {
    return static_cast<const Info*>(info)->copy().release();
  }
  static herr_t info_free(void* info) {
    delete static_cast<Info*>(info);
    return 0;
  }
  static herr_t info_to_str(const void* info, char** text) {
    *text = info == nullptr ? nullptr : format_info(*static_cast<const Info*>(info));
    return 0;
  }
  static herr_t info_from_str(const char* text, void** info) {
    *info = parse_info(text, layer()).release();
    return 0;
  }

  static herr_t introspect_get_conn_cls(void* self, H5VL_get_conn_lvl_t level,
                                        const H5VL_class_t** cls) {
    if (level == H5VL_GET_CONN_LVL_CURR) {
      *cls = &class_of<C>();
      return 0;
    }
    const Object& object = Object::from(self);
    const QuietForwarding quiet;
    return h5.VLintrospect_get_conn_cls(object.under, object.connector->id(), level, cls);
  }
  static herr_t introspect_get_cap_flags(const void* given, std::uint64_t* flags) {
    const auto fallback = given == nullptr ? parse_info(nullptr, layer()) : nullptr;
    const Info& info = given == nullptr ? *fallback : *static_cast<const Info*>(given);
    const herr_t result =
        h5.VLintrospect_get_cap_flags(info.under.get(), info.connector->id(), flags);
    *flags |= C::kCapFlags;
    return result;
  }

  // The table's entry for a callback: the connector's function, with what goes around it.
  template <Callback callback, bool closes, auto function>
  static constexpr auto entry() {
    if constexpr (callback == Callback::dataset_close)
      return &DatasetClosing<function, PassThrough<C>::dataset_close>::call;
    else if constexpr (callback == Callback::file_close)
      return &FileClosing<function>::call;
    else if constexpr (callback == Callback::file_specific)
      return &FileFlushing<function>::call;
    else if constexpr (callback == Callback::optional)
      return &MapClosing<function>::call;
    else if constexpr (closes)
      return &Closing<function>::call;
    else
      return function;
  }
  // Functions around infos and connector ids clear the error stack and print; those of objects see
  // to what they call.
  template <Callback callback>
  using Guard =
      std::conditional_t <
      callback<Callback::wrap_get_object || callback == Callback::introspect_get_cap_flags,
               NestedCalls, NoGuard>;

 private:
  // A connector may have a function
  //   static void prepare_access(FileAccess& access, const Opening& opening);
  // that changes the list which the file below is created or opened with.
  static void let_prepare(FileAccess& access, const Opening& opening) {
    if constexpr (requires { C::prepare_access(access, opening); })
      C::prepare_access(access, opening);
  }

  static void* opened(const char* call, const Opening& opening, void* under,
                      const UnderRef& connector, hid_t dxpl, void** req) {
    const auto place =
        under == nullptr ? std::nullopt : rank_in(under, *connector, opening.fapl, dxpl);
    report_file(Seat::vol, C::kName, call, opening.name, under != nullptr, place);
    wrap_request(req, connector);
    if (under == nullptr) return nullptr;
    count_file();
    connector->look_below(under);
    if (opening.writes()) tell_of_writing(under, *connector, opening.fapl);
    return new Object{under, connector};
  }
};

}  // namespace headrace::vol
