// How the chunks of a dataset are filtered, as its creation list says.
#pragma once

#include <memory>
#include <string>

#include "engine/codec/pipeline.hpp"
#include "layers/object/elements/native_filters.hpp"
#include "objects/pending_chunks.hpp"

namespace headrace::object {

class Filters final : public objects::Codec {
 public:
  Filters() = default;  // none
  // The program's thread only. `type`: of the elements in a container.
  Filters(hid_t type, const vol::Chunked& chunks, hid_t dcpl);

  // Not those that call HDF5.
  [[nodiscard]] bool any_thread() const override { return native_ == nullptr && missing_.empty(); }
  [[nodiscard]] bool is_empty() const { return pipeline_.empty() && any_thread(); }

  engine::Buffer encode(std::span<const std::byte> chunk, std::uint32_t& left_out) const override;
  void decode(std::uint32_t left_out, store::Bytes stored,
              std::span<std::byte> chunk) const override;
  [[nodiscard]] bool is_as_stored(std::uint32_t left_out) const override {
    return (left_out & all_) == all_;
  }

 private:
  engine::Pipeline pipeline_;
  std::uint32_t all_ = 0;                  // a bit for each filter
  std::unique_ptr<NativeFilters> native_;  // where HDF5 is to run them
  std::string missing_;                    // why HDF5 cannot
};

}  // namespace headrace::object
