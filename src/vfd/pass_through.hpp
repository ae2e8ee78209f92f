// The pass-through that every file driver derives from: one static member per row of
// vfd/callbacks.def, with HDF5's own signature, that hands the call to the driver below.
//
// A driver is a template over what lies below; it shadows the few functions it changes and states
// them:
//
//   template <vfd::Over over>
//   struct Null : vfd::PassThrough<Null<over>, over> {
//     static constexpr const char* kName = over == vfd::Over::sec2 ? "headrace_null" : "..._mpi";
//     static constexpr H5FD_class_value_t kValue = 7200;
//     static constexpr std::array<vfd::Callback, 0> kOverrides{};
//   };
//
// Functions may throw; vfd/make_class.hpp puts each behind the edge. Called on the application's
// thread only, under HDF5's lock where there is one.
#pragma once

#include <array>
#include <concepts>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "hdf5/driver_config.hpp"
#include "hdf5/quiet_errors.hpp"
#include "hdf5/report/events.hpp"
#include "vfd/file.hpp"
#include "vfd/storage.hpp"

namespace headrace::vfd {

// A function with exactly the signature of the callback: that of the class below, called as HDF5
// itself would, within the API context of the program's call (transfer properties and what HDF5
// returns in them survive, nothing is printed or cleared). Where the class below has none, `absent`
// of `h5` knows what that means.
template <auto callback, auto absent, typename Signature>
struct Forwarder;

template <auto callback, auto absent, typename R, typename F, typename... Rest>
struct Forwarder<callback, absent, R (*)(F*, Rest...)> {
  static R call(F* file, Rest... rest) {
    H5FD_t* under = File::under_of(file);
    if (const auto function = under->cls->*callback; function != nullptr)
      return function(under, rest...);
    const NestedCalls nested;
    return (h5.*absent)(under, rest...);
  }
};

// F: what stands for an open file, derived from File when the driver keeps state of its own with
// it; the driver's `open` fills that in after the one here has succeeded.
template <typename D, Over over, std::derived_from<File> F = File>
class PassThrough {
 public:
  using Base = PassThrough;
  static constexpr Over kOver = over;
  static constexpr std::span<const Setting> kSettings{};
  static constexpr bool kRepeats = false;  // whether it may be in a chain twice
  static constexpr haddr_t kMaxAddr =
      over == Over::sec2 ? (haddr_t{1} << 63U) - 1 : HADDR_MAX;  // as sec2 and mpio say
  static Layer layer() { return {D::kName, D::kSettings, over, D::kRepeats}; }

#define HEADRACE_KIND_own(name, function)
#define HEADRACE_KIND_absent(name, function) static constexpr signature::name name = nullptr;
#define HEADRACE_KIND_pass(name, function) \
  static constexpr signature::name name =  \
      &Forwarder<&H5FD_class_t::name, &Api::function, signature::name>::call;
#define HEADRACE_KIND_pass_mpio(name, function)                                                   \
  static constexpr signature::name name =                                                         \
      over == Over::mpio ? &Forwarder<&H5FD_class_t::name, &Api::function, signature::name>::call \
                         : nullptr;
#define HEADRACE_KIND_pass_sec2(name, function)                                                   \
  static constexpr signature::name name =                                                         \
      over == Over::sec2 ? &Forwarder<&H5FD_class_t::name, &Api::function, signature::name>::call \
                         : nullptr;
#define HEADRACE_VFD(name, kind, function) HEADRACE_KIND_##kind(name, function)
#include "vfd/callbacks.def"
#undef HEADRACE_VFD
#undef HEADRACE_KIND_own
#undef HEADRACE_KIND_absent
#undef HEADRACE_KIND_pass
#undef HEADRACE_KIND_pass_mpio
#undef HEADRACE_KIND_pass_sec2

  static herr_t terminate() { return 0; }

  // A driver's info is its configuration string: what HDF5 keeps of a file's driver in the lists
  // that it makes by itself. Freed by fapl_free.
  static void* fapl_get(H5FD_t* file) {
    return fapl_copy(reinterpret_cast<File*>(file)->config.c_str());
  }
  static void* fapl_copy(const void* info) {
    char* copy = ::strdup(static_cast<const char*>(info));
    if (copy == nullptr) throw std::bad_alloc();
    return copy;
  }
  static herr_t fapl_free(void* info) {
    std::free(info);
    return 0;
  }

  static H5FD_t* open(const char* name, unsigned flags, hid_t fapl, haddr_t maxaddr) {
    auto file = std::make_unique<F>();
    file->config = driver_config(fapl);
    file->under = open_under(name, flags, fapl, maxaddr, file->config, layer());
    report_open(name, file->under);
    if (file->under == nullptr) return nullptr;
    if constexpr (over == Over::mpio) file->mpi_file = mpi_file_of(file->under, fapl);
    return &file.release()->pub;
  }
  static herr_t close(H5FD_t* file) {
    const std::unique_ptr<F> owner(reinterpret_cast<F*>(file));
    return h5.FDclose(owner->under);
  }
  static constexpr signature::cmp cmp = over == Over::sec2 ? &compare_under : nullptr;
  static herr_t query(const H5FD_t* file, unsigned long* flags) {
    if (file != nullptr) return query_under(File::under_of(file), flags);
    const NestedCalls nested;
    return query_default(over, flags);
  }
  static herr_t del(const char* name, hid_t fapl) {
    const Id<Kind::plist> below = under_fapl(fapl, layer());
    return h5.FDdelete(name, below.get());
  }

  // For worker threads; shadow where the driver changes what is done to the bytes. May be null, see
  // vfd/storage.hpp.
  static std::unique_ptr<engine::io::File> storage(H5FD_t* file, const char* name) {
    return storage_of(File::under_of(file), name, over);
  }
  static herr_t ctl(H5FD_t* file, std::uint64_t code, std::uint64_t flags, const void* input,
                    void** output) {
    if (code == kDescriptorCode) {
      *output = descriptor_of(File::under_of(file));
      return 0;
    }
    if (code != kStorageCode)
      return Forwarder<&H5FD_class_t::ctl, &Api::FDctl, signature::ctl>::call(file, code, flags,
                                                                              input, output);
    *output = D::storage(file, static_cast<const char*>(input)).release();
    return 0;
  }

 private:
  static void report_open(const char* name, H5FD_t* under) {
    static const bool loaded = (report_load(Seat::vfd, D::kName), true);
    std::optional<Rank> place;
    if constexpr (over == Over::mpio)
      if (under != nullptr) place = rank_in(under);
    report_file(Seat::vfd, D::kName, "open", name, loaded && under != nullptr, place);
  }
};

}  // namespace headrace::vfd
