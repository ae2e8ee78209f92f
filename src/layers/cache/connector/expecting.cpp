#include "layers/cache/connector/expecting.hpp"

#include <headrace/cache.h>

#include <algorithm>
#include <array>
#include <span>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "engine/reading/pieces.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/cache/connector/cached_dataset.hpp"
#include "vol/operations.hpp"

namespace headrace::cache {
namespace {

// Whose chunks workers decode; null where there are none.
CachedDataset* decoded_by_workers(vol::Object& object) {
  const auto known = dataset_of(object);
  auto* const* const found = std::get_if<CachedDataset*>(&known);
  if (found == nullptr || (*found)->chunked.by_hdf5 || (*found)->uses != nullptr ||
      !(*found)->file.is_quiet() || !(*found)->file.has_settled())
    return nullptr;
  return *found;
}

void expect(vol::Object& object, void* args) {
  headrace_expect_t given{};
  vol::take_arguments(args, &given, sizeof given);
  CachedDataset* const dataset = decoded_by_workers(object);
  if (dataset == nullptr)
    throw Error("the cache layer leaves " + vol::describe(object) + " to HDF5");
  const std::uint64_t chunks = engine::count_chunks(dataset->chunked.grid());
  const std::span order(given.chunks, given.chunks == nullptr ? 0 : given.n);
  if (std::ranges::any_of(order, [&](std::uint64_t chunk) { return chunk >= chunks; }))
    throw Error(vol::describe(object) + " has no chunk of a number that is expected to be read");
  if (dataset->ahead == nullptr) dataset->ahead = dataset->file.ahead_of(dataset->key.token);
  if (dataset->ahead != nullptr) dataset->ahead->expect({order.begin(), order.end()});
}

std::span<vol::Operation> operations() {
  static std::array<vol::Operation, 1> operations{
      {{HEADRACE_OPERATION_EXPECT, H5VL_SUBCLS_DATASET, &expect}}};
  return operations;
}

}  // namespace

void register_operations() { vol::register_operations(operations()); }

bool is_operation(int operation) {
  return vol::find_operation(operations(), H5VL_SUBCLS_DATASET, operation) != nullptr;
}

bool takes_orders(vol::Object& dataset) {
  const PrivateErrors own;
  return decoded_by_workers(dataset) != nullptr;
}

void expect(vol::Object& dataset, const H5VL_optional_args_t& args) { expect(dataset, args.args); }

}  // namespace headrace::cache
