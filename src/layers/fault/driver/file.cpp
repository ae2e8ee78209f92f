#include "layers/fault/driver/file.hpp"

#include <filesystem>

#include "base/error.hpp"
#include "engine/memory/kind.hpp"

namespace headrace::fault {
namespace {

int rank_of(const H5FD_t* under, vfd::Over over) {
  if (over == vfd::Over::sec2 || under->cls->ctl == nullptr) return launched_rank();
  int rank = 0;
  void* result = &rank;
  under->cls->ctl(const_cast<H5FD_t*>(under), H5FD_CTL_GET_MPI_RANK_OPCODE, 0, nullptr, &result);
  return rank;
}

}  // namespace

// H5F_ACC_RDWR and H5F_ACC_TRUNC, which are macros that call the library.
constexpr unsigned kReadWrite = 1;
constexpr unsigned kTruncate = 2;

std::string absolute_path(const char* name) {
  return std::filesystem::absolute(name).lexically_normal();
}

Operation File::transfer(Op op, H5FD_mem_t type, std::uint64_t offset, std::uint64_t length) const {
  return {op, path, rank, type == H5FD_MEM_DRAW ? Data::raw : Data::metadata, offset, length};
}

void attach(H5FD_t* file, Plan& plan, const char* name, unsigned flags, vfd::Over over) {
  File& opened = File::of(file);
  opened.plan = &plan;
  opened.path = absolute_path(name);
  opened.rank = rank_of(opened.under, over);
  if (plan.kind != Kind::power_cut || plan.outcome == Outcome::kept) return;
  if (over == vfd::Over::mpio)
    throw Error("layer fault: over MPI a power cut has outcome=kept only; file " + opened.path);
  if ((flags & kReadWrite) == 0) return;
  opened.disk = &acquire_disk(opened.path);
  if ((flags & kTruncate) != 0) opened.disk->unsynced.forget();
}

void note_write(File& file, haddr_t offset, std::span<const std::span<const std::byte>> pieces) {
  if (file.disk == nullptr) return;
  for (const auto piece : pieces)
    if (engine::is_device_memory(piece.data()))
      throw Error(
          "layer fault: a power cut cannot undo a write from a GPU's memory; file " + file.path,
          ErrorKind::unsupported);
  file.disk->unsynced.note_write(offset, pieces);
}

void note_resize(File& file, std::uint64_t size) {
  if (file.disk != nullptr) file.disk->unsynced.note_resize(size);
}

// sec2 sets the size to what is allocated, unless it believes that it is that already.
void note_truncate(File& file) {
  if (file.disk == nullptr) return;
  const H5FD_class_t& below = *file.under->cls;
  const haddr_t allocated = below.get_eoa(file.under, H5FD_MEM_DEFAULT);
  if (allocated != below.get_eof(file.under, H5FD_MEM_DEFAULT))
    file.disk->unsynced.note_resize(allocated);
}

std::uint64_t noted(const File& file) {
  return file.disk == nullptr ? 0 : file.disk->unsynced.noted();
}

void note_flush(File& file, bool closing, std::uint64_t before) {
  const Plan& plan = *file.plan;
  if (file.disk != nullptr && (closing ? plan.sync_at_close : plan.sync_at_flush))
    file.disk->unsynced.forget(before);
}

void note_close(File& file) {
  if (file.disk != nullptr) release_disk(*file.disk, file.plan->sync_at_close);
}

}  // namespace headrace::fault
