// Maps: by the operations of include/headrace/map.h, and by HDF5's own functions H5M..., where a
// library has them.
#include <headrace/map.h>

#include <array>
#include <string>

#include "hdf5/quiet_errors.hpp"
#include "layers/object/connector/containers.hpp"
#include "layers/object/container/encoded.hpp"
#include "layers/object/container/iterate.hpp"
#include "layers/object/maps/map.hpp"
#include "vol/operations.hpp"

namespace headrace::object {
namespace {

Map map_at(const void* self, const Found& found) {
  if (type_of(*found.object) != H5I_MAP) throw Error(found.path + " is not a map");
  return {file_of(self), found};
}
Map map_at(const void* self) { return map_at(self, found_in(self)); }
Map changing(const void* self) {
  require_writable(self);
  return map_at(self);
}

// A struct of a program's.
template <typename Args>
Args taken(const void* args) {
  Args given{};
  vol::take_arguments(args, &given, sizeof given);
  return given;
}

void* make_map(void* self, const H5VL_loc_params_t& where, const headrace_map_create_t& given) {
  require_writable(self);
  require_lists({given.lcpl, given.mcpl});
  return created(self, where, given.name, given.lcpl,
                 map_header(given.key_type, given.val_type, given.mcpl));
}

void create_map(void* self, void* args) {
  constexpr H5VL_loc_params_t kItself{H5I_GROUP, H5VL_OBJECT_BY_SELF, {}};
  const auto given = taken<headrace_map_create_t>(args);
  if (given.name == nullptr) throw Error("a map needs a name");
  void* const made = make_map(self, kItself, given);
  delete &vol::TerminalObject::from(made);  // the program opens it
}

ElementsOf keys_of(const headrace_map_keys_t& given) {
  return {given.n, given.key_mem_type, given.keys};
}

void put_entries(void* self, void* args) {
  const auto given = taken<headrace_map_keys_t>(args);
  changing(self).put(keys_of(given), given.put, given.val_mem_type);
}

void get_entries(void* self, void* args) {
  const auto given = taken<headrace_map_keys_t>(args);
  map_at(self).get(keys_of(given), {given.val_mem_type, given.get}, given.found);
}

void delete_entries(void* self, void* args) {
  const auto given = taken<headrace_map_keys_t>(args);
  changing(self).erase(keys_of(given), given.found);
}

void look_for_entries(void* self, void* args) {
  const auto given = taken<headrace_map_keys_t>(args);
  map_at(self).exists(keys_of(given), given.found);
}

void scan_entries(void* self, void* args) {
  auto given = taken<headrace_map_scan_t>(args);
  given.n = map_at(self).scan({1, given.key_mem_type, given.from}, given.behind != 0, given.n,
                              {given.key_mem_type, given.keys}, {given.val_mem_type, given.values});
  vol::give_answer(args, &given, sizeof given);
}

void count_entries(void* self, void* args) {
  const headrace_map_info_t answer{sizeof answer, map_at(self).count(), kInvalidId, kInvalidId};
  vol::give_answer(args, &answer, sizeof answer);
}

// Ids of types that the program closes.
hid_t key_type_of(const objects::Header& header) {
  return copied(decoded_type(header.type), h5.Tcopy);
}
hid_t value_type_of(const objects::Header& header) {
  return copied(decoded_type(header.value_type), h5.Tcopy);
}

void tell_types(void* self, void* args) {
  map_at(self);
  const objects::Header& header = found_in(self).object->header();
  const headrace_map_info_t answer{sizeof answer, 0, key_type_of(header), value_type_of(header)};
  vol::give_answer(args, &answer, sizeof answer);
}

struct MapOperation {
  vol::Operation known;
  void (*carry_out)(void* self, void* args);
};

std::array<MapOperation, 8>& map_operations() {
  const auto named = [](const char* name) {
    return vol::Operation{name, H5VL_SUBCLS_OBJECT, nullptr};
  };
  static std::array<MapOperation, 8> operations{{
      {named(HEADRACE_OPERATION_MAP_CREATE), &create_map},
      {named(HEADRACE_OPERATION_MAP_PUT), &put_entries},
      {named(HEADRACE_OPERATION_MAP_GET), &get_entries},
      {named(HEADRACE_OPERATION_MAP_DELETE), &delete_entries},
      {named(HEADRACE_OPERATION_MAP_EXISTS), &look_for_entries},
      {named(HEADRACE_OPERATION_MAP_SCAN), &scan_entries},
      {named(HEADRACE_OPERATION_MAP_COUNT), &count_entries},
      {named(HEADRACE_OPERATION_MAP_TYPES), &tell_types},
  }};
  return operations;
}

const MapOperation* map_operation(H5VL_subclass_t kind, int number) {
  for (const MapOperation& one : map_operations())
    if (vol::find_operation({&one.known, 1}, kind, number) != nullptr) return &one;
  return nullptr;
}

void* with_list(void* map, hid_t mapl) {
  static_cast<Open&>(vol::TerminalObject::from(map)).access = Id<Kind::plist>(h5.Pcopy(mapl));
  return map;
}

// What H5Mget_...() asks.
void tell(const void* self, H5VL_map_args_t& args) {
  const Map map = map_at(self);
  const auto& open = vol::as<Open>(self);
  const objects::Header& header = open.found.object->header();
  auto& out = args.get.args;
  switch (args.get.get_type) {
    case H5VL_MAP_GET_KEY_TYPE:
      out.get_key_type.type_id = key_type_of(header);
      return;
    case H5VL_MAP_GET_VAL_TYPE:
      out.get_val_type.type_id = value_type_of(header);
      return;
    case H5VL_MAP_GET_COUNT:
      out.get_count.count = map.count();
      return;
    case H5VL_MAP_GET_MCPL:
      if (header.creation.empty()) throw Error("a map that was made without a creation list");
      out.get_mcpl.mcpl_id = copied(decoded_list(header.creation, h5.group_list.get()), h5.Pcopy);
      return;
    case H5VL_MAP_GET_MAPL:
      if (!open.access) throw Error("a map that was opened without an access list");
      out.get_mapl.mapl_id = copied(open.access, h5.Pcopy);
      return;
  }
}

void delete_entry(void* self, const H5VL_map_args_t& args) {
  const auto& in = args.specific.args.del;
  require_writable(self);
  map_at(self, resolve(self, in.loc_params)).erase({1, in.key_mem_type_id, in.key}, nullptr);
}

// The program's own code runs in it.
herr_t iterate_map(void* self, H5VL_map_args_t& args) {
  auto& in = args.specific.args.iterate;
  const Found found = resolve(self, in.loc_params);
  Map map = map_at(self, found);
  const ProgramsId id(self, found);
  return map.iterate(in.idx, in.key_mem_type_id,
                     [&](const void* key) { return in.op(id.get(), key, in.op_data); });
}

}  // namespace

void register_map_operations() {
  for (MapOperation& one : map_operations()) vol::register_operations({&one.known, 1});
}

bool makes_map(const H5VL_optional_args_t& args) {
  const MapOperation* const operation = map_operation(H5VL_SUBCLS_OBJECT, args.op_type);
  return operation != nullptr && operation->carry_out == &create_map;
}

bool carry_out_map_operation(void* self, const H5VL_optional_args_t& args) {
  const MapOperation* const operation = map_operation(H5VL_SUBCLS_OBJECT, args.op_type);
  if (operation != nullptr) operation->carry_out(self, args.args);
  return operation != nullptr;
}

herr_t Containers::introspect_opt_query(void* self, H5VL_subclass_t kind, int operation,
                                        std::uint64_t* flags) {
  if (map_operation(kind, operation) == nullptr)
    return Terminal::introspect_opt_query(self, kind, operation, flags);
  *flags = H5VL_OPT_QUERY_SUPPORTED;
  return 0;
}

herr_t Containers::optional(void* self, H5VL_optional_args_t* args, hid_t dxpl, void** req) {
  if (args->op_type == H5VL_MAP_CLOSE) return 0;
  if (args->op_type < H5VL_MAP_CREATE || args->op_type > H5VL_MAP_SPECIFIC)
    return Terminal::optional(self, args, dxpl, req);
  auto& map = *static_cast<H5VL_map_args_t*>(args->args);
  if (args->op_type == H5VL_MAP_SPECIFIC && map.specific.specific_type == H5VL_MAP_ITER)
    return iterate_map(self, map);
  const NestedCalls nested;
  switch (args->op_type) {
    case H5VL_MAP_CREATE: {
      auto& in = map.create;
      const headrace_map_create_t given{sizeof given,   in.name,    in.key_type_id,
                                        in.val_type_id, in.lcpl_id, in.mcpl_id};
      in.map = with_list(make_map(self, in.loc_params, given), in.mapl_id);
      return 0;
    }
    case H5VL_MAP_OPEN: {
      Found found = named_from(self, map.open.loc_params, map.open.name);
      map_at(self, found);
      map.open.map = with_list(handed(self, std::move(found)), map.open.mapl_id);
      return 0;
    }
    case H5VL_MAP_GET_VAL: {
      const auto& in = map.get_val;
      map_at(self).get({1, in.key_mem_type_id, in.key}, {in.value_mem_type_id, in.value}, nullptr);
      return 0;
    }
    case H5VL_MAP_EXISTS: {
      std::uint8_t found = 0;
      map_at(self).exists({1, map.exists.key_mem_type_id, map.exists.key}, &found);
      map.exists.exists = found != 0;
      return 0;
    }
    case H5VL_MAP_PUT: {
      const auto& in = map.put;
      changing(self).put({1, in.key_mem_type_id, in.key}, in.value, in.value_mem_type_id);
      return 0;
    }
    case H5VL_MAP_GET:
      tell(self, map);
      return 0;
    default:
      delete_entry(self, map);
      return 0;
  }
}

}  // namespace headrace::object
