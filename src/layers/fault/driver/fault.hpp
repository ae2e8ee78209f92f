// The driver that makes chosen operations fail, over sec2 and over mpio (docs/guide/fault.md).
//
// Over mpio HDF5 expects every rank in a collective call, and a driver cannot tell which calls are.
// So there a transfer that fails is made with no bytes, a flush or truncation is made, and the
// error comes after it.
#pragma once

#include <numeric>

#include "hdf5/quiet_errors.hpp"
#include "layers/fault/driver/faulty_file.hpp"
#include "layers/fault/driver/file.hpp"
#include "layers/fault/driver/gate.hpp"
#include "layers/fault/driver/vector.hpp"
#include "layers/fault/settings.hpp"
#include "vfd/pass_through.hpp"

namespace headrace::fault {

template <vfd::Over over>
struct Driver : vfd::PassThrough<Driver<over>, over, File> {
  using Base = vfd::PassThrough<Driver<over>, over, File>;
  using Callback = vfd::Callback;
  static constexpr bool kMpi = over == vfd::Over::mpio;
  static constexpr const char* kName = kMpi ? "headrace_fault_mpi" : "headrace_fault";
  static constexpr H5FD_class_value_t kValue = kMpi ? 7205 : 7204;
  static constexpr bool kRepeats = true;
  static constexpr std::span<const Setting> kSettings = fault::kSettings;
  static constexpr auto kOverrides = [] {
    if constexpr (kMpi)
      return std::array{Callback::open,           Callback::close,          Callback::del,
                        Callback::read,           Callback::write,          Callback::flush,
                        Callback::truncate,       Callback::read_vector,    Callback::write_vector,
                        Callback::read_selection, Callback::write_selection};
    else
      return std::array{Callback::open,  Callback::close, Callback::del,     Callback::read,
                        Callback::write, Callback::flush, Callback::truncate};
  }();

 private:
  static Plan& plan_of(hid_t fapl) {
    require_environment();
    return plan_for(vfd::options_of(fapl, Base::layer()));
  }

  // All ranks open and delete a file together, so such a fault is one of all ranks.
  static void before_all(Plan& plan, Op op, const char* name) {
    const std::string path = absolute_path(name);
    inject(plan, {op, path, kMpi ? kEveryRank : launched_rank()}).raise();
  }

  static Verdict end(File& file) {
    const UnderWay under_way(file.disk != nullptr);
    Verdict verdict = inject(*file.plan, file.operation(Op::close));
    if (verdict.ok()) note_close(file);
    return verdict;
  }

  template <Op op, auto transfer, typename Buffer>
  static herr_t vector_transfer(H5FD_t* file, hid_t dxpl, std::uint32_t count, H5FD_mem_t types[],
                                haddr_t addresses[], std::size_t sizes[], Buffer buffers[]) {
    if (count == 0) return transfer(file, dxpl, count, types, addresses, sizes, buffers);
    File& mine = File::of(file);
    Pieces pieces(count, types, sizes);
    const Verdict verdict =
        inject(*mine.plan, mine.transfer(op, types[0], addresses[0], pieces.bytes()));
    if (verdict.ok()) return transfer(file, dxpl, count, types, addresses, sizes, buffers);
    pieces.shorten(verdict.bytes);
    transfer(file, dxpl, pieces.count(), pieces.types(), addresses, pieces.sizes(), buffers);
    verdict.raise();
    return -1;
  }

