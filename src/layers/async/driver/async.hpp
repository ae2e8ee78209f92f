// The driver that writes behind and reads ahead over sec2. That over mpio is in
// layers/async/driver/async_mpi.hpp.
//
// An error of a write that was made behind the program is returned once, by the next flush,
// truncation or close of the file; H5Fflush and H5Fclose call these. The data stays staged and is
// tried again by each of them; H5Fclose that fails has lost what it could not write.
#pragma once

#include <algorithm>

#include "base/report/log.hpp"
#include "base/settings/meaning.hpp"
#include "layers/async/driver/write_behind.hpp"
#include "layers/async/settings.hpp"
#include "vfd/handle_question.hpp"
#include "vfd/pass_through.hpp"
#include "vfd/swmr.hpp"
#include "vol/own_question.hpp"

namespace headrace::async {

template <vfd::Over over>
struct Driver;

template <>
struct Driver<vfd::Over::sec2>
    : vfd::PassThrough<Driver<vfd::Over::sec2>, vfd::Over::sec2, OpenFile> {
  using Base = vfd::PassThrough<Driver, vfd::Over::sec2, OpenFile>;
  using Callback = vfd::Callback;
  static constexpr const char* kName = "headrace_async";
  static constexpr H5FD_class_value_t kValue = 7206;
  static constexpr std::span<const Setting> kSettings = async::kSettings;
  static constexpr std::array kOverrides{Callback::open,  Callback::close,   Callback::get_eof,
                                         Callback::read,  Callback::write,   Callback::get_handle,
                                         Callback::flush, Callback::truncate};

  static H5FD_t* open(const char* name, unsigned flags, hid_t fapl, haddr_t maxaddr) {
    H5FD_t* file = Base::open(name, flags, fapl, maxaddr);
    if (file == nullptr) return nullptr;
    OpenFile& mine = OpenFile::of(file);
    try {
      begin(mine, name, flags, meaning_of<AsyncOptions>(vfd::options_of(mine, layer())));
    } catch (...) {
      end(mine);
      Base::close(file);
      throw;
    }
    return file;
  }

  // HDF5 forgets the file whatever is returned, so it is closed below in any case.
  static herr_t close(H5FD_t* file) {
    std::exception_ptr failed;
    OpenFile& mine = OpenFile::of(file);
    if (mine.staged != nullptr) {
      try {
        drain(mine);
      } catch (const std::exception&) {
        failed = std::current_exception();
        log(Level::error, "async: file " + mine.name + " is closed without " +
                              std::to_string(mine.staged->staged_bytes()) +
                              " bytes that could not be written");
      }
    }
    end(mine);
    const herr_t result = Base::close(file);
    if (failed != nullptr) std::rethrow_exception(failed);
    return result;
  }

  static haddr_t get_eof(const H5FD_t* file, H5FD_mem_t type) {
    const auto& mine = *reinterpret_cast<const OpenFile*>(file);
    return mine.staged == nullptr ? Base::get_eof(file, type) : mine.staged->end();
  }

  static herr_t read(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, haddr_t address, std::size_t size,
                     void* buffer) {
    OpenFile& mine = OpenFile::of(file);
    const std::span bytes(static_cast<std::byte*>(buffer), size);
    if (left_for_memory(mine, type, address, size, buffer))
      return Base::read(file, type, dxpl, address, size, buffer);
    if (read_behind(mine, address, bytes)) return 0;
    if (mine.staged == nullptr || mine.synchronous)
      return async::read(mine, Base::read, type, dxpl, address, bytes);
    const engine::StagedView view(*mine.staged, address, size);
    if (view.beyond()) std::ranges::fill(bytes, std::byte{0});
    for (const auto& [offset, missing] : view.missing())
      if (!view.beyond() && async::read(mine, Base::read, type, dxpl, offset,
                                        bytes.subspan(offset - address, missing)) < 0)
        return -1;
    view.apply(bytes);
    return 0;
  }

  static herr_t write(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, haddr_t address, std::size_t size,
                      const void* buffer) {
    OpenFile& mine = OpenFile::of(file);
    if (left_for_memory(mine, type, address, size, buffer)) {
      mine.left += size;
      mine.left_for = "left_for_memory";
      const herr_t written = Base::write(file, type, dxpl, address, size, buffer);
      if (mine.staged != nullptr && written >= 0) mine.staged->note_write(address, size);
      return written;
    }
    herr_t result = -1;
    const auto put = [&] {
      result = stage_or_write(file, type, dxpl, address, size, buffer);
      return result >= 0;
    };
    if (mine.ahead == nullptr)
      put();
    else
      mine.ahead->change(address, {static_cast<const std::byte*>(buffer), size}, put);
    return result;
  }

  static herr_t stage_or_write(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, haddr_t address,
                               std::size_t size, const void* buffer) {
    OpenFile& mine = OpenFile::of(file);
    if (mine.background != nullptr) mine.background->wait_for(address, size);
    stage_from_now(mine);
    if (mine.staged != nullptr && !mine.synchronous) {
      if (vfd::starts_swmr(buffer, size)) {
        stop(mine);
      } else if (!mine.raw_at_once || type != H5FD_MEM_DRAW) {
        mine.staged->write(address, {static_cast<const std::byte*>(buffer), size});
        return 0;
      } else if (mine.staged->any_staged(address, size)) {
        drain(mine);  // metadata beside it, in pages that are written as a whole
      }
    }
    mine.left += size;
    const herr_t result = Base::write(file, type, dxpl, address, size, buffer);
    if (mine.staged != nullptr && result >= 0) mine.staged->note_write(address, size);
    return result;
  }

  // Whoever takes the descriptor may read and write by it from now on.
  static herr_t get_handle(H5FD_t* file, hid_t fapl, void** handle) {
    OpenFile& mine = OpenFile::of(file);
    if (FileInquiry* const inquiry = FileInquiry::current()) {
      inquiry->found = &mine;
      return 0;
    }
    // A layer below the connector looks for its driver below this one.
    if (!mine.synchronous && vol::OwnQuestion::current() == nullptr &&
        !vfd::is_hdf5s_question(fapl))
      stop(mine);
    return Base::get_handle(file, fapl, handle);
  }

  static herr_t flush(H5FD_t* file, hid_t dxpl, bool closing) {
    if (OpenFile& mine = OpenFile::of(file); mine.staged != nullptr) drain(mine);
    return Base::flush(file, dxpl, closing);
  }

  static herr_t truncate(H5FD_t* file, hid_t dxpl, bool closing) {
    OpenFile& mine = OpenFile::of(file);
    if (mine.staged == nullptr) return Base::truncate(file, dxpl, closing);
    return async::truncate(mine, Base::truncate, dxpl, closing);
  }

  // What is staged here must not be passed by.
  static std::unique_ptr<engine::io::File> storage(H5FD_t* /*file*/, const char* /*name*/) {
    return {};
  }
};

}  // namespace headrace::async
