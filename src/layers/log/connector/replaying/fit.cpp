#include "layers/log/connector/replaying/fit.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "layers/log/connector/replaying/type_text.hpp"

namespace headrace::log_layout {
namespace {

using engine::log::LoggedDataset;

// The slowest dimension may have grown since.
std::string shape_of(std::string slowest, std::span<const std::uint64_t> row) {
  for (const std::uint64_t extent : row) slowest += " x " + std::to_string(extent);
  return slowest;
}

std::span<const std::uint64_t> row_of(const Dataset& dataset) {
  return std::span(dataset.dims).first(dataset.rank).subspan(1);
}

}  // namespace

LoggedDataset logged_as(const Dataset& dataset, std::string name) {
  LoggedDataset logged;
  engine::log::Kind kind{dataset.element, describe_type(dataset.type.get()), {}};
  const auto row = row_of(dataset);
  kind.row.assign(row.begin(), row.end());
  logged.kind = std::make_shared<const engine::log::Kind>(std::move(kind));
  std::ranges::copy(std::as_bytes(std::span(&dataset.identity.token, 1)), logged.token.begin());
  logged.name = std::move(name);
  return logged;
}

void require_fit(const Dataset& dataset, const LoggedDataset& logged,
                 const engine::log::LoggedWrites& writes, const std::string& file) {
  const auto differ = [&](const std::string& what, const std::string& here,
                          const std::string& there) {
    throw Error("dataset " + logged.name + " of file " + file + " has " + what + ' ' + here +
                ", but in its log " + there);
  };
  const auto kind = logged_as(dataset, {}).kind;
  const engine::log::Kind& found = *kind;
  const engine::log::Kind& said = *logged.kind;
  if (found.type != said.type || found.element != said.element)
    differ("elements:", found.type, said.type);
  if (found.row != said.row)
    differ("extent", shape_of(std::to_string(dataset.dims[0]), found.row),
           shape_of("any", said.row));
  if (writes.end() > engine::volume(dataset.rank, dataset.dims))
    differ("extent", shape_of(std::to_string(dataset.dims[0]), found.row),
           std::to_string(writes.end()) + " elements");
}

}  // namespace headrace::log_layout
