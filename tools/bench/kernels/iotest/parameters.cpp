#include "kernels/iotest/parameters.hpp"

namespace headrace::bench::iotest {
namespace {

std::string szip_text(const Parameters& p, char between) {
  constexpr unsigned kNearestNeighbour = 32;  // H5_SZIP_NN_OPTION_MASK
  if (p.szip_pixels == 0) return {};
  return (p.szip_mask == kNearestNeighbour ? "nn" : "ec") +
         (between + std::to_string(p.szip_pixels));
}

}  // namespace

std::string Parameters::name() const {
  std::string text = std::to_string(dataset_rank) + (step_first ? "d-step-" : "d-array-") +
                     (chunked ? "chunked-" : "contiguous-") +
                     (collective ? "collective" : "independent");
  const auto add = [&](bool differs, const std::string& what) {
    if (differs) text += '-' + what;
  };
  add(strong, "strong");
  add(ranks() == 1 && single_process != "posix", single_process);
  add(!fill, "nofill");
  add(alignment_increment != 1, "align=" + std::to_string(alignment_increment));
  add(alignment_threshold != 0, "threshold=" + std::to_string(alignment_threshold));
  add(meta_block_size != 2048, "meta=" + std::to_string(meta_block_size));
  add(libver_low != "earliest", "low=" + libver_low);
  add(libver_high != "latest", "high=" + libver_high);
  add(gzip > 0, "gzip=" + std::to_string(gzip));
  add(szip_pixels > 0, "szip=" + szip_text(*this, '.'));
  add(split, "split");
  return text;
}

JsonObject Parameters::json() const {
  const auto number_of = [](std::uint64_t value) { return static_cast<long long>(value); };
  JsonObject all;
  all.number("number", number_of(number))
      .number("steps", number_of(steps))
      .number("arrays", number_of(arrays))
      .number("rows", number_of(rows))
      .number("columns", number_of(columns))
      .number("process-rows", number_of(process_rows))
      .number("process-columns", number_of(process_columns))
      .text("scaling", strong ? "strong" : "weak")
      .text("single-process", single_process)
      .number("dataset-rank", dataset_rank)
      .text("slowest-dimension", step_first ? "step" : "array")
      .text("layout", chunked ? "chunked" : "contiguous")
      .text("mpi-io", collective ? "collective" : "independent")
      .boolean("fill-values", fill)
      .text("libver-bound-low", libver_low)
      .text("libver-bound-high", libver_high)
      .number("alignment-increment", number_of(alignment_increment))
      .number("alignment-threshold", number_of(alignment_threshold))
      .number("meta-block-size", number_of(meta_block_size))
      .number("gzip", gzip)
      .text("szip", szip_text(*this, ','))
      .boolean("split", split)
      .raw("delay", std::to_string(std::chrono::duration<double>(delay).count()));
  return all;
}

std::string Parameters::dataset(std::uint64_t step, std::uint64_t array) const {
  const std::string of_step = "step=" + std::to_string(step);
  const std::string of_array = "array=" + std::to_string(array);
  if (dataset_rank == 4) return "dataset";
  if (dataset_rank == 3) return step_first ? of_step : of_array;
  return step_first ? of_step + '/' + of_array : of_array + '/' + of_step;
}

Extent Parameters::extent() const {
  if (dataset_rank == 2) return {all_rows(), all_columns()};
  if (dataset_rank == 3) return {step_first ? arrays : steps, all_rows(), all_columns()};
  return {step_first ? steps : arrays, step_first ? arrays : steps, all_rows(), all_columns()};
}

Extent Parameters::limits(std::uint64_t unlimited) const {
  Extent all = extent();
  if (chunked && dataset_rank == 3 && !step_first) all[0] = unlimited;
  if (chunked && dataset_rank == 4) all[step_first ? 0 : 1] = unlimited;
  return all;
}

Extent Parameters::chunk() const {
  if (dataset_rank == 2) return {my_rows(), my_columns()};
  if (dataset_rank == 3) return {1, my_rows(), my_columns()};
  return {step_first ? 1 : arrays, step_first ? arrays : 1, my_rows(), my_columns()};
}

Parameters::Block Parameters::block(std::uint64_t step, std::uint64_t array, std::uint64_t count,
                                    std::uint64_t rank) const {
  const std::uint64_t row = rank / process_columns * my_rows();
  const std::uint64_t column = rank % process_columns * my_columns();
  if (dataset_rank == 2) return {{row, column}, {my_rows(), my_columns()}};
  if (dataset_rank == 3)
    return {{step_first ? array : step, row, column}, {1, my_rows(), my_columns()}};
  if (step_first) return {{step, array, row, column}, {1, count, my_rows(), my_columns()}};
  return {{array, step, row, column}, {count, 1, my_rows(), my_columns()}};
}

}  // namespace headrace::bench::iotest
