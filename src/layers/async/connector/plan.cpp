#include "layers/async/connector/plan.hpp"

#include <algorithm>
#include <array>

#include "engine/memory/kind.hpp"
#include "hdf5/quiet_errors.hpp"
#include "layers/async/connector/chunks/mapped_reads.hpp"
#include "layers/async/connector/file_state.hpp"
#include "layers/async/connector/requests/queue.hpp"
#include "layers/async/connector/selections/blocks.hpp"

namespace headrace::async {
namespace {

constexpr std::size_t kSmall = ReadPace::kSmall;  // what is larger gains nothing by waiting

// Whether a small asynchronous read is better made in the program's call. Beside what waits it may
// find its place, and what waits may be what it reads.
bool better_at_once(const vol::Transfer& call, const Elements& elements) {
  return queue_is_empty() && elements.pace.fast() && vol::is_dataspace(call.mem_space) &&
         call.bytes() <= kSmall;
}

bool is_for_queue(const Plan& plan) {
  return plan.transfer && plan.transfer->is_plain_block() &&
         plan.transfer->elements * plan.elements->element <= kSmall;
}

// Chunks that cannot be kept are only taken as a whole: parts of them would be decoded once for
// each part, as HDF5 does, which may have the larger cache.
bool may_keep_or_needs_not(const Dataset& dataset, const Transfer& transfer) {
  return dataset.fits_cache() ||
         (!transfer.is_scattered() && transfer.is_block() && dataset.grid().aligned(transfer.box));
}

// Why chunks are left to HDF5 whatever is selected of them; "" when they are not.
Reason why_not_at_all(const Plan& plan, const vol::Object& object, bool writes) {
  if (writes && !may_write(*object.connector)) return kLeftForError;  // which HDF5 refuses
  if (writes && !plan.dataset->worth_encoding()) return "left_for_no_gain";
  if (!plan.dataset->grid().countable()) return kLeftForSelection;
  return {};
}

// Where chunks are not taken over the plan has the reason for that.
void note(Plan& plan, std::variant<Transfer, Reason> found) {
  if (auto* const transfer = std::get_if<Transfer>(&found))
    plan.transfer = std::move(*transfer);
  else if (plan.dataset != nullptr)
    plan.why = std::get<Reason>(found);
}

// Of a dataset whose filters are taken over: by its chunks, or why not.
void plan_chunks(Plan& plan, const vol::Transfer& call, bool writes) {
  if (!plan.transfer && plan.why != kLeftForSelection) return;
  if (const Reason why = why_not_at_all(plan, call.dataset, writes); !why.empty()) {
    if (plan.transfer) plan.why = why;
    return;
  }
  Dataset& dataset = *plan.dataset;
  if (!plan.transfer && dataset.fits_cache()) note(plan, vol::scattered_transfer_of(dataset, call));
  if (!plan.transfer) return;
  if (may_keep_or_needs_not(dataset, *plan.transfer))
    plan.route = Route::chunks;
  else
    plan.why = "left_for_chunk_cache";
}

// At most so many chunks of a dataset have elements that a call reads. Its extent is known where
// that matters.
std::uint64_t most_chunks_of(const vol::Transfer& call, const Dataset& dataset) {
  std::array<hsize_t, engine::kMaxRank> first{};
  std::array<hsize_t, engine::kMaxRank> last{};
  const PrivateErrors own;
  const hssize_t elements = h5.Sget_select_npoints(call.file_space);
  if (elements <= 0 ||
      h5.Sget_simple_extent_ndims(call.file_space) != static_cast<int>(dataset.rank) ||
      h5.Sget_select_bounds(call.file_space, first.data(), last.data()) < 0)
    return 0;
  engine::Index chunks{};
  for (unsigned d = 0; d < dataset.rank; ++d)
    chunks[d] = last.at(d) / dataset.chunk[d] - first.at(d) / dataset.chunk[d] + 1;
  return std::min(static_cast<std::uint64_t>(elements), engine::volume(dataset.rank, chunks));
}

// Whether a read may gain by a map, by what costs little to find out.
bool may_go_by_map(const vol::Transfer& call, Dataset& dataset) {
  std::uint64_t chunks = ~std::uint64_t{0};
  if (vol::is_dataspace(call.file_space)) chunks = most_chunks_of(call, dataset);
  if (chunks < kFewestMapped) return false;
  const PrivateErrors own;
  return update_dims(dataset, call.dataset) && may_gain_by_map(dataset, chunks, call.dataset);
}

// Whether a read of a dataset without filters goes by a map of its chunks; then it is planned.
bool goes_by_map(Plan& plan, const vol::Transfer& call) {
  const auto small = small_chunks_of(call.dataset, call.file_space);
  if (small == nullptr || !may_go_by_map(call, *small)) return false;
  auto found = vol::element_transfer_of(*small, call);
  auto* const transfer = std::get_if<Transfer>(&found);
  if (transfer == nullptr || !gains_by_map(small, *transfer, call.dataset)) return false;
  plan.small = small;
  plan.transfer = std::move(*transfer);
  plan.route = Route::map;
  return true;
}

Plan make_plan(const vol::Transfer& call, const void* buffer, bool asynchronous, bool writes) {
  Plan plan;
  plan.dataset = dataset_of(call.dataset);
  plan.elements = plan.dataset.get();
  plan.why = why_not(call.dataset);
  if (buffer == nullptr) return plan;
  if (engine::is_device_memory(buffer)) {
    plan.why = "left_for_memory";
    return plan;
  }
  const bool on = filters_on(*call.dataset.connector);
  const bool may_wait = asynchronous && on && (!writes || may_write(*call.dataset.connector));
  if (on && !writes && plan.dataset == nullptr && goes_by_map(plan, call)) return plan;
  if (plan.elements == nullptr && (may_wait || (on && call.is_scattered())))
    plan.elements = elements_of(call.dataset);
  if (plan.elements == nullptr) return plan;
  plan.at_once = may_wait && !writes && better_at_once(call, *plan.elements);
  if (may_wait || plan.dataset != nullptr)
    note(plan, vol::hyperslab_transfer_of(*plan.elements, call));
  if (may_wait && !plan.at_once && is_for_queue(plan))
    plan.route = Route::queue;
  else if (plan.dataset != nullptr)
    plan_chunks(plan, call, writes);
  else if (on && !plan.transfer && may_go_by_blocks(call) &&
           (!writes || may_write(*call.dataset.connector)))
    plan.route = Route::blocks;
  return plan;
}

}  // namespace

Plan plan_read(const vol::Transfer& call, const void* buffer, bool asynchronous) {
  return make_plan(call, buffer, asynchronous, false);
}

Plan plan_write(const vol::Transfer& call, const void* buffer, bool asynchronous) {
  return make_plan(call, buffer, asynchronous, true);
}

Plan plan_box(vol::Object& object, Elements& elements, const engine::Box& box, bool writes) {
  Plan plan;
  plan.dataset = dataset_of(object);
  plan.elements = &elements;
  plan.why = why_not(object);
  const PrivateErrors own;
  if (plan.dataset == nullptr || !update_dims(elements, object)) return plan;
  Transfer transfer;
  transfer.box = box;
  transfer.elements = engine::volume(elements.rank, box.count);
  transfer.mem_type = elements.type.get();
  transfer.mem_element = elements.element;
  transfer.mem_strides = engine::strides_of(elements.rank, box.count, elements.element);
  plan.transfer = transfer;
  const vol::Transfer none{object, elements.type.get(), vol::kAll, vol::kAll,
                           h5.transfer_list.get()};
  plan_chunks(plan, none, writes);
  return plan;
}

}  // namespace headrace::async
