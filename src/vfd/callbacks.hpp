// The list of vfd/callbacks.def as an enum, names and signatures.
#pragma once

#include <array>

#include "hdf5/api.hpp"

namespace headrace::vfd {

enum class Callback {
#define HEADRACE_VFD(name, kind, function) name,
#include "vfd/callbacks.def"
#undef HEADRACE_VFD
  count_
};

inline constexpr auto kCallbackNames = std::to_array<const char*>({
#define HEADRACE_VFD(name, kind, function) #name,
#include "vfd/callbacks.def"
#undef HEADRACE_VFD
});

// The function pointer type of each callback, named after it: signature::read.
namespace signature {
#define HEADRACE_VFD(name, kind, function) using name = decltype(H5FD_class_t{}.name);
#include "vfd/callbacks.def"
#undef HEADRACE_VFD
}  // namespace signature

// The library's driver that a class of ours is made for. One driver has two classes, because HDF5
// decides by the callbacks that a class has which of them it calls.
enum class Over { sec2, mpio };

}  // namespace headrace::vfd
