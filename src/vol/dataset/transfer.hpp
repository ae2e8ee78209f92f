// What H5Dread and H5Dwrite are called with: one view for all layers. It refers to objects, ids and
// memory of HDF5 and the program, which are there as long as the call. The program's thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/runs.hpp"
#include "vol/dataset/selection.hpp"
#include "vol/object.hpp"

namespace headrace::vol {

// One dataset of a call, but for the program's memory. What its selections are is asked of HDF5
// when it is first wanted, once; a copy has what has been asked by then.
class Transfer {
 public:
  Transfer(Object& of, hid_t memory_type, hid_t memory_space, hid_t space_of_file, hid_t list)
      : dataset(of),
        mem_type(memory_type),
        mem_space(memory_space),
        file_space(space_of_file),
        dxpl(list) {}
  // The same by another transfer property list.
  [[nodiscard]] Transfer with_list(hid_t list) const { return {*this, list}; }

  Object& dataset;
  const hid_t mem_type;
  const hid_t mem_space;   // or kAll, kBlock, kPlist
  const hid_t file_space;  // the same
  const hid_t dxpl;

  // What dataspaces select; null where one is no dataspace or no Hyperslab (see there).
  [[nodiscard]] const Hyperslab* file_hyperslab() const { return file_.of(file_space); }
  [[nodiscard]] const Hyperslab* memory_hyperslab() const { return memory_.of(mem_space); }
  // Of the selection in the file (see spread_of()).
  [[nodiscard]] const std::optional<Spread>& spread() const {
    if (!spread_) spread_.emplace(spread_of(file_space));
    return *spread_;
  }
  // Whether that is points, or a union of hyperslabs that is no regular one.
  [[nodiscard]] bool is_scattered() const {
    if (!scattered_) scattered_ = vol::is_scattered(file_space);
    return *scattered_;
  }

  // The bytes of memory that it reaches: elements selected times the size of the memory type, so
  // variable-length data count as their descriptors. Where the selection is in the transfer
  // property list (H5S_PLIST) alone, all of the dataset is assumed. 0 when the connector below does
  // not tell.
  [[nodiscard]] std::uint64_t bytes() const;
  // Of the program's buffer, in terms of its elements, for calls that HDF5 accepts. From the first
  // to the last that a regular selection reaches; none of others, and of H5S_PLIST.
  [[nodiscard]] std::optional<engine::Run> memory_bounds() const;
  // How many elements from the buffer's begin on have all that it reaches in them; 0 when that
  // cannot be told.
  [[nodiscard]] std::uint64_t memory_extent() const;

 private:
  // Of a large type, which is filled where it stays.
  class Decoded {
   public:
    const Hyperslab* of(hid_t space) {
      if (!asked_ && !read_hyperslab(space, slab_.emplace())) slab_.reset();
      asked_ = true;
      return slab_ ? &*slab_ : nullptr;
    }

   private:
    bool asked_ = false;
    std::optional<Hyperslab> slab_;
  };

  Transfer(const Transfer& other, hid_t list)
      : dataset(other.dataset),
        mem_type(other.mem_type),
        mem_space(other.mem_space),
        file_space(other.file_space),
        dxpl(list),
        file_(other.file_),
        memory_(other.memory_),
        spread_(other.spread_),
        scattered_(other.scattered_) {}

  mutable Decoded file_;
  mutable Decoded memory_;
  mutable std::optional<std::optional<Spread>> spread_;
  mutable std::optional<bool> scattered_;
};

// A whole call. `Bytes` is void of a read, const void of a write. Its arrays are HDF5's.
template <typename Bytes>
class Transfers {
 public:
  Transfers(std::size_t count, void** datasets, hid_t* mem_types, hid_t* mem_spaces,
            hid_t* file_spaces, hid_t dxpl, Bytes** buffers, void** req)
      : count_(count),
        datasets_(datasets),
        mem_types_(mem_types),
        mem_spaces_(mem_spaces),
        file_spaces_(file_spaces),
        dxpl_(dxpl),
        buffers_(buffers),
        req_(req) {}

  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] Object& dataset(std::size_t i) const { return Object::from(datasets_[i]); }
  [[nodiscard]] std::span<void* const> datasets() const { return {datasets_, count_}; }
  [[nodiscard]] Transfer operator[](std::size_t i) const {
    return {dataset(i), mem_types_[i], mem_spaces_[i], file_spaces_[i], dxpl_};
  }
  [[nodiscard]] hid_t mem_type(std::size_t i) const { return mem_types_[i]; }
  [[nodiscard]] hid_t file_space(std::size_t i) const { return file_spaces_[i]; }
  [[nodiscard]] Bytes* buffer(std::size_t i) const { return buffers_[i]; }
  [[nodiscard]] hid_t dxpl() const { return dxpl_; }
  // Where a request of the call goes; null where the call is to be complete when it returns.
  [[nodiscard]] void** req() const { return req_; }

