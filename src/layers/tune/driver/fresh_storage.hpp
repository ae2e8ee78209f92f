// The driver for files that ranks open together: zeros that HDF5 fills storage with are not written
// where nothing has ever been written, beyond what the file has had so far. A file has zeros there
// all the same, when it has been made long enough: MPI-IO may read anything behind the end of a
// file (ROMIO does, for pieces that it reads together, and writes it back amid others).
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "base/call_scope.hpp"
#include "hdf5/mpio_transfer.hpp"
#include "layers/tune/driver/deferred_fill.hpp"
#include "layers/tune/settings.hpp"
#include "vfd/pass_through.hpp"
#include "vfd/requests.hpp"

namespace headrace::tune {

// While HDF5 sets storage aside for a dataset that is made or extended, in a call of all ranks.
struct FreshStorage : CallScope<FreshStorage> {
  std::uint64_t begin = HADDR_UNDEF;  // nothing has ever been written from here on
};

struct MpiFile : vfd::File {
  MpiFile() : vfd::File{} {}
  haddr_t end = 0;  // of all that the file has ever had, of data or storage: on all ranks alike

  static MpiFile& of(H5FD_t* file) { return *reinterpret_cast<MpiFile*>(file); }
};

struct MpiDriver : vfd::PassThrough<MpiDriver, vfd::Over::mpio, MpiFile> {
  using Base = vfd::PassThrough<MpiDriver, vfd::Over::mpio, MpiFile>;
  using Callback = vfd::Callback;
  static constexpr const char* kName = "headrace_tune_mpi";
  static constexpr H5FD_class_value_t kValue = 7213;
  static constexpr std::span<const Setting> kSettings = tune::kSettings;
  static constexpr std::array kOverrides{Callback::open, Callback::set_eoa, Callback::write,
                                         Callback::write_vector};

  static H5FD_t* open(const char* name, unsigned flags, hid_t fapl, haddr_t maxaddr) {
    H5FD_t* const file = Base::open(name, flags, fapl, maxaddr);
    if (file != nullptr)
      MpiFile::of(file).end =
          std::max(Base::get_eof(file, H5FD_MEM_DEFAULT), Base::get_eoa(file, H5FD_MEM_DEFAULT));
    return file;
  }

  static herr_t set_eoa(H5FD_t* file, H5FD_mem_t type, haddr_t address) {
    haddr_t& end = MpiFile::of(file).end;
    if (FreshStorage* const fresh = FreshStorage::current(); fresh != nullptr && address > end)
      fresh->begin = std::min(fresh->begin, end);
    end = std::max(end, address);
    return Base::set_eoa(file, type, address);
  }

  // HDF5 has one rank fill a contiguous dataset: the last byte makes the file long enough.
  static herr_t write(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, haddr_t address, std::size_t size,
                      const void* buffer) {
    const std::span bytes(static_cast<const std::byte*>(buffer), size);
    if (size < kLeast || collective_transfer() || !is_there(type, address, bytes))
      return Base::write(file, type, dxpl, address, size, buffer);
    fill_statistics().left_out += size - 1;
    return Base::write(file, type, dxpl, address + size - 1, 1, buffer);
  }

  // All ranks fill chunks, each its part, in one call, and make the file long enough together.
  static herr_t write_vector(H5FD_t* file, hid_t dxpl, std::uint32_t count, H5FD_mem_t types[],
                             haddr_t addresses[], std::size_t sizes[], const void* buffers[]) {
    const FreshStorage* const fresh = FreshStorage::current();
    const haddr_t end = MpiFile::of(file).end;
    const bool all_know = fresh != nullptr && fresh->begin < end && end - fresh->begin >= kLeast;
    if (!all_know || !collective_transfer())
      return Base::write_vector(file, dxpl, count, types, addresses, sizes, buffers);
    Pieces kept;
    vfd::for_each_piece(vfd::Vector{count, types, addresses, sizes}, buffers,
                        [&](const vfd::Piece& piece, std::span<const std::byte> bytes) {
                          if (is_there(piece.type, piece.offset, bytes))
                            fill_statistics().left_out += bytes.size();
                          else
                            kept.add(piece, bytes);
                        });
    const herr_t result = kept.write(file, dxpl);
    return result < 0 ? result : Base::truncate(file, dxpl, false);
  }

 private:
  static constexpr std::size_t kLeast = 65'536;  // bytes: less is written as soon

  struct Pieces {
    void add(const vfd::Piece& piece, std::span<const std::byte> bytes) {
      types.push_back(static_cast<H5FD_mem_t>(piece.type));
      addresses.push_back(piece.offset);
      sizes.push_back(bytes.size());
      buffers.push_back(bytes.data());
    }
    herr_t write(H5FD_t* file, hid_t dxpl) {
      return Base::write_vector(file, dxpl, static_cast<std::uint32_t>(types.size()), types.data(),
                                addresses.data(), sizes.data(), buffers.data());
    }
    std::vector<H5FD_mem_t> types;
    std::vector<haddr_t> addresses;
    std::vector<std::size_t> sizes;
    std::vector<const void*> buffers;
  };

  // Whether the file has those bytes without being written to, but for its length.
  static bool is_there(int type, haddr_t address, std::span<const std::byte> bytes) {
    constexpr std::byte kZero{0};
    const FreshStorage* const fresh = FreshStorage::current();
    return fresh != nullptr && type == H5FD_MEM_DRAW && address >= fresh->begin && !bytes.empty() &&
           engine::repeats(bytes, {&kZero, 1});
  }
};

}  // namespace headrace::tune
