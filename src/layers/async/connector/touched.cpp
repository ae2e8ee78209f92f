#include "layers/async/connector/touched.hpp"

#include "layers/async/connector/chunks/cache.hpp"
#include "layers/async/connector/chunks/reads_behind.hpp"
#include "layers/async/connector/dataset.hpp"

namespace headrace::async {

vol::Touched touched_by(vol::Object& dataset) {
  if (!stands_alone(dataset)) return {};
  const Elements* const elements = elements_of(dataset);
  return elements == nullptr ? vol::Touched() : vol::Touched::dataset(elements->identity);
}

void forget_touched(const vol::Touched& touched, bool masks) {
  end_reads(true);  // HDF5 might have to read for them what was there at their time
  store_chunks(touched);
  extents_may_have_changed();
  drop_chunks(touched);
  if (masks) masks_are_possible(touched);
}

void before_handle_closes(const vol::Object& object) {
  const auto dataset = known_dataset_of(object);
  if (dataset == nullptr || dataset->handle != &object) return;
  if (dataset->reading > 0) end_reads(true);
  if (dataset->unstored() > 0) store_chunks(vol::Touched::dataset(dataset->identity));
  dataset->handle = nullptr;
}

const char* why_left_to_hdf5(vol::Object& object) {
  constexpr std::string_view kPrefix = "left_for_";
  if (const auto dataset = dataset_of(object); dataset != nullptr)
    return dataset->fits_cache() ? "" : "chunk_cache";
  return ask_why_not(object).substr(kPrefix.size()).data();  // of a literal
}

}  // namespace headrace::async
