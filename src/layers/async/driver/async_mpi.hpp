// The driver over mpio. It passes everything on, unless the program's raw data is to be staged
// (mpi_staging), on this rank: then it writes what H5Dwrite gives it behind the program, by plain
// pwrite and without MPI.
//
// HDF5 does together with the other ranks exactly what it does natively: a collective write of raw
// data is made with no bytes below, whether this rank has staged them or written them by itself. So
// ranks that stage and ranks that cannot do not wait for each other, and MPI never reads and writes
// back the bytes between those of a collective call, which may be about to be written behind.
// Metadata is not staged; other ranks read it without asking.
#pragma once

#include "layers/async/driver/async.hpp"
#include "layers/async/driver/mpi_file.hpp"

namespace headrace::async {

template <>
struct Driver<vfd::Over::mpio>
    : vfd::PassThrough<Driver<vfd::Over::mpio>, vfd::Over::mpio, MpiFile> {
  using Base = vfd::PassThrough<Driver, vfd::Over::mpio, MpiFile>;
  using Callback = vfd::Callback;
  static constexpr const char* kName = "headrace_async_mpi";
  static constexpr H5FD_class_value_t kValue = 7207;
  static constexpr std::span<const Setting> kSettings = async::kSettings;
  static constexpr std::array kOverrides{Callback::open,           Callback::close,
                                         Callback::read,           Callback::write,
                                         Callback::read_vector,    Callback::write_vector,
                                         Callback::read_selection, Callback::write_selection,
                                         Callback::flush,          Callback::truncate};

  static H5FD_t* open(const char* name, unsigned flags, hid_t fapl, haddr_t maxaddr) {
    const Options options = vfd::options_of(fapl, layer());
    H5FD_t* file = Base::open(name, flags, fapl, maxaddr);
    if (file != nullptr) begin_mpi_staging(MpiFile::of(file), name, flags, options);
    return file;
  }

  static herr_t close(H5FD_t* file) {
    const std::exception_ptr failed = end_mpi_staging(MpiFile::of(file));
    const herr_t result = Base::close(file);
    if (failed != nullptr) std::rethrow_exception(failed);
    return result;
  }

  static herr_t read(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, haddr_t address, std::size_t size,
                     void* buffer) {
    return after_writes(file, is_raw(type), [&](bool whole) {
      return Base::read(file, type, dxpl, address, whole ? size : 0, buffer);
    });
  }

  static herr_t read_vector(H5FD_t* file, hid_t dxpl, std::uint32_t count, H5FD_mem_t types[],
                            haddr_t addresses[], std::size_t sizes[], void* buffers[]) {
    return after_writes(file, true, [&](bool whole) {
      return Base::read_vector(file, dxpl, whole ? count : 0, types, addresses, sizes, buffers);
    });
  }

  static herr_t read_selection(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, std::size_t count,
                               hid_t mem_spaces[], hid_t file_spaces[], haddr_t offsets[],
                               std::size_t element_sizes[], void* buffers[]) {
    return after_writes(file, true, [&](bool whole) {
      return Base::read_selection(file, type, dxpl, whole ? count : 0, mem_spaces, file_spaces,
                                  offsets, element_sizes, buffers);
    });
  }

  static herr_t write(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, haddr_t address, std::size_t size,
                      const void* buffer) {
    MpiFile& mine = MpiFile::of(file);
    const std::span bytes(static_cast<const std::byte*>(buffer), size);
    if (type == H5FD_MEM_DRAW && stage(mine, address, bytes)) return 0;
    if (is_raw(type)) mine.left += size;
    return after_writes(file, is_raw(type), [&](bool whole) {
      return Base::write(file, type, dxpl, address, whole ? size : 0, buffer);
    });
  }

  static herr_t write_vector(H5FD_t* file, hid_t dxpl, std::uint32_t count, H5FD_mem_t types[],
                             haddr_t addresses[], std::size_t sizes[], const void* buffers[]) {
    MpiFile& mine = MpiFile::of(file);
    const auto below = [&](bool whole) {
      return Base::write_vector(file, dxpl, whole ? count : 0, types, addresses, sizes, buffers);
    };
    if (!mine.alone) {
      if (count > 0 && is_raw(types[0])) count_left(mine, count, sizes);
      return below(true);
    }
    if (count == 0 || !all_raw(count, types)) {
      try_to_drain(
          mine);  // MPI may read and write back what lies between; it is no raw data itself
      return below(true);
    }
    return written([&] { return write_pieces(mine, count, addresses, sizes, buffers), 0; }, below);
  }

  static herr_t write_selection(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, std::size_t count,
                                hid_t mem_spaces[], hid_t file_spaces[], haddr_t offsets[],
                                std::size_t element_sizes[], const void* buffers[]) {
    MpiFile& mine = MpiFile::of(file);
    const auto below = [&](bool whole) {
      return Base::write_selection(file, type, dxpl, whole ? count : 0, mem_spaces, file_spaces,
                                   offsets, element_sizes, buffers);
    };
    if (!mine.alone) {
      if (is_raw(type)) count_left(mine, count, file_spaces, element_sizes);
      return below(true);
    }
    if (count == 0 || type != H5FD_MEM_DRAW) {
      try_to_drain(mine);
      return below(true);
    }
    return written(
        [&] {
          return write_selected(mine, static_cast<std::uint32_t>(count), mem_spaces, file_spaces,
                                offsets, element_sizes, buffers);
        },
        below);
  }

  static herr_t flush(H5FD_t* file, hid_t dxpl, bool closing) {
    MpiFile& mine = MpiFile::of(file);
    try_to_drain(mine);
    const herr_t result = Base::flush(file, dxpl, closing);
    if (!closing) tell_failure(mine);
    return result;
  }

  static herr_t truncate(H5FD_t* file, hid_t dxpl, bool closing) {
    try_to_drain(MpiFile::of(file));
    return Base::truncate(file, dxpl, closing);
  }

  // What is staged here must not be passed by.
  static std::unique_ptr<engine::io::File> storage(H5FD_t* /*file*/, const char* /*name*/) {
    return {};
  }

 private:
  static bool is_raw(H5FD_mem_t type) { return type == H5FD_MEM_DRAW || type == H5FD_MEM_DEFAULT; }

  // A transfer that must find what was written before in the file. Where that is not possible it is
  // made with no bytes, for other ranks may be in it, and fails.
  template <typename Below>
  static herr_t after_writes(H5FD_t* file, bool raw, Below below) {
    MpiFile& mine = MpiFile::of(file);
    if (!raw || try_to_drain(mine)) return below(true);
    below(false);
    refuse(mine);
  }

  // A write that is made by this rank alone, and then with the others, with no bytes.
  template <typename Write, typename Below>
  static herr_t written(Write write, Below below) {
    herr_t result = -1;
    std::exception_ptr failed;
    try {
      result = write();
    } catch (...) {
      failed = std::current_exception();
    }
    const herr_t together = below(false);
    if (failed != nullptr) std::rethrow_exception(failed);
    return result < 0 ? result : together;
  }
};

}  // namespace headrace::async
