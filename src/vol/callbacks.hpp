// The list of vol/callbacks.def as an enum, names and signatures.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "hdf5/api.hpp"

namespace headrace::vol {

enum class Callback {
#define HEADRACE_VOL(name, member, how, position) name,
#include "vol/callbacks.def"
#undef HEADRACE_VOL
  count_
};

inline constexpr auto kCallbackNames = std::to_array<const char*>({
#define HEADRACE_VOL(name, member, how, position) #name,
#include "vol/callbacks.def"
#undef HEADRACE_VOL
});

// One function each, and the size of a connector's info among them: a newer HDF5 that has more
// needs a row in vol/callbacks.def.
static_assert(sizeof(H5VL_class_t) ==
              offsetof(H5VL_class_t, initialize) + (kCallbackNames.size() + 1) * sizeof(void*));

// The function pointer type of each callback, named after it: signature::dataset_write.
namespace signature {
#define HEADRACE_VOL(name, member, how, position) using name = decltype(H5VL_class_t{}.member);
#include "vol/callbacks.def"
#undef HEADRACE_VOL
}  // namespace signature

// The class struct of a connector; see vol/make_class.hpp.
template <typename C>
const H5VL_class_t& class_of();

}  // namespace headrace::vol
