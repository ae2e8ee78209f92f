#include "kernels/iotest/file.hpp"

#include <string_view>

#include "base/error.hpp"

namespace headrace::bench::iotest {
namespace {

constexpr std::array<std::string_view, 6> kBounds{"earliest", "v18",  "v110",
                                                  "v112",     "v114", "v200"};

void set_libver(hid_t list, const Parameters& p) {
  check(H5Pset_libver_bounds(list, static_cast<H5F_libver_t>(libver_bound(p.libver_low)),
                             static_cast<H5F_libver_t>(libver_bound(p.libver_high))),
        "H5Pset_libver_bounds " + p.libver_low + ", " + p.libver_high);
}

// They exist in parallel builds only. All ranks read and write metadata together, as in the
// original.
void share_metadata(hid_t list) {
  using Set = herr_t(hid_t, bool);
  for (const char* name : {"H5Pset_all_coll_metadata_ops", "H5Pset_coll_metadata_write"})
    check(reinterpret_cast<Set*>(hdf5_function(name))(list, true), name);
}

std::string text_of(const Extent& extent) {
  std::string text;
  for (const auto size : extent) text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text;
}

}  // namespace

int libver_bound(const std::string& name) {
  const Handle list(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "file access property list");
  const auto known = [&](int bound) {
    return H5Pset_libver_bounds(list.get(), H5F_LIBVER_EARLIEST,
                                static_cast<H5F_libver_t>(bound)) >= 0;
  };
  if (name == "latest") {
    int latest = 1;
    while (known(latest + 1)) ++latest;
    return latest;
  }
  for (std::size_t i = 0; i < kBounds.size(); ++i) {
    const int bound = static_cast<int>(i);
    if (name == kBounds[i]) return bound == 0 || known(bound) ? bound : -1;
  }
  return -1;
}

Handle tuned_fapl(Handle list, const Parameters& p, bool mpio) {
  constexpr std::size_t kGrowth = std::size_t{64} << 20U;
  if (mpio)
    share_metadata(list.get());
  else if (p.ranks() == 1 && p.single_process == "core")
    check(H5Pset_fapl_core(list.get(), kGrowth, true), "H5Pset_fapl_core");
  check(H5Pset_alignment(list.get(), p.alignment_threshold, p.alignment_increment),
        "H5Pset_alignment");
  check(H5Pset_meta_block_size(list.get(), p.meta_block_size), "H5Pset_meta_block_size");
  set_libver(list.get(), p);
  if (!p.split) return list;
  Handle both(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "file access property list");
  check(H5Pset_fapl_split(both.get(), "-m.h5", list.get(), "-r.h5", list.get()),
        "H5Pset_fapl_split");
  set_libver(both.get(), p);
  return both;
}

Handle creation_list(const Parameters& p) {
  Handle list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "dataset creation property list");
  const hid_t id = list.get();
  if (p.chunked)
    check(H5Pset_chunk(id, p.dataset_rank, p.chunk().data()), "chunks of " + text_of(p.chunk()));
  else
    check(H5Pset_layout(id, H5D_CONTIGUOUS), "H5Pset_layout");
  if (p.gzip > 0) check(H5Pset_deflate(id, p.gzip), "H5Pset_deflate");
  if (p.szip_pixels > 0) check(H5Pset_szip(id, p.szip_mask, p.szip_pixels), "H5Pset_szip");
  check(H5Pset_fill_time(id, p.fill ? H5D_FILL_TIME_ALLOC : H5D_FILL_TIME_NEVER),
        "H5Pset_fill_time");
  return list;
}

Handle create(const Handle& file, const std::string& name, const Parameters& p) {
  const Handle creation = creation_list(p);
  const Handle link(H5Pcreate(H5P_LINK_CREATE), H5Pclose, "link creation property list");
  check(H5Pset_create_intermediate_group(link.get(), 1), "H5Pset_create_intermediate_group");
  const Handle space(
      H5Screate_simple(p.dataset_rank, p.extent().data(), p.limits(H5S_UNLIMITED).data()), H5Sclose,
      "dataspace of " + text_of(p.extent()));
  return {H5Dcreate2(file.get(), name.c_str(), H5T_NATIVE_DOUBLE, space.get(), link.get(),
                     creation.get(), H5P_DEFAULT),
          H5Dclose, "create dataset " + name};
}

void check_dataset(const Handle& dataset, const std::string& name, const Parameters& p) {
  const Handle type(H5Dget_type(dataset.get()), H5Tclose, "type of " + name);
  if (check(H5Tequal(type.get(), H5T_NATIVE_DOUBLE), "type of " + name) == 0)
    throw Error("dataset " + name + " is not of doubles");
  const Handle space(H5Dget_space(dataset.get()), H5Sclose, "shape of " + name);
  const int rank = check(H5Sget_simple_extent_ndims(space.get()), "shape of " + name);
  Extent found(static_cast<std::size_t>(rank));
  check(H5Sget_simple_extent_dims(space.get(), found.data(), nullptr), "shape of " + name);
  if (found != p.extent())
    throw Error("dataset " + name + " is " + text_of(found) + ", not " + text_of(p.extent()));
}

}  // namespace headrace::bench::iotest
