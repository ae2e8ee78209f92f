#include "layers/trace/connector/objects.hpp"

#include <array>

#include "base/report/json.hpp"
#include "base/report/printable.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/trace/connector/layouts.hpp"
#include "layers/trace/recorder/current_call.hpp"
#include "layers/trace/recorder/known_facts.hpp"
#include "vol/own_question.hpp"

namespace headrace::trace {
namespace {

constexpr std::uint64_t kLarge = 4096;  // bytes of a transfer

constexpr std::size_t kMostNames = std::size_t{1} << 20U;

std::uint64_t extents_time = 1;

const char* object_word(H5I_type_t type) {
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
  return std::string(asked < 0 || name[0] == '\0' ? kUnknownPath : name.data());
}

// The last component may be a path itself, from the root on if it begins with a slash.
void join(std::string& path, std::string_view name) {
  if (name.starts_with('/')) path.clear();
  if (name.empty() || name == ".") return;
  if (!path.empty() && !path.ends_with('/')) path += '/';
  path += name;
}

void join_place(std::string& path, const H5VL_loc_params_t& place) {
  switch (place.type) {
    case H5VL_OBJECT_BY_NAME:
      return join(path, place.loc_data.loc_by_name.name);
    case H5VL_OBJECT_BY_IDX:
      join(path, place.loc_data.loc_by_idx.name);
      return join(path, "#" + std::to_string(place.loc_data.loc_by_idx.n));
    case H5VL_OBJECT_BY_TOKEN:
      // Its name would be looked for in all of the file.
      path = "#" + hexadecimal(place.loc_data.loc_by_token.token->__data);
      return;
    default:
      return;
  }
}

void tell_path(std::uint32_t id, std::uint32_t file, H5I_type_t type, std::string_view path) {
  Recorder& recorder = Recorder::get();
  static auto& fact = *new std::string;  // one that is used again has its memory
  fact = R"({"object":)";
  append_number(fact, id);
  fact += R"(,"file":)";
  append_number(fact, file);
  fact += R"(,"kind":")";
  fact += object_word(type);
  fact += R"(","path":)";
  append_quoted(fact, recorder.choices().anonymous ? recorder.told(path) : path);
  fact += '}';
  recorder.add_fact(fact);
}

void describe(const vol::Object& dataset, KnownObject& known) {
  if (std::exchange(known.transfers, KnownObject::kDescribed) != KnownObject::kDescribed)
    Recorder::get().add_fact(layout_of(dataset, known.id));
}

// An object that is opened again and again is told of once.
KnownRef known_object(TracedFile& file, H5I_type_t type, std::string_view path) {
  const auto tell = [&](std::string_view told) {
    const std::uint32_t id = Recorder::get().next_id();
    tell_path(id, file.id, type, told);
    return id;
  };
  if (path == kNoPath || path == kUnknownPath)
    return std::make_shared<KnownObject>(tell(path), std::string(path));
  return file.known.find(path, tell);
}

}  // namespace

std::uint64_t known_extents() { return extents_time; }
void forget_extents() { ++extents_time; }

void tell_file(vol::Object& file, const char* name, bool created, bool parallel, unsigned level) {
  Recorder& recorder = Recorder::get();
  if (!recorder.on()) return;
  auto told = std::make_shared<TracedFile>();
  told->id = recorder.next_id();
  told->created = created;
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
                               : std::string(kUnknownPath));
  return object.state.find<TracedObject>();
}

std::string_view path_below(const TracedObject& parent, const H5VL_loc_params_t& place,
                            const char* name) {
  static auto& path = *new std::string;
  path = parent.known->path;
  join_place(path, place);
  if (name != nullptr) join(path, name);
  return path;
}

void tell_object(vol::Object& object, H5I_type_t type, std::string_view path) {
  auto* const file = object.connector->state.find<TracedFile>();
  if (file == nullptr) return;
  object.state = std::make_shared<TracedObject>(known_object(*file, type, path));
}

void tell_attribute(vol::Object& attribute, const TracedObject& parent,
                    const H5VL_loc_params_t& place, const char* name) {
  auto* const file = attribute.connector->state.find<TracedFile>();
  if (file == nullptr) return;
  static auto& known = *new KnownFacts<kMostNames>;
  const std::string_view text = name == nullptr ? "?" : name;
  const std::uint32_t id = known.id_of(text, [&](std::uint32_t of_name) {
    return JsonObject().number("name", of_name).text("is", Recorder::get().told(text)).str();
  });
  attribute.state = std::make_shared<TracedObject>(
      place.type == H5VL_OBJECT_BY_SELF
          ? parent.known
          : known_object(*file, H5I_BADID, path_below(parent, place, nullptr)),
      id);
}

void tell_name(vol::Object& object, H5I_type_t type, std::string_view path) {
  auto* const told = object.state.find<TracedObject>();
  const auto* const file = object.connector->state.find<TracedFile>();
  if (told == nullptr || file == nullptr || told->known->path != kNoPath) return;
  told->known->path = path;
  tell_path(told->known->id, file->id, type, path);
}

void note_opened(vol::Object& dataset, TracedObject& traced) {
  if (dataset.connector->state.find<TracedFile>()->parallel) describe(dataset, *traced.known);
}

void note_transfer(vol::Object& dataset, TracedObject& traced, std::uint64_t bytes) {
  unsigned& transfers = traced.known->transfers;
  if (transfers == KnownObject::kDescribed || dataset.connector->state.find<TracedFile>()->parallel)
    return;
  const bool again = std::exchange(transfers, 1) > 0;
  if (again || bytes >= kLarge) describe(dataset, *traced.known);
}

}  // namespace headrace::trace
