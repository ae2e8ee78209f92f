#include "layers/trace/connector/arguments.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/report/json.hpp"
#include "base/report/printable.hpp"
#include "hdf5/library_context.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/trace/connector/layouts.hpp"
#include "layers/trace/connector/objects.hpp"
#include "layers/trace/recorder/known_facts.hpp"
#include "vol/dataset/elements.hpp"
#include "vol/dataset/selection.hpp"
#include "vol/own_question.hpp"

namespace headrace::trace {
namespace {

constexpr std::size_t kMostEncoded = std::size_t{4} << 20U;  // bytes
constexpr std::size_t kMostLengths = 4096;

// HDF5's own encoding of what an id stands for; empty where it has none.
std::vector<unsigned char> encoded(hid_t id, H5I_type_t type) {
  const auto ask = [&](void* bytes, std::size_t& size) {
    if (type == H5I_DATATYPE) return h5.Tencode(id, bytes, &size);
    if (type == H5I_DATASPACE) return h5.Sencode2(id, bytes, &size, h5.access_list.get());
    return h5.Pencode2(id, bytes, &size, h5.access_list.get());
  };
  std::size_t size = 0;
  if (ask(nullptr, size) < 0) return {};
  std::vector<unsigned char> bytes(size);
  if (ask(bytes.data(), size) < 0) return {};
  return bytes;
}

// Where H5Soffset_simple puts a selection, which is no part of what HDF5 encodes; empty where it
// does not.
std::string offset_of(hid_t space) {
  const PrivateErrors own;
  if (!vol::is_dataspace(space) || h5.Sget_select_type(space) != H5S_SEL_HYPERSLABS ||
      h5.Sis_regular_hyperslab(space) <= 0)
    return {};
  using Numbers = std::array<hsize_t, engine::kMaxRank>;
  Numbers start, low, unused;
  const int rank = h5.Sget_simple_extent_ndims(space);
  if (h5.Sget_regular_hyperslab(space, start.data(), unused.data(), unused.data(), unused.data()) <
          0 ||
      h5.Sget_select_bounds(space, low.data(), unused.data()) < 0)
    return {};
  std::vector<std::int64_t> offset;
  for (std::size_t d = 0; std::cmp_less(d, rank); ++d)
    offset.push_back(static_cast<std::int64_t>(low[d] - start[d]));
  const bool moved = std::ranges::any_of(offset, [](std::int64_t each) { return each != 0; });
  return moved ? list_of_numbers(std::span<const std::int64_t>(offset)) : std::string();
}

const char* word_of(H5I_type_t type) {
  return type == H5I_DATATYPE ? "type" : type == H5I_DATASPACE ? "space" : "list";
}

std::string index_words(H5_index_t index, H5_iter_order_t order, hsize_t n) {
  return JsonObject()
      .number("index", index)
      .number("order", order)
      .number("n", static_cast<long long>(n))
      .str();
}

std::string file_words(const char* name, hid_t fapl) {
  return JsonObject()
      .text("file", Recorder::get().told(name))
      .raw("fapl", Arguments::word(fapl))
      .str();
}

std::string name_words(std::string_view key, const char* name) {
  return JsonObject().text(key, Recorder::get().told(name)).str();
}

std::span<const unsigned char> bytes_of(const void* memory, std::size_t size) {
  return {static_cast<const unsigned char*>(memory), memory == nullptr ? 0 : size};
}

}  // namespace

std::string Arguments::word(void* object) {
  if (object == nullptr) return "null";
  const auto* const told = vol::Object::from(object).state.find<TracedObject>();
  if (told == nullptr) return "null";
  return '[' + std::to_string(told->known->id) + ',' + std::to_string(told->name) + ']';
}

std::string Arguments::word(const H5VL_loc_params_t* place) {
  JsonObject words;
  words.number("of", place->obj_type);
  if (place->type == H5VL_OBJECT_BY_NAME) {
    words.text("name", Recorder::get().told(place->loc_data.loc_by_name.name))
        .raw("lapl", word(place->loc_data.loc_by_name.lapl_id));
  } else if (place->type == H5VL_OBJECT_BY_IDX) {
    const H5VL_loc_by_idx_t& at = place->loc_data.loc_by_idx;
    words.text("name", Recorder::get().told(at.name))
        .raw("at", index_words(at.idx_type, at.order, at.n))
        .raw("lapl", word(at.lapl_id));
  } else if (place->type == H5VL_OBJECT_BY_TOKEN) {
    words.text("token", hexadecimal(place->loc_data.loc_by_token.token->__data));
  }
  return words.str();
}

std::string Arguments::word(const char* text) {
  return text == nullptr ? "null" : json_quote(Recorder::get().told(text));
}

std::string Arguments::word(hid_t id) {
  const PrivateErrors own;
  const H5I_type_t type = id > 0 ? h5.Iget_type(id) : H5I_BADID;
  if (type != H5I_DATATYPE && type != H5I_DATASPACE && type != H5I_GENPROP_LST) return "null";
  const LibraryContext apart;
  return word_of_encoded(encoded(id, type), type);
}

std::string Arguments::word_of_encoded(std::span<const unsigned char> bytes, H5I_type_t type) {
  if (bytes.empty()) return "null";
  static auto& known = *new KnownFacts<kMostEncoded>;
  std::string key = word_of(type);
  key.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return std::to_string(known.id_of(key, [&](std::uint32_t fact) {
    return JsonObject().number("encoded", fact).text(word_of(type), hexadecimal(bytes)).str();
  }));
}

std::string Arguments::word(const H5VL_attr_specific_args_t* args) {
  switch (args->op_type) {
    case H5VL_ATTR_DELETE:
      return name_words("name", args->args.del.name);
    case H5VL_ATTR_DELETE_BY_IDX:
      return index_words(args->args.delete_by_idx.idx_type, args->args.delete_by_idx.order,
                         args->args.delete_by_idx.n);
    case H5VL_ATTR_EXISTS:
      return name_words("name", args->args.exists.name);
    case H5VL_ATTR_ITER:
      return index_words(args->args.iterate.idx_type, args->args.iterate.order, 0);
    case H5VL_ATTR_RENAME:
      return JsonObject()
          .text("name", Recorder::get().told(args->args.rename.old_name))
          .text("new", Recorder::get().told(args->args.rename.new_name))
          .str();
  }
  return "null";
}

std::string Arguments::word(const H5VL_attr_get_args_t* args) {
  if (args->op_type == H5VL_ATTR_GET_NAME)
    return JsonObject().raw("place", word(&args->args.get_name.loc_params)).str();
  if (args->op_type != H5VL_ATTR_GET_INFO) return "null";
  JsonObject words;
  words.raw("place", word(&args->args.get_info.loc_params));
  if (args->args.get_info.attr_name != nullptr)
    words.text("name", Recorder::get().told(args->args.get_info.attr_name));
  return words.str();
}

std::string Arguments::word(const H5VL_file_specific_args_t* args) {
  if (args->op_type == H5VL_FILE_FLUSH)
    return JsonObject()
        .number("of", args->args.flush.obj_type)
        .number("scope", args->args.flush.scope)
        .str();
  if (args->op_type == H5VL_FILE_IS_ACCESSIBLE)
    return file_words(args->args.is_accessible.filename, args->args.is_accessible.fapl_id);
  if (args->op_type == H5VL_FILE_DELETE)
    return file_words(args->args.del.filename, args->args.del.fapl_id);
  return "null";
}

std::string Arguments::word(const H5VL_link_create_args_t* args) {
  if (args->op_type == H5VL_LINK_CREATE_SOFT) return name_words("soft", args->args.soft.target);
  if (args->op_type == H5VL_LINK_CREATE_HARD)
    return JsonObject()
        .raw("hard", word(args->args.hard.curr_obj))
        .raw("place", word(&args->args.hard.curr_loc_params))
        .str();
  if (args->op_type == H5VL_LINK_CREATE_UD)
    return JsonObject()
        .number("class", args->args.ud.type)
        .text("value", hexadecimal(bytes_of(args->args.ud.buf, args->args.ud.buf_size)))
        .str();
  return "null";
}

std::string Arguments::word(const H5VL_link_get_args_t* /*args*/) { return "{}"; }

std::string Arguments::word(const H5VL_link_specific_args_t* args) {
  if (args->op_type != H5VL_LINK_ITER) return "null";
  return JsonObject()
      .boolean("recursive", args->args.iterate.recursive)
      .number("index", args->args.iterate.idx_type)
      .number("order", args->args.iterate.order)
      .str();
}

std::string Arguments::word(const H5VL_object_specific_args_t* args) {
  if (args->op_type != H5VL_OBJECT_VISIT) return "null";
  return JsonObject()
      .number("index", args->args.visit.idx_type)
      .number("order", args->args.visit.order)
      .number("fields", args->args.visit.fields)
      .str();
}

std::string Arguments::extent(const vol::Object& dataset,
                              const H5VL_dataset_specific_args_t& args) {
  if (args.op_type != H5VL_DATASET_SET_EXTENT) return "null";
  const PrivateErrors own;
  const vol::OwnQuestion question;
  const LibraryContext apart;
  const Id<Kind::dataspace> space(
      vol::get(dataset, H5VL_DATASET_GET_SPACE).args.get_space.space_id);
  const int rank = h5.Sget_simple_extent_ndims(space.get());
  return list_of_numbers(
      std::span(args.args.set_extent.size, static_cast<std::size_t>(std::max(rank, 0))));
}

std::string Arguments::native(vol::Callback callback, const H5VL_optional_args_t& args) {
  if (callback == vol::Callback::group_optional && args.op_type == H5VL_NATIVE_GROUP_GET_OBJINFO) {
    const auto& asked = static_cast<H5VL_native_group_optional_args_t*>(args.args)->get_objinfo;
    return JsonObject()
        .raw("place", word(&asked.loc_params))
        .boolean("follow", asked.follow_link)
        .str();
  }
  if (callback == vol::Callback::file_optional && args.op_type == H5VL_NATIVE_FILE_SET_MDC_CONFIG) {
    const auto* const config =
        static_cast<H5VL_native_file_optional_args_t*>(args.args)->set_mdc_config.config;
    return JsonObject().text("config", hexadecimal(bytes_of(config, sizeof *config))).str();
  }
  return "null";
}

std::string Arguments::space_word(hid_t space) {
  const std::string offset = offset_of(space);
  return offset.empty() ? word(space)
                        : JsonObject().raw("space", word(space)).raw("offset", offset).str();
}

std::string Arguments::transfers(std::size_t count, void* const datasets[], const hid_t mem_type[],
                                 const hid_t mem_space[], const hid_t file_space[]) {
  std::string list;
  for (std::size_t i = 0; i < count; ++i)
    list += (i == 0 ? "[" : ",[") + word(datasets[i]) + ',' + word(mem_type[i]) + ',' +
            space_word(mem_space[i]) + ',' + space_word(file_space[i]) + ']';
  return '[' + list + ']';
}

std::string Arguments::lengths(hid_t type, std::size_t elements, const void* buffer) {
  const PrivateErrors own;
  const bool text = h5.Tis_variable_str(type) > 0;
  if (buffer == nullptr || (!text && h5.Tget_class(type) != H5T_VLEN)) return "null";
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < std::min(elements, kMostLengths); ++i) {
    if (text) {
      const char* const one = static_cast<const char* const*>(buffer)[i];
      found.push_back(one == nullptr ? 0 : std::strlen(one));
    } else {
      found.push_back(static_cast<const hvl_t*>(buffer)[i].len);
    }
  }
  return list_of_numbers(std::span<const std::size_t>(found));
}

}  // namespace headrace::trace
