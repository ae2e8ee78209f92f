#include "layers/trace/connector/transfers.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/report/json.hpp"
#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/trace/connector/layouts.hpp"
#include "layers/trace/recorder/known_facts.hpp"
#include "vol/dataset/selection.hpp"
#include "vol/dataset/transfer_list.hpp"
#include "vol/own_question.hpp"
#include "vol/under.hpp"

namespace headrace::trace {
namespace {

using Numbers = std::array<hsize_t, engine::kMaxRank>;

// What is selected of a dataspace but for where it begins. All transfers of rows, say, have one.
// Of the numbers there are `rank` each; to clear all of them would cost a tenth of a short read.
struct Shape {
  Shape() {}  // NOLINT(cppcoreguidelines-pro-type-member-init,modernize-use-equals-default)
  H5S_sel_type kind = H5S_SEL_ALL;
  bool regular = false;
  unsigned rank = 0;
  hsize_t elements = 0;
  Numbers dims;
  Numbers start;  // this and those below: of a part of the dataspace
  Numbers block;  // of what is not regular: the size of the box around it
  Numbers count;  // of what is regular
  Numbers stride;

  [[nodiscard]] bool is_part() const { return kind != H5S_SEL_ALL && kind != H5S_SEL_NONE; }
};

struct Selected {
  std::uint32_t shape = 0;
  std::uint64_t start = 0;     // elements before the first one, row by row
  std::uint64_t elements = 0;  // how many
};

std::span<const hsize_t> sides(const Numbers& numbers, const Shape& shape) {
  return std::span(numbers).first(shape.rank);
}

std::string words_of(const Shape& shape, std::uint32_t id) {
  JsonObject words;
  words.number("shape", id)
      .text("kind", shape.kind == H5S_SEL_NONE     ? "none"
                    : shape.kind == H5S_SEL_POINTS ? "points"
                    : shape.kind == H5S_SEL_ALL    ? "all"
                    : shape.regular                ? "hyperslab"
                                                   : "union")
      .raw("dims", list_of_numbers(sides(shape.dims, shape)))
      .number("elements", static_cast<long long>(shape.elements));
  if (shape.regular)
    words.raw("count", list_of_numbers(sides(shape.count, shape)))
        .raw("stride", list_of_numbers(sides(shape.stride, shape)));
  if (shape.is_part()) words.raw("block", list_of_numbers(sides(shape.block, shape)));
  return words.str();
}

constexpr std::size_t kMostShapes = std::size_t{1} << 20U;  // bytes

std::uint32_t shape_id(const Shape& shape) {
  static auto& known = *new KnownFacts<kMostShapes>;
  std::array<hsize_t, 3 + 4 * engine::kMaxRank> key;
  std::size_t used = 0;
  key[used++] = static_cast<hsize_t>(shape.kind) << 8U | (shape.regular ? 1U : 0U);
  key[used++] = shape.rank;
  key[used++] = shape.elements;
  const auto append = [&](const Numbers& numbers) {
    std::copy_n(numbers.begin(), shape.rank, key.begin() + static_cast<std::ptrdiff_t>(used));
    used += shape.rank;
  };
  append(shape.dims);
  if (shape.is_part()) append(shape.block);
  if (shape.regular) append(shape.count);
  if (shape.regular) append(shape.stride);
  return known.id_of(
      std::string_view(reinterpret_cast<const char*>(key.data()), used * sizeof(hsize_t)),
      [&](std::uint32_t id) { return words_of(shape, id); });
}

void require(bool answered) {
  if (!answered) throw Error("HDF5 does not tell what is selected of a dataspace");
}

// Blocks that touch are one, and of one block there is no stride.
void read_regular(hid_t space, Shape& shape) {
  shape.regular = true;
  Numbers high;
  require(h5.Sget_regular_hyperslab(space, shape.start.data(), shape.stride.data(),
                                    shape.count.data(), shape.block.data()) >= 0);
  // Other than the hyperslab, the bounds include the selection's offset (H5Soffset_simple).
  require(h5.Sget_select_bounds(space, shape.start.data(), high.data()) >= 0);
  shape.elements = 1;
  for (unsigned d = 0; d < shape.rank; ++d) {
    if (shape.stride[d] == shape.block[d] || shape.count[d] == 1) {
      shape.block[d] *= std::exchange(shape.count[d], 1);
      shape.stride[d] = shape.block[d];
    }
    shape.elements *= shape.count[d] * shape.block[d];
  }
}

void read_bounds(hid_t space, Shape& shape) {
  Numbers high{};
  shape.elements = static_cast<hsize_t>(std::max<hssize_t>(h5.Sget_select_npoints(space), 0));
  require(h5.Sget_select_bounds(space, shape.start.data(), high.data()) >= 0);
  for (unsigned d = 0; d < shape.rank; ++d) shape.block[d] = high[d] - shape.start[d] + 1;
}

// Of no dimensions there is one element, or none.
hsize_t elements_in(hid_t space, const Shape& shape) {
  if (shape.rank == 0)
    return static_cast<hsize_t>(std::max<hssize_t>(h5.Sget_simple_extent_npoints(space), 0));
  const auto dims = sides(shape.dims, shape);
  return std::accumulate(dims.begin(), dims.end(), hsize_t{1}, std::multiplies<>());
}

// None of the questions fails, so the error stack stays empty.
Selected selected_in(hid_t space, H5S_sel_type kind) {
  Shape shape;
  const int rank = h5.Sget_simple_extent_dims(space, shape.dims.data(), nullptr);
  shape.rank = static_cast<unsigned>(std::max(rank, 0));
  shape.kind = kind;
  if (kind == H5S_SEL_HYPERSLABS && h5.Sis_regular_hyperslab(space) > 0)
    read_regular(space, shape);
  else if (kind == H5S_SEL_HYPERSLABS || kind == H5S_SEL_POINTS)
    read_bounds(space, shape);
  else if (kind == H5S_SEL_ALL)
    shape.elements = elements_in(space, shape);
  Selected selected{shape_id(shape), 0, shape.elements};
  for (unsigned d = 0; shape.is_part() && d < shape.rank; ++d)
    selected.start = selected.start * shape.dims[d] + shape.start[d];
  return selected;
}

Id<Kind::dataspace> space_of(const vol::Object& dataset) {
  const PrivateErrors own;
  const vol::OwnQuestion question;
  if (dataset.connector->native() == nullptr) {
    // HDF5 would take the list of this question for that of the program's call.
    const LibraryContext apart;
    return Id<Kind::dataspace>(vol::get(dataset, H5VL_DATASET_GET_SPACE).args.get_space.space_id);
  }
  H5VL_dataset_get_args_t args{H5VL_DATASET_GET_SPACE, {}};
  args.args.get_space.space_id = kInvalidId;
  vol::call_under<vol::Callback::dataset_get>(*dataset.connector, dataset.under, &args,
                                              h5.transfer_list.get(), nullptr);
  require(args.args.get_space.space_id >= 0);
  return Id<Kind::dataspace>(args.args.get_space.space_id);
}

Selected all_of(const vol::Object& dataset, TracedObject& traced) {
  if (traced.whole_time != known_extents()) note_extent(traced, space_of(dataset).get());
  return {traced.whole_shape, 0, traced.whole_elements};
}

// As many as of the other dataspace.
std::uint64_t elements_of(const vol::Transfer& transfer, TracedObject& traced) {
  const hid_t space =
      vol::is_dataspace(transfer.mem_space) ? transfer.mem_space : transfer.file_space;
  if (!vol::is_dataspace(space)) return all_of(transfer.dataset, traced).elements;
  return static_cast<std::uint64_t>(std::max<hssize_t>(h5.Sget_select_npoints(space), 0));
}

std::uint32_t type_id(hid_t type) {
  static auto& known = *new KnownFacts<kMostShapes>;
  const std::array<std::uint64_t, 3> key{static_cast<std::uint64_t>(h5.Tget_class(type)),
                                         h5.Tget_size(type),
                                         static_cast<std::uint64_t>(h5.Tget_order(type))};
  return known.id_of(std::string_view(reinterpret_cast<const char*>(key.data()), sizeof key),
                     [&](std::uint32_t id) {
                       return JsonObject().number("type", id).raw("is", type_words(type)).str();
                     });
}

struct KnownType {
  std::uint32_t fact = 0;
  std::size_t size = 0;
};

// HDF5 gives no id twice in a process. A program may give another size to a type of its own.
const KnownType& type_of(hid_t type) {
  static auto& all = *new std::unordered_map<hid_t, KnownType>;
  constexpr std::size_t kMost = 1024;
  static hid_t last = kInvalidId;  // a predefined one
  static KnownType last_known;
  if (type == last) return last_known;
  if (all.size() > kMost) all.clear();
  KnownType& known = all[type];
  const bool lasts = h5.is_predefined_type(type);
  if (known.fact == 0 || !lasts)
    if (const std::size_t size = h5.Tget_size(type); known.size != size)
      known = {type_id(type), size};
  if (lasts) {
    last = type;
    last_known = known;
  }
  return known;
}

// Rows of a call, and the program's list of it, which is kept from going.
struct Held {
  std::vector<HeldRow> rows;
  Id<Kind::plist> dxpl;
};
Held& held() {
  static auto& rows = *new Held;
  return rows;
}

}  // namespace

void tell_transfer(const vol::Transfer& transfer, TracedObject& traced, Call& row) {
  vol::Object& dataset = transfer.dataset;
  const auto* const file = dataset.connector->state.find<TracedFile>();
  row.collective = file != nullptr && file->parallel && !vol::is_default(transfer.dxpl) &&
                   vol::collective(transfer.dxpl);
  const KnownType& type = type_of(transfer.mem_type);
  row.type = type.fact;
  if (Recorder::get().choices().sums) {
    row.bytes = elements_of(transfer, traced) * type.size;
    return;
  }
  std::uint64_t elements = 0;
  if (vol::is_dataspace(transfer.mem_space)) {
    const H5S_sel_type kind = h5.Sget_select_type(transfer.mem_space);
    if (kind != H5S_SEL_ALL || transfer.file_space == vol::kPlist) {
      const Selected memory = selected_in(transfer.mem_space, kind);
      row.memory_shape = memory.shape;
      row.memory_start = memory.start;
      elements = memory.elements;
    }
  }
  if (transfer.file_space != vol::kPlist) {
    const Selected stored =
        vol::is_dataspace(transfer.file_space)
            ? selected_in(transfer.file_space, h5.Sget_select_type(transfer.file_space))
            : all_of(dataset, traced);
    row.file_shape = stored.shape;
    row.file_start = stored.start;
    elements = stored.elements;
  }
  row.bytes = elements * type.size;
  note_transfer(dataset, traced, row.bytes);
}

void add_row(const HeldRow& row) {
  Recorder& recorder = Recorder::get();
  if (recorder.choices().sums)
    recorder.add_up(row.call, row.requests);
  else
    recorder.add(row.call);
}

void hold(HeldRow row, hid_t dxpl) {
  const PrivateErrors own;
  Held& all = held();
  if (all.rows.empty() && h5.Iinc_ref(dxpl) >= 0) all.dxpl = Id<Kind::plist>(dxpl);
  all.rows.push_back(std::move(row));
}

bool holds_rows() { return !held().rows.empty(); }

void release_held() {
  if (!holds_rows()) return;
  const PrivateErrors own;
  Held all = std::exchange(held(), {});
  int mode = 0;  // H5D_MPIO_NO_COLLECTIVE
  std::uint32_t cause = 0;
  if (all.dxpl) {
    h5.Pget(all.dxpl.get(), "actual_io_mode", &mode);
    h5.Pget(all.dxpl.get(), "global_no_collective_cause", &cause);
  }
  for (HeldRow& row : all.rows) {
    row.call.io_mode = static_cast<std::uint8_t>(mode);
    row.call.no_collective_cause = cause;
    add_row(row);
  }
}

void note_extent(TracedObject& traced, hid_t space) {
  const Selected all = selected_in(space, H5S_SEL_ALL);
  traced.whole_shape = all.shape;
  traced.whole_elements = all.elements;
  traced.whole_time = known_extents();
}

void count_elements(TracedObject& traced, hid_t space) {
  traced.elements = static_cast<std::uint64_t>(
      std::max<hssize_t>(space >= 0 ? h5.Sget_simple_extent_npoints(space) : 0, 0));
  traced.counted = true;
}

// An attribute that HDF5 has just read or written it can describe, and its calls have no transfer
// list of the program's: the question needs no context of its own, which would cost more than it.
void tell_elements(const vol::Object& attribute, TracedObject& traced, hid_t mem_type, Call& row) {
  if (!traced.counted) {
    const vol::OwnQuestion question;
    H5VL_attr_get_args_t args{H5VL_ATTR_GET_SPACE, {}};
    args.args.get_space.space_id = kInvalidId;
    vol::call_under<vol::Callback::attr_get>(*attribute.connector, attribute.under, &args,
                                             h5.transfer_list.get(), nullptr);
    const Id<Kind::dataspace> space(args.args.get_space.space_id);
    count_elements(traced, space.get());
  }
  const KnownType& type = type_of(mem_type);
  row.type = type.fact;
  row.bytes = traced.elements * type.size;
}

}  // namespace headrace::trace
