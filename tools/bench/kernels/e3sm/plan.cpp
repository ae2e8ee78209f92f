#include "kernels/e3sm/plan.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "kernels/e3sm/made_up.hpp"

namespace headrace::bench::e3sm {
namespace {

// Which map partitions which dimensions, as E3SM-IO has it (header_def_F_case.cpp, .._G_case.cpp).
struct Rule {
  std::vector<std::string> dimensions;
  std::size_t map;
};
struct Case {
  const char* map_file;
  const char* header_file;
  std::vector<Rule> rules;
};

const Case& case_of(char which) {
  static const Case kF{"map_f_case_16p.nc", "f_case_h0.txt", {{{"ncol"}, 1}, {{"lev", "ncol"}, 2}}};
  static const Case kG{"map_g_case_16p.nc",
                       "g_case_hist.txt",
                       {{{"nCells"}, 0},
                        {{"nEdges"}, 1},
                        {{"nCells", "nVertLevels"}, 2},
                        {{"nEdges", "nVertLevels"}, 3},
                        {{"nVertices", "nVertLevels"}, 4},
                        {{"nCells", "nVertLevelsP1"}, 5}}};
  return which == 'f' ? kF : kG;
}

// In case F two maps are for `ncol`: the grid's areas go by the first, all else by the second.
constexpr const char* kAreaOfF = "area";

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(path + ": " + std::strerror(errno), errno);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <typename Parse>
auto parsed(const std::string& path, const Parse& parse) {
  try {
    return parse(contents(path));
  } catch (const Error& error) {
    if (error.error_number() != 0) throw;
    throw Error(path + ": " + error.what());
  }
}

// The maps' sizes hold: the header of case G is of a larger grid than its maps.
void resize(Plan& plan, const std::vector<Rule>& rules, const std::string& path) {
  std::vector<std::string> known;
  for (const Rule& rule : rules) {
    if (rule.map >= plan.maps.size()) throw Error(path + ": too few maps");
    const std::vector<std::uint64_t>& shape = plan.maps[rule.map].shape;
    if (shape.size() != rule.dimensions.size())
      throw Error(path + ": D" + std::to_string(rule.map + 1) +
                  " has another number of dimensions");
    for (std::size_t i = 0; i < shape.size(); ++i)
      for (Dimension& dimension : plan.dimensions) {
        if (dimension.name != rule.dimensions[i]) continue;
        const bool seen = std::ranges::find(known, dimension.name) != known.end();
        if (seen && dimension.length != shape[i])
          throw Error(path + ": the maps do not agree on the length of " + dimension.name);
        dimension.length = shape[i];
        known.push_back(dimension.name);
      }
  }
}

const Decomposition* map_for(const Plan& plan, const Field& field,
                             const std::vector<std::string>& dimensions, char which) {
  if (which == 'f' && field.name == kAreaOfF) return plan.maps.data();
  for (const Rule& rule : case_of(which).rules)
    if (rule.dimensions == dimensions) return &plan.maps[rule.map];
  return nullptr;
}

Field field_of(const Plan& plan, const Variable& variable, char which) {
  Field field{variable.name, variable.type, false, {}, nullptr, variable.attributes};
  std::vector<std::string> names;
  for (const std::size_t place : variable.dimensions) {
    const Dimension& dimension = plan.dimensions[place];
    if (dimension.length == 0) {
      field.record = true;
    } else {
      field.shape.push_back(dimension.length);
      names.push_back(dimension.name);
    }
  }
  if (field.shape.size() > 2) throw Error("variable " + field.name + " has too many dimensions");
  field.map = map_for(plan, field, names, which);
  if (field.map != nullptr && !std::ranges::equal(field.shape, field.map->shape))
    throw Error("variable " + field.name + " has another shape than its map");
  return field;
}

// The plan has its maps.
void join(Plan& plan, Header header, char which, const std::string& maps,
          const std::string& headers) {
  plan.dimensions = std::move(header.dimensions);
  plan.attributes = std::move(header.attributes);
  resize(plan, case_of(which).rules, maps);
  try {
    for (const Variable& variable : header.variables)
      plan.fields.push_back(field_of(plan, variable, which));
  } catch (const Error& error) {
    throw Error(headers + ": " + error.what());
  }
}

}  // namespace

std::uint64_t Field::elements() const {
  std::uint64_t count = 1;
  for (const hsize_t length : shape) count *= length;
  return count;
}

std::vector<hsize_t> Field::extents(hsize_t records) const {
  std::vector<hsize_t> all;
  if (record) all.push_back(records);
  for (const hsize_t length : shape) all.push_back(length);
  return all;
}

std::vector<Piece> Field::pieces(std::size_t rank) const {
  if (map != nullptr) return map->ranks[rank];
  return rank == 0 ? std::vector<Piece>{{0, elements()}} : std::vector<Piece>{};
}

std::size_t size_of(Type type) {
  switch (type) {
    case Type::character:
      return sizeof(char);
    case Type::integer:
    case Type::real:
      return sizeof(float);
    case Type::double_real:
      break;
  }
  return sizeof(double);
}

std::uint64_t Plan::bytes(std::uint64_t records) const {
  std::uint64_t sum = 0;
  for (const Field& field : fields)
    sum += field.elements() * size_of(field.type) * (field.record ? records : 1);
  return sum;
}

void load_plan(Plan& plan, const std::string& folder, char which) {
  const Case& files = case_of(which);
  const std::string map_path = folder + '/' + files.map_file;
  const std::string header_path = folder + '/' + files.header_file;
  plan.maps = parsed(map_path, [](const std::string& text) { return parse_map(text); });
  Header header = parsed(header_path, [](const std::string& text) { return parse_header(text); });
  join(plan, std::move(header), which, map_path, header_path);
}

void make_up_plan(Plan& plan, char which) {
  plan.maps = made_up_maps(which);
  join(plan, made_up_header(which), which, "made-up maps", "made-up header");
}

}  // namespace headrace::bench::e3sm