  [[nodiscard]] Transfers with_list(hid_t dxpl) const { return with(dxpl, req_); }
  [[nodiscard]] Transfers without_request() const { return with(dxpl_, nullptr); }

  // f(count, datasets, mem_types, …) as HDF5 calls it.
  template <typename F>
  auto as_arguments(const F& f) const {
    return f(count_, datasets_, mem_types_, mem_spaces_, file_spaces_, dxpl_, buffers_, req_);
  }

 private:
  [[nodiscard]] Transfers with(hid_t dxpl, void** req) const {
    Transfers other = *this;
    other.dxpl_ = dxpl;
    other.req_ = req;
    return other;
  }

  std::size_t count_;
  void** datasets_;
  hid_t* mem_types_;
  hid_t* mem_spaces_;
  hid_t* file_spaces_;
  hid_t dxpl_;
  Bytes** buffers_;
  void** req_;
};
using Reads = Transfers<void>;
using Writes = Transfers<const void>;

// Some datasets of a call, or of none.
template <typename Bytes>
class TransferList {
 public:
  void add(const Transfer& transfer, Bytes* buffer) {
    datasets_.push_back(&transfer.dataset);
    mem_types_.push_back(transfer.mem_type);
    mem_spaces_.push_back(transfer.mem_space);
    file_spaces_.push_back(transfer.file_space);
    buffers_.push_back(buffer);
  }
  [[nodiscard]] bool empty() const { return datasets_.empty(); }
  [[nodiscard]] std::size_t size() const { return datasets_.size(); }
  // As one call; as long as this lives and nothing is added.
  [[nodiscard]] Transfers<Bytes> call(hid_t dxpl, void** req = nullptr) {
    return {datasets_.size(),    datasets_.data(),
            mem_types_.data(),   mem_spaces_.data(),
            file_spaces_.data(), dxpl,
            buffers_.data(),     req};
  }

 private:
  std::vector<void*> datasets_;  // Object
  std::vector<hid_t> mem_types_;
  std::vector<hid_t> mem_spaces_;
  std::vector<hid_t> file_spaces_;
  std::vector<Bytes*> buffers_;
};

// A call of one dataset, which allocates nothing.
template <typename Bytes>
class SingleTransfer {
 public:
  SingleTransfer(const Transfer& transfer, Bytes* buffer, void** req = nullptr)
      : dataset_(&transfer.dataset),
        mem_type_(transfer.mem_type),
        mem_space_(transfer.mem_space),
        file_space_(transfer.file_space),
        dxpl_(transfer.dxpl),
        buffer_(buffer),
        req_(req) {}
  [[nodiscard]] Transfers<Bytes> call() {
    return {1, &dataset_, &mem_type_, &mem_space_, &file_space_, dxpl_, &buffer_, req_};
  }

 private:
  void* dataset_;
  hid_t mem_type_;
  hid_t mem_space_;
  hid_t file_space_;
  hid_t dxpl_;
  Bytes* buffer_;
  void** req_;
};

// Hands a call to the connector below.
herr_t pass_on(const Reads& reads);
herr_t pass_on(const Writes& writes);
inline herr_t pass_on(const Transfer& transfer, void* buffer, void** req = nullptr) {
  return pass_on(SingleTransfer<void>(transfer, buffer, req).call());
}
inline herr_t pass_on(const Transfer& transfer, const void* buffer, void** req = nullptr) {
  return pass_on(SingleTransfer<const void>(transfer, buffer, req).call());
}

// The callbacks of a connector that sees whole calls:
//   static constexpr auto dataset_write = &vol::on_write<&write>;
template <herr_t (*function)(const Reads&)>
herr_t on_read(std::size_t count, void* datasets[], hid_t mem_types[], hid_t mem_spaces[],
               hid_t file_spaces[], hid_t dxpl, void* buffers[], void** req) {
  return function({count, datasets, mem_types, mem_spaces, file_spaces, dxpl, buffers, req});
}
template <herr_t (*function)(const Writes&)>
herr_t on_write(std::size_t count, void* datasets[], hid_t mem_types[], hid_t mem_spaces[],
                hid_t file_spaces[], hid_t dxpl, const void* buffers[], void** req) {
  return function({count, datasets, mem_types, mem_spaces, file_spaces, dxpl, buffers, req});
}

}  // namespace headrace::vol
