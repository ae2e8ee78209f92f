// What a connector derives from whose files are of two kinds: those of a connector below, which it
// passes on as vol/pass_through.hpp does, and some of its own, of which it keeps all itself as
// vol/terminal/terminal.hpp does.
//
//   struct Own : vol::Terminal<Own> { … };         the callbacks for objects of its own
//   struct Connector : vol::Mixed<Connector, Own>  with file_create and file_open, which decide
//
// Each call goes to one of the two by the object that it is made for. A connector shadows here what
// comes without an object. Objects of both kinds in one call: transfers are made one by one, and
// what links or copies between them is refused.
#pragma once

#include "vol/pass_through.hpp"
#include "vol/terminal/terminal.hpp"

namespace headrace::vol {

inline bool is_own(const void* object) { return object != nullptr && !Object::is(object); }

// By the first argument.
template <typename Own, Callback callback, auto below, auto own, typename Signature = decltype(own)>
struct ByObject;

template <typename Own, Callback callback, auto below, auto own, typename R, typename Self,
          typename... Rest>
struct ByObject<Own, callback, below, own, R (*)(Self, Rest...)> {
  static R call(Self self, Rest... rest) {
    if (!is_own(self)) return below(self, rest...);
    [[maybe_unused]] const typename Terminal<Own>::template Guard<callback> guard{};
    return own(self, rest...);
  }
};

// Of two objects, one of which may be missing; `from` and `to` are at these places.
template <typename Own, Callback callback, auto below, auto own, std::size_t from, std::size_t to,
          typename Signature = decltype(own)>
struct ByBoth;

template <typename Own, Callback callback, auto below, auto own, std::size_t from, std::size_t to,
          typename R, typename... Args>
struct ByBoth<Own, callback, below, own, from, to, R (*)(Args...)> {
  static R call(Args... args) {
    const std::tuple<Args...> all(args...);
    const void* const one = std::get<from>(all);
    const void* const other = std::get<to>(all);
    if (one != nullptr && other != nullptr && is_own(one) != is_own(other))
      throw Error(std::string("connector ") + Own::kName +
                  " does not support this between a file of its own and another one (" +
                  kCallbackNames[static_cast<std::size_t>(callback)] + ")");
    if (!is_own(one == nullptr ? other : one)) return below(args...);
    [[maybe_unused]] const typename Terminal<Own>::template Guard<callback> guard{};
    return own(args...);
  }
};

template <typename C, typename Own>
class Mixed : public PassThrough<C> {
  using Below = PassThrough<C>;

 public:
  using Inherited = Mixed<C, Own>;

#define HEADRACE_BELOW(name, closes) Below::template entry<Callback::name, closes, Below::name>()
#define HEADRACE_OWN(name, closes) \
  Terminal<Own>::template entry<Callback::name, closes, static_cast<signature::name>(Own::name)>()
#define HEADRACE_EITHER_pass(name)                                \
  static constexpr signature::name name =                         \
      &ByObject<Own, Callback::name, HEADRACE_BELOW(name, false), \
                HEADRACE_OWN(name, false)>::call;
#define HEADRACE_EITHER_close(name)       \
  static constexpr signature::name name = \
      &ByObject<Own, Callback::name, HEADRACE_BELOW(name, true), HEADRACE_OWN(name, true)>::call;
#define HEADRACE_EITHER_own(name)
#define HEADRACE_EITHER_alone(name)
#define HEADRACE_VOL(name, member, how, position) HEADRACE_EITHER_##how(name)
#include "vol/callbacks.def"
#undef HEADRACE_VOL
#undef HEADRACE_EITHER_pass
#undef HEADRACE_EITHER_close
#undef HEADRACE_EITHER_own
#undef HEADRACE_EITHER_alone

#define HEADRACE_BY_OBJECT(name)                                  \
  static constexpr signature::name name =                         \
      &ByObject<Own, Callback::name, HEADRACE_BELOW(name, false), \
                HEADRACE_OWN(name, false)>::call;
#define HEADRACE_BY_BOTH(name, from, to)                                                       \
  static constexpr signature::name name =                                                      \
      &ByBoth<Own, Callback::name, Below::name, static_cast<signature::name>(Own::name), from, \
              to>::call;
  HEADRACE_BY_OBJECT(file_get)
  HEADRACE_BY_OBJECT(file_specific)
  HEADRACE_BY_OBJECT(group_specific)
  HEADRACE_BY_OBJECT(optional)
  HEADRACE_BY_BOTH(link_copy, 0, 2)
  HEADRACE_BY_BOTH(link_move, 0, 2)
  HEADRACE_BY_BOTH(object_copy, 0, 3)
#undef HEADRACE_BY_OBJECT
#undef HEADRACE_BY_BOTH
#undef HEADRACE_BELOW
#undef HEADRACE_OWN

