// Counts, for each dataset, how many bytes of writes overlap earlier writes to it, by whichever
// rank.
#include <cstring>

#include "comm/communicator.hpp"
#include "hdf5/quiet_errors.hpp"
#include "hdf5/report/events.hpp"
#include "intervals.hpp"
#include "plugin/layer_entry.hpp"
#include "vol/dataset/registry.hpp"
#include "vol/dataset/transfer.hpp"

namespace overlap {
namespace {

using namespace headrace;

struct Counts {
  std::uint64_t element = 0;       // bytes of one
  std::uint64_t written = 0;       // elements, as often as they were written
  std::uint64_t overlapped = 0;    // of these, elements that the same rank had written before
  std::uint64_t not_followed = 0;  // writes of what has no rows of elements
};

struct Dataset : vol::Elements {
  std::string name;
  Counts counts;
  Intervals intervals;
  Index known{};  // the extent that they are counted in
};

struct OpenFile {
  std::string name;
  CommunicatorHandle ranks;
  vol::Registry<Dataset> datasets;
};

struct Handle {
  std::shared_ptr<Dataset> dataset;  // null for a dataset that HDF5 does not identify
  bool asked = false;
};

Dataset* dataset_of(vol::Object& object, OpenFile& file) {
  auto& handle = object.state.get<Handle>();
  if (std::exchange(handle.asked, true)) return handle.dataset.get();
  auto found = std::make_shared<Dataset>();
  if (!vol::read_identity(object, found->identity)) return nullptr;
  found->name = vol::name_of(object);
  if (!vol::read_type(object, *found) || !vol::read_extent(object, *found)) found->rank = 0;
  found->counts.element = found->element;
  handle.dataset = file.datasets.know(std::move(found), [](const Dataset&) { return false; });
  return handle.dataset.get();
}

bool selects_nothing(const Dataset& dataset, hid_t file_space) {
  return vol::is_dataspace(file_space) ? h5.Sget_select_npoints(file_space) == 0
                                       : engine::volume(dataset.rank, dataset.dims) == 0;
}

void count(vol::Object& object, hid_t file_space) {
  constexpr std::size_t kMostRows = 1 << 22;
  auto* const file = object.connector->state.find<OpenFile>();
  const PrivateErrors own;
  Dataset* const dataset = file == nullptr ? nullptr : dataset_of(object, *file);
  if (dataset == nullptr) return;
  vol::extents_may_have_changed();
  const bool plain = dataset->rank > 0 && vol::update_dims(*dataset, object);
  if (plain && selects_nothing(*dataset, file_space)) return;
  const auto rows =
      plain ? vol::file_rows_of(*dataset, file_space, kMostRows) : std::optional<vol::Runs>();
  if (!rows) {
    ++dataset->counts.not_followed;
    return;
  }
  if (dataset->known != dataset->dims && dataset->counts.written > 0)
    dataset->intervals.renumber(dataset->rank, dataset->known, dataset->dims);
  dataset->known = dataset->dims;
  for (const Run& run : *rows) {
    dataset->counts.written += run.count;
    dataset->counts.overlapped += dataset->intervals.add(run);
  }
}

// What a rank tells of a dataset: its token, the counts, the name, and the runs of elements.
template <typename T>
void put(std::vector<std::byte>& bytes, const T* from, std::size_t n) {
  const auto all = std::as_bytes(std::span(from, n));
  bytes.insert(bytes.end(), all.begin(), all.end());
}
template <typename T>
std::vector<T> take(std::span<const std::byte>& bytes, std::size_t n) {
  std::vector<T> all(n);
  std::memcpy(all.data(), bytes.data(), n * sizeof(T));
  bytes = bytes.subspan(n * sizeof(T));
  return all;
}

struct OfAll {
  std::string name;
  Counts counts;
  std::vector<Run> runs;
};

void add(std::map<std::string, OfAll>& all, std::span<const std::byte> told) {
  while (!told.empty()) {
    const auto token = take<char>(told, sizeof(H5O_token_t));
    const Counts counts = take<Counts>(told, 1).front();
    const auto sizes = take<std::uint64_t>(told, 2);
    const auto name = take<char>(told, sizes[0]);
    const auto runs = take<Run>(told, sizes[1]);
    OfAll& sum = all[std::string(token.begin(), token.end())];
    sum.name.assign(name.begin(), name.end());
    sum.counts.element = counts.element;
    sum.counts.written += counts.written;
    sum.counts.overlapped += counts.overlapped;
    sum.counts.not_followed += counts.not_followed;
    sum.runs.insert(sum.runs.end(), runs.begin(), runs.end());
  }
}

// Collective, as closing a file is.
void report(OpenFile& file) {
  std::vector<std::byte> mine;
  file.datasets.for_each([&](const Dataset& one) {
    const auto runs = one.intervals.runs();
    const std::uint64_t sizes[] = {one.name.size(), runs.size()};
    put(mine, &one.identity.token, 1);
    put(mine, &one.counts, 1);
    put(mine, sizes, 2);
    put(mine, one.name.data(), one.name.size());
    put(mine, runs.data(), runs.size());
  });
  std::map<std::string, OfAll> all;
  for (const auto& told : file.ranks->all_gather_any(mine)) add(all, told);
  if (file.ranks->rank() != 0) return;
  for (const auto& [token, one] : all) {
    const std::array<std::pair<std::string_view, std::uint64_t>, 4> values{{
        {"written_bytes", one.counts.written * one.counts.element},
        {"overlapped_bytes", one.counts.overlapped * one.counts.element},
        {"overlapped_by_ranks_bytes", shared_elements(one.runs) * one.counts.element},
        {"writes_not_followed", one.counts.not_followed},
    }};
    report_statistics(Seat::vol, "headrace_overlap", file.name, values, one.name);
  }
}

struct Connector : vol::PassThrough<Connector> {
  using Callback = vol::Callback;
  static constexpr const char* kName = "headrace_overlap";
  static constexpr H5VL_class_value_t kValue = 7293;
  static constexpr std::array kOverrides{Callback::file_create, Callback::file_open,
                                         Callback::file_close, Callback::dataset_write};

