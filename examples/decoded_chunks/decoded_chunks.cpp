// Writes the decoded chunks of each dataset that a program closes into a folder, one file each.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/report/log.hpp"
#include "plugin/layer_entry.hpp"
#include "vol/chunks/reader.hpp"

namespace {

using namespace headrace;
namespace files = std::filesystem;

// FOLDER/NAME of the dataset, with a file for each chunk: its place in the array, as 20_0_5.
void write_chunks(const vol::Object& dataset, const files::path& folder) {
  const auto chunked = vol::chunked_of(dataset);
  if (!chunked) return log(Level::info, vol::describe(dataset) + " has no chunks to decode");
  const files::path place = folder / vol::name_of(dataset).substr(1);
  files::create_directories(place);
  const engine::Grid grid = chunked->grid();
  const engine::Box all{{}, grid.dims};
  engine::Pieces pieces(grid, all);
  for (engine::Piece piece; engine::volume(grid.rank, grid.dims) > 0 && pieces.next(piece);) {
    const UnderDataset below{dataset.under, dataset.connector->id()};
    const engine::Buffer chunk = vol::read_chunk(*chunked, below, piece.origin);
    std::string name;
    for (unsigned d = 0; d < grid.rank; ++d)
      name += (d > 0 ? "_" : "") + std::to_string(piece.origin.at(d));
    std::ofstream(place / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(chunk.data()), static_cast<long>(chunk.size()));
  }
}

struct Connector : vol::PassThrough<Connector> {
  static constexpr const char* kName = "headrace_decoded_chunks";
  static constexpr H5VL_class_value_t kValue = 7296;
  static constexpr std::array kOverrides{vol::Callback::dataset_close};

  static herr_t dataset_close(void* self, hid_t dxpl, void** req) {
    const char* const folder = std::getenv("DECODED_CHUNKS_FOLDER");
    if (folder != nullptr) try {
        write_chunks(vol::Object::from(self), folder);
      } catch (const std::exception& error) {
        log(Level::warning, std::string("decoded_chunks: ") + error.what());
      }
    return PassThrough::dataset_close(self, dxpl, req);
  }
};

}  // namespace

std::span<const headrace::LayerEntry> headrace::layers() {
  static const std::array kLayers{LayerEntry{"decoded_chunks",
                                             "writes the decoded chunks of datasets into a folder",
                                             {},
                                             connector<Connector>("libheadrace_decoded_chunks.so"),
                                             {},
                                             {}}};
  return kLayers;
}
