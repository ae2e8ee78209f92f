// How callbacks reach the connector below.
#pragma once

#include <tuple>
#include <utility>

#include "hdf5/quiet_errors.hpp"
#include "vol/callbacks.hpp"
#include "vol/object.hpp"

namespace headrace::vol {

// Of a callback that another connector can be asked for: HDF5's function for it, the position of
// the connector's id among that one's arguments, and the function in a connector's class struct.
template <Callback callback>
struct Route;

#define HEADRACE_ROUTE_pass(name, member, position)                               \
  template <>                                                                     \
  struct Route<Callback::name> {                                                  \
    static constexpr auto kThrough = &Api::VL##name;                              \
    static constexpr std::size_t kIdAt = position;                                \
    static signature::name direct(const H5VL_class_t& cls) { return cls.member; } \
  };
#define HEADRACE_ROUTE_close(name, member, position) HEADRACE_ROUTE_pass(name, member, position)
#define HEADRACE_ROUTE_own(name, member, position) HEADRACE_ROUTE_pass(name, member, position)
#define HEADRACE_ROUTE_alone(name, member, position)
#define HEADRACE_VOL(name, member, how, position) HEADRACE_ROUTE_##how(name, member, position)
#include "vol/callbacks.def"
#undef HEADRACE_VOL
#undef HEADRACE_ROUTE_pass
#undef HEADRACE_ROUTE_close
#undef HEADRACE_ROUTE_own
#undef HEADRACE_ROUTE_alone

// Calls the connector below, with the arguments of the callback. The native connector's function
// and ours are called as HDF5 would call them; all others through HDF5, which looks up the
// connector each time.
template <Callback callback, typename... Args>
auto call_under(const UnderConnector& connector, Args... args) {
  using To = Route<callback>;
  if (const H5VL_class_t* below = connector.direct(); below != nullptr)
    if (const auto function = To::direct(*below); function != nullptr) return function(args...);
  const QuietForwarding quiet;
  const std::tuple<Args...> all(args...);
  const auto through = [&]<std::size_t... i, std::size_t... j>(std::index_sequence<i...>,
                                                               std::index_sequence<j...>) {
    return (h5.*To::kThrough)(std::get<i>(all)..., connector.id(), std::get<To::kIdAt + j>(all)...);
  };
  return through(std::make_index_sequence<To::kIdAt>(),
                 std::make_index_sequence<sizeof...(Args) - To::kIdAt>());
}

}  // namespace headrace::vol