  // A part of a transfer is whole selections here.
  template <Op op, auto transfer, typename Buffer>
  static herr_t selection_transfer(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, std::size_t count,
                                   hid_t mem_spaces[], hid_t file_spaces[], haddr_t offsets[],
                                   std::size_t element_sizes[], Buffer buffers[]) {
    File& mine = File::of(file);
    if (count == 0 || mine.plan->kind == Kind::none)
      return transfer(file, type, dxpl, count, mem_spaces, file_spaces, offsets, element_sizes,
                      buffers);
    const auto bytes = selection_bytes(count, file_spaces, element_sizes);
    Operation operation = mine.transfer(
        op, type, offsets[0], std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}));
    operation.pieces = bytes;
    const Verdict verdict = inject(*mine.plan, operation);
    std::size_t whole = 0;
    for (std::uint64_t left = verdict.bytes; whole < count && bytes[whole] <= left; ++whole)
      left -= bytes[whole];
    const herr_t result = transfer(file, type, dxpl, verdict.ok() ? count : whole, mem_spaces,
                                   file_spaces, offsets, element_sizes, buffers);
    verdict.raise();
    return result;
  }

 public:
  static H5FD_t* open(const char* name, unsigned flags, hid_t fapl, haddr_t maxaddr) {
    Plan& plan = plan_of(fapl);
    const UnderWay under_way(true);
    before_all(plan, Op::open, name);
    H5FD_t* file = Base::open(name, flags, fapl, maxaddr);
    if (file == nullptr) return nullptr;
    try {
      attach(file, plan, name, flags, over);
    } catch (...) {
      Base::close(file);
      throw;
    }
    return file;
  }

  static std::unique_ptr<engine::io::File> storage(H5FD_t* file, const char* name) {
    return faulty(File::of(file), Base::storage(file, name));
  }

  // What is below is closed in any case: HDF5 forgets the file, whatever is returned.
  static herr_t close(H5FD_t* file) {
    const Verdict verdict = end(File::of(file));
    const herr_t result = Base::close(file);
    verdict.raise();
    return result;
  }

  static herr_t del(const char* name, hid_t fapl) {
    const UnderWay under_way(true);
    before_all(plan_of(fapl), Op::remove, name);
    if constexpr (!kMpi) forget_disk(name);
    return Base::del(name, fapl);
  }

  static herr_t read(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, haddr_t address, std::size_t size,
                     void* buffer) {
    File& mine = File::of(file);
    const Verdict verdict = inject(*mine.plan, mine.transfer(Op::read, type, address, size));
    herr_t result = 0;
    if (verdict.ok() || verdict.bytes > 0 || kMpi)
      result = Base::read(file, type, dxpl, address, verdict.bytes, buffer);
    verdict.raise();
    return result;
  }

  static herr_t write(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, haddr_t address, std::size_t size,
                      const void* buffer) {
    File& mine = File::of(file);
    const UnderWay under_way(mine.disk != nullptr);
    const std::span bytes(static_cast<const std::byte*>(buffer), size);
    note_write(mine, address, std::span(&bytes, 1));
    const Verdict verdict = inject(*mine.plan, mine.transfer(Op::write, type, address, size));
    herr_t result = 0;
    if (verdict.ok() || verdict.bytes > 0 || kMpi)
      result = Base::write(file, type, dxpl, address, verdict.bytes, buffer);
    verdict.raise();
    return result;
  }

  static herr_t flush(H5FD_t* file, hid_t dxpl, bool closing) {
    File& mine = File::of(file);
    const UnderWay under_way(mine.disk != nullptr);
    const std::uint64_t before = noted(mine);
    const Verdict verdict = inject(*mine.plan, mine.operation(Op::flush));
    herr_t result = 0;
    if (verdict.ok() || kMpi) result = Base::flush(file, dxpl, closing);
    verdict.raise();
    if (result >= 0) note_flush(mine, closing, before);
    return result;
  }

  static herr_t truncate(H5FD_t* file, hid_t dxpl, bool closing) {
    File& mine = File::of(file);
    const UnderWay under_way(mine.disk != nullptr);
    note_truncate(mine);
    const Verdict verdict = inject(*mine.plan, mine.operation(Op::truncate));
    herr_t result = 0;
    if (verdict.ok() || kMpi) result = Base::truncate(file, dxpl, closing);
    verdict.raise();
    return result;
  }

  static constexpr auto read_vector = [] {
    if constexpr (kMpi)
      return &vector_transfer<Op::read, Base::read_vector, void*>;
    else
      return vfd::signature::read_vector{};
  }();
  static constexpr auto write_vector = [] {
    if constexpr (kMpi)
      return &vector_transfer<Op::write, Base::write_vector, const void*>;
    else
      return vfd::signature::write_vector{};
  }();
  static constexpr auto read_selection = [] {
    if constexpr (kMpi)
      return &selection_transfer<Op::read, Base::read_selection, void*>;
    else
      return vfd::signature::read_selection{};
  }();
  static constexpr auto write_selection = [] {
    if constexpr (kMpi)
      return &selection_transfer<Op::write, Base::write_selection, const void*>;
    else
      return vfd::signature::write_selection{};
  }();
};

}  // namespace headrace::fault
