// The driver that keeps fill values back, until data takes their place or somebody could look for
// them: at a flush, a truncation and the close of the file.
#pragma once

#include <algorithm>

#include "engine/threads/lending.hpp"
#include "layers/tune/driver/deferred_fill.hpp"
#include "layers/tune/settings.hpp"
#include "vfd/handle_question.hpp"
#include "vfd/pass_through.hpp"
#include "vol/own_question.hpp"

namespace headrace::tune {

struct Driver : vfd::PassThrough<Driver, vfd::Over::sec2, OpenFile> {
  using Base = vfd::PassThrough<Driver, vfd::Over::sec2, OpenFile>;
  using Callback = vfd::Callback;
  static constexpr const char* kName = "headrace_tune";
  static constexpr H5FD_class_value_t kValue = 7212;
  static constexpr std::span<const Setting> kSettings = tune::kSettings;
  static constexpr std::array kOverrides{Callback::close,   Callback::get_eof, Callback::get_handle,
                                         Callback::read,    Callback::write,   Callback::flush,
                                         Callback::truncate};

  // HDF5 forgets the file whatever is returned, so it is closed below in any case.
  static herr_t close(H5FD_t* file) {
    std::exception_ptr failed;
    try {
      write_pending(OpenFile::of(file));
    } catch (const std::exception&) {
      failed = std::current_exception();
    }
    const herr_t result = Base::close(file);
    if (failed != nullptr) std::rethrow_exception(failed);
    return result;
  }

  static haddr_t get_eof(const H5FD_t* file, H5FD_mem_t type) {
    const haddr_t below = Base::get_eof(file, type);
    const haddr_t pending = reinterpret_cast<const OpenFile*>(file)->pending.end();
    return below == HADDR_UNDEF ? below : std::max(below, pending);
  }

  // Whoever takes the descriptor may read and write by it from now on.
  static herr_t get_handle(H5FD_t* file, hid_t fapl, void** handle) {
    OpenFile& mine = OpenFile::of(file);
    if (FileInquiry* const inquiry = FileInquiry::current()) {
      inquiry->found = mine.self;
      return 0;
    }
    // A layer below the connector looks for its driver below this one, or tells it something.
    if (vol::OwnQuestion::current() == nullptr && !vfd::is_hdf5s_question(fapl)) keep_no_more(mine);
    return Base::get_handle(file, fapl, handle);
  }

  static herr_t read(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, haddr_t address, std::size_t size,
                     void* buffer) {
    OpenFile& mine = OpenFile::of(file);
    const std::span bytes(static_cast<std::byte*>(buffer), size);
    // Into memory that is lent the layer async may read after this has returned.
    if (engine::Lending::are_lent(bytes)) write_pending(mine, address, size);
    const herr_t result = Base::read(file, type, dxpl, address, size, buffer);
    if (result >= 0 && !mine.pending.empty()) mine.pending.put(address, bytes);
    return result;
  }

  static herr_t write(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, haddr_t address, std::size_t size,
                      const void* buffer) {
    OpenFile& mine = OpenFile::of(file);
    const std::span bytes(static_cast<const std::byte*>(buffer), size);
    const ExpectedFill* const expected = ExpectedFill::current();
    if (expected != nullptr && mine.defers && type == H5FD_MEM_DRAW && size >= kLeast &&
        engine::repeats(bytes, expected->value)) {
      mine.pending.add(address, size, expected->value);
      fill_statistics().deferred += size;
      return 0;
    }
    const herr_t result = Base::write(file, type, dxpl, address, size, buffer);
    if (result >= 0 && !mine.pending.empty()) mine.pending.remove(address, size);
    return result;
  }

  static herr_t flush(H5FD_t* file, hid_t dxpl, bool closing) {
    write_pending(OpenFile::of(file));
    return Base::flush(file, dxpl, closing);
  }

  static herr_t truncate(H5FD_t* file, hid_t dxpl, bool closing) {
    write_pending(OpenFile::of(file));
    return Base::truncate(file, dxpl, closing);
  }

  // Who writes to the file past this driver must find all of it there.
  static std::unique_ptr<engine::io::File> storage(H5FD_t* file, const char* name) {
    keep_no_more(OpenFile::of(file));
    return Base::storage(file, name);
  }

 private:
  static constexpr std::size_t kLeast = 4096;  // bytes: less is written as soon as it is noted
};

}  // namespace headrace::tune
