#include "layers/tune/connector/rules/creation.hpp"

#include <algorithm>
#include <array>

#include "hdf5/quiet_errors.hpp"
#include "vol/chunks/layout.hpp"
#include "vol/dataset/elements.hpp"

namespace headrace::tune {
namespace {

constexpr std::uint64_t kLargestCompact = 60000;  // bytes: a header's message has fewer than 64 KiB
constexpr const char* kStrategy = "file_space_strategy";
constexpr const char* kPage = "file_space_page_size";

struct Extent {
  int rank = -1;
  std::array<hsize_t, engine::kMaxRank> dims{};
  std::array<hsize_t, engine::kMaxRank> most{};
};

Extent extent_of(hid_t space) {
  Extent found;
  const int rank = h5.Sget_simple_extent_ndims(space);
  if (rank < 0 || rank > static_cast<int>(engine::kMaxRank) ||
      h5.Sget_simple_extent_dims(space, found.dims.data(), found.most.data()) < 0)
    return found;
  found.rank = rank;
  return found;
}

bool is_fixed(const Extent& extent) { return extent.dims == extent.most; }

// A creation list that is being changed.
class Creation {
 public:
  Creation(hid_t type, hid_t space, hid_t dcpl)
      : type_(type),
        space_(space),
        extent_(extent_of(space)),
        list_(h5.Pcopy(dcpl)),
        layout_(h5.Pget_layout(dcpl)) {}

  // Virtual and external datasets say where their data are.
  [[nodiscard]] bool is_plain() const {
    return list_ && extent_.rank >= 0 && (layout_ == H5D_CONTIGUOUS || layout_ == H5D_CHUNKED) &&
           h5.Pget_external_count(list_.get()) == 0;
  }

  bool chunk(const std::vector<hsize_t>& wanted) {
    if (wanted.empty() || static_cast<int>(wanted.size()) != extent_.rank) return false;
    std::vector<hsize_t> dims = wanted;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (extent_.most.at(d) == 0) return false;
      dims[d] = std::min(dims[d], extent_.most.at(d));  // H5S_UNLIMITED is the largest
    }
    if (h5.Pset_chunk(list_.get(), extent_.rank, dims.data()) < 0) return false;
    layout_ = H5D_CHUNKED;
    return true;
  }

  // Of what is compressed by other filters the program knows better.
  bool deflate(std::optional<unsigned> level) {
    if (!level || layout_ != H5D_CHUNKED || !deflates_at_most()) return false;
    h5.Premove_filter(list_.get(), H5Z_FILTER_SHUFFLE);
    h5.Premove_filter(list_.get(), H5Z_FILTER_DEFLATE);
    if (*level == 0) return true;
    if (h5.Zfilter_avail(H5Z_FILTER_DEFLATE) <= 0) return false;
    return h5.Pset_shuffle(list_.get()) >= 0 && h5.Pset_deflate(list_.get(), *level) >= 0;
  }

  bool compact(std::uint64_t most) {
    const hssize_t elements = h5.Sget_simple_extent_npoints(space_);
    if (layout_ != H5D_CONTIGUOUS || !is_fixed(extent_) || elements < 0 ||
        static_cast<std::uint64_t>(elements) * h5.Tget_size(type_) >
            std::min(most, kLargestCompact))
      return false;
    H5D_alloc_time_t time = H5D_ALLOC_TIME_ERROR;
    if (most > 0 && h5.Pset_layout(list_.get(), H5D_COMPACT) >= 0 &&
        h5.Pget_alloc_time(list_.get(), &time) >= 0 && time == H5D_ALLOC_TIME_EARLY)
      return true;
    h5.Pset_layout(list_.get(), H5D_CONTIGUOUS);  // the program has said when it is allocated
    return false;
  }

  // What holds references is wrong where it is not filled.
  bool fill_never() {
    H5D_fill_time_t time = H5D_FILL_TIME_ERROR;
    return h5.Pget_fill_time(list_.get(), &time) >= 0 && time == H5D_FILL_TIME_IFSET &&
           vol::is_flat(type_) && h5.Pset_fill_time(list_.get(), H5D_FILL_TIME_NEVER) >= 0;
  }

  Id<Kind::plist> take() { return std::move(list_); }

 private:
  [[nodiscard]] bool deflates_at_most() const {
    const auto filters = vol::filters_of(list_.get());
    return filters && std::ranges::all_of(*filters, [](const vol::AppliedFilter& filter) {
             return filter.id == H5Z_FILTER_SHUFFLE || filter.id == H5Z_FILTER_DEFLATE;
           });
  }

  hid_t type_;
  hid_t space_;
  Extent extent_;
  Id<Kind::plist> list_;
  H5D_layout_t layout_;
};

H5F_fspace_strategy_t strategy_of(hid_t fcpl) {
  H5F_fspace_strategy_t strategy = H5F_FSPACE_STRATEGY_NTYPES;
  return h5.Pget(fcpl, kStrategy, &strategy) < 0 ? H5F_FSPACE_STRATEGY_NTYPES : strategy;
}

// Not where the format is bound to be an older one, or the driver puts metadata into other files.
bool takes_pages(hid_t fapl) {
  H5F_libver_t newest = H5F_LIBVER_EARLIEST;
  unsigned long features = 0;
  return h5.Pget(fapl, "libver_high_bound", &newest) >= 0 && newest >= H5F_LIBVER_V110 &&
         h5.FDdriver_query(h5.Pget_driver(fapl), &features) >= 0 &&
         (features & H5FD_FEAT_PAGED_AGGR) == 0;
}

}  // namespace

FileForm form_of(hid_t fcpl) {
  const PrivateErrors own;
  FileForm form{.pages = strategy_of(fcpl) == H5F_FSPACE_STRATEGY_PAGE};
  h5.Pget(fcpl, kPage, &form.page);
  h5.Pget(fcpl, "block_size", &form.user_block);
  std::uint8_t address = sizeof(haddr_t);
  h5.Pget(fcpl, "addr_byte_num", &address);
  form.roomy = address >= sizeof(haddr_t);
  return form;
}

Id<Kind::plist> changed_file_creation(hid_t fcpl, hid_t fapl, const TuneOptions& options) {
  const PrivateErrors own;
  if (options.page == 0) return {};
  Id<Kind::plist> list(h5.Pcopy(fcpl));
  const H5F_fspace_strategy_t pages = H5F_FSPACE_STRATEGY_PAGE;
  const hsize_t size = options.page;
  if (!list || strategy_of(fcpl) != H5F_FSPACE_STRATEGY_FSM_AGGR ||  // the program has chosen
      !takes_pages(fapl) || form_of(fcpl).user_block % size != 0 || !form_of(fcpl).roomy ||
      h5.Pset(list.get(), kStrategy, &pages) < 0 || h5.Pset(list.get(), kPage, &size) < 0)
    return {};
  ++statistics().layouts;
  return list;
}

Id<Kind::plist> changed_dataset_creation(hid_t type, hid_t space, hid_t dcpl,
                                         const DatasetOptions& options) {
  const PrivateErrors own;
  if (!options.change_layout()) return {};
  Creation creation(type, space, dcpl);
  if (!creation.is_plain()) return {};
  // Whether or not the one before has changed something.
  const bool chunked = creation.chunk(options.chunk);
  const bool deflated = creation.deflate(options.deflate);
  const bool unfilled = options.never_fill && creation.fill_never();
  const bool in_header = !chunked && creation.compact(options.compact);
  if (!chunked && !deflated && !unfilled && !in_header) return {};
  ++statistics().layouts;
  return creation.take();
}

}  // namespace headrace::tune
