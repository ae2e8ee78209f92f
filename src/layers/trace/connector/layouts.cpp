#include "layers/trace/connector/layouts.hpp"

#include <array>
#include <span>
#include <vector>

#include "base/enum_name.hpp"
#include "base/report/json.hpp"
#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/chunks/layout.hpp"
#include "vol/dataset/elements.hpp"
#include "vol/own_question.hpp"

namespace headrace::trace {
namespace {

std::string filters_in(hid_t dcpl) {
  constexpr std::size_t kMost = 8;  // parameters of each
  std::string list;
  for (const auto& filter : vol::filters_of(dcpl).value_or(std::vector<vol::AppliedFilter>{})) {
    const std::span<const unsigned> values(filter.values);
    const auto kept = values.first(std::min(values.size(), kMost));
    list += (list.empty() ? "" : ",") +
            JsonObject().number("id", filter.id).raw("values", list_of_numbers(kept)).str();
  }
  return '[' + list + ']';
}

void add_space(JsonObject& fact, hid_t space) {
  unsigned rank = 0;
  engine::Index dims{};
  if (vol::read_dims(space, rank, dims))
    fact.raw("dims", list_of_numbers(std::span<const hsize_t>(dims).first(rank)));
}

void add_layout(JsonObject& fact, hid_t dcpl) {
  const H5D_layout_t layout = h5.Pget_layout(dcpl);
  fact.text("layout", layout == H5D_CHUNKED      ? "chunked"
                      : layout == H5D_CONTIGUOUS ? "contiguous"
                      : layout == H5D_COMPACT    ? "compact"
                                                 : "virtual");
  if (layout == H5D_CHUNKED) {
    const auto chunks = vol::chunk_shape(dcpl).value_or(vol::ChunkShape{});
    fact.raw("chunk", list_of_numbers(std::span(chunks.lengths).first(chunks.rank)));
  }
  fact.raw("filters", filters_in(dcpl)).boolean("fills", vol::fills(dcpl));
}

}  // namespace

std::string type_words(hid_t type) {
  JsonObject words;
  words.text("class", enum_name(h5.Tget_class(type)))
      .number("size", static_cast<long long>(h5.Tget_size(type)));
  if (const H5T_order_t order = h5.Tget_order(type); order == H5T_ORDER_LE || order == H5T_ORDER_BE)
    words.text("order", order == H5T_ORDER_LE ? "little" : "big");
  return words.str();
}

std::string layout_of(const vol::Object& dataset, std::uint32_t id) {
  const PrivateErrors own;
  const vol::OwnQuestion question;
  const LibraryContext apart;
  JsonObject fact;
  fact.number("dataset", id);
  const Id<Kind::datatype> type(vol::get(dataset, H5VL_DATASET_GET_TYPE).args.get_type.type_id);
  fact.raw("type", type_words(type.get()));
  const Id<Kind::dataspace> space(
      vol::get(dataset, H5VL_DATASET_GET_SPACE).args.get_space.space_id);
  add_space(fact, space.get());
  const auto dcpl = vol::creation_list(dataset);
  add_layout(fact, dcpl.get());
  return fact.str();
}

}  // namespace headrace::trace
