#include "layers/object/elements/codec.hpp"

#include "base/error.hpp"
#include "vol/chunks/pipeline.hpp"

namespace headrace::object {

Filters::Filters(hid_t type, const vol::Chunked& chunks, hid_t dcpl) {
  const int count = h5.Pget_nfilters(dcpl);
  if (count < 0) throw Error("HDF5 does not tell of a dataset's filters");
  if (count == 0) return;
  all_ = count >= 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << static_cast<unsigned>(count)) - 1;
  try {
    native_ = std::make_unique<NativeFilters>(type, chunks, dcpl);
    if (vol::read_pipeline(native_->creation_list().get(), chunks.chunk_bytes, pipeline_))
      native_.reset();
    else
      pipeline_.clear();
  } catch (const Error& error) {
    missing_ = error.what();  // elements cannot be read or written, and all else can be done
  }
}

engine::Buffer Filters::encode(std::span<const std::byte> chunk, std::uint32_t& left_out) const {
  if (!missing_.empty()) throw Error("a chunk cannot be filtered: " + missing_);
  if (native_ != nullptr) return native_->encode(chunk, left_out);
  if (pipeline_.empty()) return {};
  engine::Buffer now = engine::encode(pipeline_, chunk);
  if (now.size() > 0) return now;
  // One of them gains nothing: it is left out.
  std::uint32_t bit = 1;
  for (const engine::Filter& filter : pipeline_) {
    engine::Buffer next = engine::encode({filter}, now.size() > 0 ? now.bytes() : chunk);
    if (next.size() > 0)
      now = std::move(next);
    else
      left_out |= bit;
    bit <<= 1U;
  }
  return now;
}

void Filters::decode(std::uint32_t left_out, store::Bytes stored,
                     std::span<std::byte> chunk) const {
  if (native_ != nullptr && (left_out & all_) != all_)
    return native_->decode(left_out, stored, chunk);
  if (!missing_.empty() && (left_out & all_) != all_)
    throw Error("a chunk cannot be read: " + missing_);
  engine::decode(pipeline_, left_out, stored, chunk);
}

}  // namespace headrace::object