  static herr_t link_create(H5VL_link_create_args_t* args, void* self,
                            const H5VL_loc_params_t* where, hid_t lcpl, hid_t lapl, hid_t dxpl,
                            void** req) {
    void* const target =
        args->op_type == H5VL_LINK_CREATE_HARD ? args->args.hard.curr_obj : nullptr;
    if (self != nullptr && target != nullptr && is_own(self) != is_own(target))
      throw Error("a hard link cannot lead to another file");
    if (!is_own(self == nullptr ? target : self))
      return Below::link_create(args, self, where, lcpl, lapl, dxpl, req);
    const NestedCalls nested;
    return Own::link_create(args, self, where, lcpl, lapl, dxpl, req);
  }

  static herr_t dataset_read(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                             hid_t file_space[], hid_t dxpl, void* buf[], void** req) {
    return transfer<&Own::dataset_read, Below::dataset_read>(count, dset, mem_type, mem_space,
                                                             file_space, dxpl, buf, req);
  }
  static herr_t dataset_write(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                              hid_t file_space[], hid_t dxpl, const void* buf[], void** req) {
    return transfer<&Own::dataset_write, Below::dataset_write>(count, dset, mem_type, mem_space,
                                                               file_space, dxpl, buf, req);
  }

  // Objects of its own are not wrapped.
  static void* wrap_get_object(const void* self) {
    return TerminalObject::is(self) ? TerminalObject::face_of(self) : Below::wrap_get_object(self);
  }
  static herr_t wrap_get_wrap_ctx(const void* self, void** context) {
    if (!is_own(self)) return Below::wrap_get_wrap_ctx(self, context);
    *context = nullptr;
    return 0;
  }
  static void* wrap_wrap_object(void* object, H5I_type_t type, void* context) {
    return context == nullptr ? object : Below::wrap_wrap_object(object, type, context);
  }
  static void* wrap_unwrap_object(void* self) {
    return is_own(self) ? self : Below::wrap_unwrap_object(self);
  }
  static herr_t wrap_free_wrap_ctx(void* context) {
    return context == nullptr ? 0 : Below::wrap_free_wrap_ctx(context);
  }

  static herr_t introspect_get_conn_cls(void* self, H5VL_get_conn_lvl_t level,
                                        const H5VL_class_t** cls) {
    if (!is_own(self)) return Below::introspect_get_conn_cls(self, level, cls);
    *cls = level == H5VL_GET_CONN_LVL_TERM ? TerminalObject::from(self).opening()->native()
                                           : &class_of<C>();
    return 0;
  }

  // What goes around the functions of either kind goes around them one by one.
  template <Callback callback, bool closes, auto function>
  static constexpr auto entry() {
    return function;
  }

 private:
  template <auto own, auto below, typename Buffer>
  static herr_t transfer(std::size_t count, void* dset[], hid_t mem_type[], hid_t mem_space[],
                         hid_t file_space[], hid_t dxpl, Buffer buf[], void** req) {
    const auto part = [&](std::size_t first, std::size_t many) {
      void** const given = dset + first;
      if (!is_own(*given))
        return below(many, given, mem_type + first, mem_space + first, file_space + first, dxpl,
                     buf + first, req);
      const NestedCalls nested;
      return own(many, given, mem_type + first, mem_space + first, file_space + first, dxpl,
                 buf + first, req);
    };
    if (count == 0) return 0;
    const bool alike = std::all_of(dset, dset + count,
                                   [&](const void* one) { return is_own(one) == is_own(dset[0]); });
    if (alike) return part(0, count);
    for (std::size_t i = 0; i < count; ++i)
      if (part(i, 1) < 0) return -1;
    return 0;
  }
};

}  // namespace headrace::vol
