// The driver that counts what a program does with its files and, if asked, makes it take as long
// as on a parallel file system, over sec2 and over mpio. The bytes pass unchanged.
#pragma once

#include "drivers/model/calls.hpp"
#include "drivers/model/device.hpp"
#include "drivers/model/settings.hpp"
#include "vfd/pass_through.hpp"

namespace headrace::model {

template <vfd::Over over>
struct Driver : vfd::PassThrough<Driver<over>, over, OpenFile> {
  using Base = vfd::PassThrough<Driver<over>, over, OpenFile>;
  using Callback = vfd::Callback;
  static constexpr const char* kName =
      over == vfd::Over::sec2 ? "headrace_model" : "headrace_model_mpi";
  static constexpr H5FD_class_value_t kValue = over == vfd::Over::sec2 ? 7202 : 7203;
  static constexpr std::span<const Setting> kSettings = model::kSettings;

  // HDF5 decides by the callbacks that a class has, so that over sec2 has none for vectors.
  static constexpr auto overridden() {
    if constexpr (over == vfd::Over::sec2)
      return std::array{Callback::open, Callback::read, Callback::write, Callback::flush,
                        Callback::truncate};
    else
      return std::array{
          Callback::open,         Callback::read,           Callback::write,
          Callback::flush,        Callback::truncate,       Callback::read_vector,
          Callback::write_vector, Callback::read_selection, Callback::write_selection};
  }
  static constexpr auto kOverrides = overridden();

  static H5FD_t* open(const char* name, unsigned flags, hid_t fapl, haddr_t maxaddr) {
    Configuration settings = configuration(vfd::options_of(fapl, Base::layer()));
    H5FD_t* file = Base::open(name, flags, fapl, maxaddr);
    if (file == nullptr) return nullptr;
    try {
      record(file, std::move(settings), name);
    } catch (...) {
      Base::close(file);
      throw;
    }
    return file;
  }

  static std::unique_ptr<engine::Device> device(H5FD_t* file, const char* name) {
    return recorded(*reinterpret_cast<OpenFile*>(file)->recorder, Base::device(file, name));
  }

  static herr_t read(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, haddr_t address, std::size_t size,
                     void* buffer) {
    const Block block{type, address, size};
    return observe(file, Kind::read, block, over,
                   [&] { return Base::read(file, type, dxpl, address, size, buffer); });
  }
  static herr_t write(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, haddr_t address, std::size_t size,
                      const void* buffer) {
    const Block block{type, address, size};
    return observe(file, Kind::write, block, over,
                   [&] { return Base::write(file, type, dxpl, address, size, buffer); });
  }
  static herr_t flush(H5FD_t* file, hid_t dxpl, hbool_t closing) {
    return observe(file, Kind::flush, Nothing{}, over,
                   [&] { return Base::flush(file, dxpl, closing); });
  }
  static herr_t truncate(H5FD_t* file, hid_t dxpl, hbool_t closing) {
    return observe(file, Kind::truncate, Nothing{}, over,
                   [&] { return Base::truncate(file, dxpl, closing); });
  }

  static herr_t counted_read_vector(H5FD_t* file, hid_t dxpl, std::uint32_t count,
                                    H5FD_mem_t types[], haddr_t addresses[], std::size_t sizes[],
                                    void* buffers[]) {
    const Vector vector{count, types, addresses, sizes};
    return observe(file, Kind::read, vector, over, [&] {
      return Base::read_vector(file, dxpl, count, types, addresses, sizes, buffers);
    });
  }
  static herr_t counted_write_vector(H5FD_t* file, hid_t dxpl, std::uint32_t count,
                                     H5FD_mem_t types[], haddr_t addresses[], std::size_t sizes[],
                                     const void* buffers[]) {
    const Vector vector{count, types, addresses, sizes};
    return observe(file, Kind::write, vector, over, [&] {
      return Base::write_vector(file, dxpl, count, types, addresses, sizes, buffers);
    });
  }
  static herr_t counted_read_selection(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, std::size_t count,
                                       hid_t memory[], hid_t spaces[], haddr_t offsets[],
                                       std::size_t elements[], void* buffers[]) {
    const Selections selections{type, count, spaces, offsets, elements};
    return observe(file, Kind::read, selections, over, [&] {
      return Base::read_selection(file, type, dxpl, count, memory, spaces, offsets, elements,
                                  buffers);
    });
  }
  static herr_t counted_write_selection(H5FD_t* file, H5FD_mem_t type, hid_t dxpl,
                                        std::size_t count, hid_t memory[], hid_t spaces[],
                                        haddr_t offsets[], std::size_t elements[],
                                        const void* buffers[]) {
    const Selections selections{type, count, spaces, offsets, elements};
    return observe(file, Kind::write, selections, over, [&] {
      return Base::write_selection(file, type, dxpl, count, memory, spaces, offsets, elements,
                                   buffers);
    });
  }

  static constexpr bool kMpio = over == vfd::Over::mpio;
  static constexpr vfd::signature::read_vector read_vector = kMpio ? &counted_read_vector : nullptr;
  static constexpr vfd::signature::write_vector write_vector =
      kMpio ? &counted_write_vector : nullptr;
  static constexpr vfd::signature::read_selection read_selection =
      kMpio ? &counted_read_selection : nullptr;
  static constexpr vfd::signature::write_selection write_selection =
      kMpio ? &counted_write_selection : nullptr;
};

}  // namespace headrace::model
