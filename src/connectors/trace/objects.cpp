#include "connectors/trace/objects.hpp"

#include <array>
#include <unordered_map>

#include "base/json.hpp"
#include "base/printable.hpp"
#include "connectors/trace/layouts.hpp"
#include "hdf5/quiet_errors.hpp"
#include "trace/current_call.hpp"
#include "trace/known_facts.hpp"
#include "vol/own_question.hpp"

namespace headrace::trace {
namespace {

constexpr std::uint64_t kLarge = 4096;  // bytes of a transfer

constexpr std::size_t kMostPaths = std::size_t{4} << 20U;  // bytes
constexpr std::size_t kMostNames = std::size_t{1} << 20U;

std::uint64_t extents_time = 1;

// The ids of objects by their files and paths.
KnownFacts<kMostPaths>& known_paths() {
  static auto& known = *new KnownFacts<kMostPaths>;
  return known;
}

// How many transfers there were of a dataset, through whatever id of the program.
unsigned& transfers_of(std::uint32_t id) {
  static auto& all = *new std::unordered_map<std::uint32_t, unsigned>;
  constexpr std::size_t kMost = 65536;
  if (all.size() > kMost) all.clear();
  return all[id];
}

const char* word_of(H5I_type_t type) {
  switch (type) {
    case H5I_FILE:
      return "file";
    case H5I_GROUP:
      return "group";
    case H5I_DATASET:
      return "dataset";
    case H5I_DATATYPE:
      return "datatype";
    default:
      return "object";
  }
}

// HDF5's name for an object that the program was handed. Natively the one that it was found by.
std::string asked_path(const vol::Object& object, H5I_type_t type) {
  const PrivateErrors own;
  const vol::OwnQuestion question;
  std::array<char, 1024> name{};
  std::size_t length = 0;
  H5VL_object_get_args_t args{H5VL_OBJECT_GET_NAME, {}};
  args.args.get_name = {name.size() - 1, name.data(), &length};
  const H5VL_loc_params_t self{type, H5VL_OBJECT_BY_SELF, {}};
  const herr_t asked = h5.VLobject_get(object.under, &self, object.connector->id(), &args,
                                       h5.transfer_list.get(), nullptr);
  return asked < 0 || name[0] == '\0' ? kUnknownPath : name.data();
}

// The last component may be a path itself, from the root on if it begins with a slash.
std::string joined(const std::string& base, std::string_view name) {
  if (name.starts_with('/')) return std::string(name);
  if (name.empty() || name == ".") return base;
  std::string path = base;
  if (!path.ends_with('/')) path += '/';
  path += name;
  return path;
}

std::string at_place(const TracedObject& parent, const H5VL_loc_params_t& place) {
  switch (place.type) {
    case H5VL_OBJECT_BY_NAME:
      return joined(parent.path, place.loc_data.loc_by_name.name);
    case H5VL_OBJECT_BY_IDX:
      return joined(joined(parent.path, place.loc_data.loc_by_idx.name),
                    "#" + std::to_string(place.loc_data.loc_by_idx.n));
    case H5VL_OBJECT_BY_TOKEN:
      // Its name would be looked for in all of the file.
      return "#" + hexadecimal(place.loc_data.loc_by_token.token->__data);
    default:
      return parent.path;
  }
}

std::string path_fact(std::uint32_t id, std::uint32_t file, H5I_type_t type,
                      const std::string& path) {
  std::string fact = R"({"object":)";
  fact += std::to_string(id);
  fact += R"(,"file":)";
  fact += std::to_string(file);
  fact += R"(,"kind":")";
  fact += word_of(type);
  fact += R"(","path":)";
  fact += json_quote(Recorder::get().told(path));
  fact += '}';
  return fact;
}

void describe(const vol::Object& dataset, TracedObject& traced) {
  constexpr unsigned kDescribed = ~0U;
  traced.described = true;
  if (std::exchange(transfers_of(traced.id), kDescribed) != kDescribed)
    Recorder::get().add_fact(layout_of(dataset, traced.id));
}