  static void* file_create(const char* name, unsigned flags, hid_t fcpl, hid_t fapl, hid_t dxpl,
                           void** req) {
    auto ranks = communicator_of(fapl);
    return followed(PassThrough::file_create(name, flags, fcpl, fapl, dxpl, req), name,
                    std::move(ranks));
  }
  static void* file_open(const char* name, unsigned flags, hid_t fapl, hid_t dxpl, void** req) {
    auto ranks = communicator_of(fapl);
    return followed(PassThrough::file_open(name, flags, fapl, dxpl, req), name, std::move(ranks));
  }
  // What is written through other ids of the file after that is not counted.
  static herr_t file_close(void* self, hid_t dxpl, void** req) {
    vol::State& state = vol::Object::from(self).connector->state;
    if (auto* const file = state.find<OpenFile>()) report(*file);
    state = {};
    return PassThrough::file_close(self, dxpl, req);
  }
  static herr_t write(const vol::Writes& writes) {
    for (std::size_t i = 0; i < writes.size(); ++i)
      overlap::count(writes.dataset(i), writes.file_space(i));
    return vol::pass_on(writes);
  }
  static constexpr auto dataset_write = &vol::on_write<&write>;

 private:
  static void* followed(void* file, const char* name, CommunicatorHandle ranks) {
    if (file != nullptr)
      vol::Object::from(file).connector->state =
          std::make_shared<OpenFile>(OpenFile{name, std::move(ranks), {}});
    return file;
  }
};

}  // namespace
}  // namespace overlap

std::span<const headrace::LayerEntry> headrace::layers() {
  static const std::array kLayers{
      LayerEntry{"overlap",
                 "counts bytes of writes that overlap earlier ones",
                 {},
                 connector<overlap::Connector>("libheadrace_overlap.so"),
                 {},
                 {}}};
  return kLayers;
}