// An object that is opened again and again is told of once.
std::uint32_t id_of(const TracedFile& file, H5I_type_t type, const std::string& path) {
  static auto& key = *new std::string;
  key.assign(reinterpret_cast<const char*>(&file.id), sizeof file.id);
  key += path;
  return known_paths().id_of(key,
                             [&](std::uint32_t id) { return path_fact(id, file.id, type, path); });
}

}  // namespace

void forget_paths() { known_paths().clear(); }
std::uint64_t known_extents() { return extents_time; }
void forget_extents() { ++extents_time; }

void tell_file(vol::Object& file, const char* name, bool created, bool parallel, unsigned level) {
  Recorder& recorder = Recorder::get();
  if (!recorder.on()) return;
  auto told = std::make_shared<TracedFile>();
  told->id = recorder.next_id();
  told->parallel = parallel;
  told->level = level;
  recorder.add_fact(JsonObject()
                        .number("file", told->id)
                        .text("name", recorder.told(name))
                        .number("level", level)
                        .boolean("created", created)
                        .boolean("parallel", parallel)
                        .number("call", static_cast<long long>(current_number()))
                        .str());
  file.connector->state = std::move(told);
  tell_object(file, H5I_FILE, "/");
}

TracedObject* traced(vol::Object& object, H5I_type_t type) {
  if (auto* const found = object.state.find<TracedObject>()) return found;
  const auto* const file = object.connector->state.find<TracedFile>();
  if (file == nullptr) return nullptr;
  // Over MPI the question may be one that all ranks have to ask together.
  const bool may_ask = type != H5I_FILE && !file->parallel;
  tell_object(object, type,
              type == H5I_FILE ? "/"
              : may_ask        ? asked_path(object, type)
                               : kUnknownPath);
  return object.state.find<TracedObject>();
}

std::string path_below(const TracedObject& parent, const H5VL_loc_params_t& place,
                       const char* name) {
  std::string base = at_place(parent, place);
  return name == nullptr ? base : joined(base, name);
}

void tell_object(vol::Object& object, H5I_type_t type, std::string path) {
  const auto* const file = object.connector->state.find<TracedFile>();
  if (file == nullptr) return;
  auto told = std::make_shared<TracedObject>();
  if (path == kNoPath || path == kUnknownPath) {
    told->id = Recorder::get().next_id();
    Recorder::get().add_fact(path_fact(told->id, file->id, type, path));
  } else {
    told->id = id_of(*file, type, path);
  }
  told->path = std::move(path);
  object.state = std::move(told);
}

void tell_attribute(vol::Object& attribute, const TracedObject& parent,
                    const H5VL_loc_params_t& place, const char* name) {
  const auto* const file = attribute.connector->state.find<TracedFile>();
  if (file == nullptr) return;
  static auto& known = *new KnownFacts<kMostNames>;
  auto told = std::make_shared<TracedObject>();
  if (place.type == H5VL_OBJECT_BY_SELF) {
    told->id = parent.id;
    told->path = parent.path;
  } else {
    told->path = at_place(parent, place);
    told->id = id_of(*file, H5I_BADID, told->path);
  }
  const std::string_view text = name == nullptr ? "?" : name;
  told->name = known.id_of(text, [&](std::uint32_t id) {
    return JsonObject().number("name", id).text("is", Recorder::get().told(text)).str();
  });
  attribute.state = std::move(told);
}

void tell_name(vol::Object& object, H5I_type_t type, std::string path) {
  auto* const told = object.state.find<TracedObject>();
  const auto* const file = object.connector->state.find<TracedFile>();
  if (told == nullptr || file == nullptr || told->path != kNoPath) return;
  told->path = std::move(path);
  Recorder::get().add_fact(path_fact(told->id, file->id, type, told->path));
}

void note_opened(vol::Object& dataset, TracedObject& traced) {
  if (dataset.connector->state.find<TracedFile>()->parallel) describe(dataset, traced);
}

void note_transfer(vol::Object& dataset, TracedObject& traced, std::uint64_t bytes) {
  if (traced.described || dataset.connector->state.find<TracedFile>()->parallel) return;
  unsigned& transfers = transfers_of(traced.id);
  const bool again = transfers > 0;
  if (!again) transfers = 1;
  if (again || bytes >= kLarge) describe(dataset, traced);
}

}  // namespace headrace::trace
