#include "kernels/iotest/csv.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/error.hpp"

namespace headrace::bench::iotest {
namespace {

using Cells = std::vector<std::string>;

// Without the blanks that recent versions of the original have before "async" and "wall [s]": its
// own plotting scripts look for the names without.
constexpr std::string_view kHeader =
    "steps,arrays,rows,cols,scaling,proc-rows,proc-cols,slowdim,rank,version,"
    "alignment-increment,alignment-threshold,meta-block-size,layout,fill,fmt,io,async,"
    "wall [s],fsize [B],write-phase-min [s],write-phase-max [s],creat-min [s],creat-max [s],"
    "write-min [s],write-max [s],read-phase-min [s],read-phase-max [s],read-min [s],read-max [s],"
    // ours: parameters that theirs leave out
    "fmt-high,mpi-io,single-process,gzip,szip,split,delay [s],stack,repeat,"
    // and what else was measured
    "case,connector,driver,hdf5,started,create-min [s],create-max [s],flush-min [s],flush-max [s],"
    "close-min [s],close-max [s],sync-min [s],sync-max [s],open-min [s],open-max [s],"
    "close-read-min [s],close-read-max [s],verified";
constexpr std::size_t kTheirColumns = 30;
constexpr std::size_t kOurParameters = 9;

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw Error("csv-file " + path + ": " + why);
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The layers that HDF5 is told to load: the same case under others is another row.
std::string stack() {
  const std::string driver = variable("HDF5_DRIVER");
  return variable("HDF5_VOL_CONNECTOR") + (driver.empty() ? "" : " over " + driver);
}

std::string seconds_cell(std::chrono::nanoseconds time) {
  return seconds_text(std::chrono::duration<double>(time).count());
}

std::string quoted(const std::string& text) {
  std::string all = "\"";
  for (const char letter : text) all += letter == '"' ? "\"\"" : std::string(1, letter);
  return all + '"';
}

std::string cell(const std::string& text) {
  return text.find_first_of(",\"\n\r") == std::string::npos ? text : quoted(text);
}

std::string joined(const Cells& cells) {
  std::string line;
  for (const std::string& each : cells) line += (line.empty() ? "" : ",") + each;
  return line;
}

Cells their_parameters(const Parameters& p) {
  const std::string mode = p.collective ? "collective" : "independent";
  return {std::to_string(p.steps),
          std::to_string(p.arrays),
          std::to_string(p.rows),
          std::to_string(p.columns),
          p.strong ? "strong" : "weak",
          std::to_string(p.process_rows),
          std::to_string(p.process_columns),
          p.step_first ? "step" : "array",
          std::to_string(p.dataset_rank),
          quoted(hdf5_library().version),
          std::to_string(p.alignment_increment),
          std::to_string(p.alignment_threshold),
          std::to_string(p.meta_block_size),
          p.chunked ? "chunked" : "contiguous",
          p.fill ? "true" : "false",
          p.libver_low,
          p.ranks() == 1 ? p.single_process : mode,
          "0"};
}

Cells our_parameters(const Parameters& p, const Options& options, int repeat) {
  const std::string szip =
      p.szip_pixels == 0 ? "" : std::to_string(p.szip_mask) + ':' + std::to_string(p.szip_pixels);
  return {p.libver_high,
          p.collective ? "collective" : "independent",
          p.single_process,
          std::to_string(p.gzip),
          szip,
          p.split ? "1" : "0",
          seconds_cell(options.compute.count() > 0 ? options.compute : p.delay),
          cell(stack()),
          std::to_string(repeat)};
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path, std::string("cannot be read: ") + std::strerror(errno));
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The cells as they stand in the line, quotes included.
Cells split_line(std::string_view line) {
  Cells cells(1);
  bool inside = false;
  for (const char letter : line) {
    if (letter == '"') inside = !inside;
    if (letter == ',' && !inside)
      cells.emplace_back();
    else
      cells.back() += letter;
  }
  return cells;
}

bool same(const Cells& row, std::size_t from, const Cells& wanted) {
  return std::equal(wanted.begin(), wanted.end(), row.begin() + static_cast<std::ptrdiff_t>(from));
}

void check_text(const std::string& path, const std::string& text) {
  if (text.empty()) return;
  if (text.substr(0, text.find('\n')) != kHeader)
    fail(path, "has other columns than those of this program; move it away or name another");
  if (text.back() != '\n') fail(path, "its last line is cut off: remove that line");
}

// Appends all of it, or nothing.
void append(const std::string& path, const std::string& row) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) fail(path, std::string("cannot be opened: ") + std::strerror(errno));
  flock(fd, LOCK_EX);  // two programs must not both write the header
  struct stat before{};
  std::string why;
  if (fstat(fd, &before) == 0) {
    const std::string text = (before.st_size == 0 ? std::string(kHeader) + '\n' : "") + row + '\n';
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written != static_cast<ssize_t>(text.size())) {
      why = written < 0 ? std::strerror(errno) : "only a part of the row fitted";
      if (ftruncate(fd, before.st_size) != 0) why += ", which is still there";
    }
  } else {
    why = std::strerror(errno);
  }
  ::close(fd);
  if (!why.empty()) fail(path, "cannot be written: " + why);
}

struct Extremes {
  std::string text;  // "least,most"
  double most;
};

// Collective.
Extremes extremes(Run& run, double mine) {
  const double least = run.world().smallest(mine);
  const double most = run.world().largest(mine);
  return {seconds_text(least) + ',' + seconds_text(most), most};
}

}  // namespace

void check_csv(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) fail(path, "is a folder");
  if (fs::exists(path, ignored)) {
    check_text(path, contents_of(path));
    return;
  }
  const fs::path folder = fs::absolute(path).parent_path();
  if (!fs::is_directory(folder, ignored)) fail(path, "its folder is missing");
}

bool has_row(const Parameters& p, const Options& options, int repeat) {
  if (!std::filesystem::exists(p.csv)) return false;
  const std::string text = contents_of(p.csv);
  check_text(p.csv, text);
  const Cells theirs = their_parameters(p);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const Cells row = split_line(std::string_view(text).substr(at, end - at));
    at = end + 1;
    if (row.size() < kTheirColumns + kOurParameters || !same(row, 0, theirs)) continue;
    if (same(row, kTheirColumns, our_parameters(p, options, repeat))) return true;
  }
  return false;
}

void append_row(const Parameters& p, Run& run, const Measured& result, double write_seconds,
                double read_seconds) {
  const auto phase = [&](Phase which) { return extremes(run, run.seconds(which)).text; };
  // "creat" of the original includes the close of the file.
  const double made =
      run.seconds(Phase::create) + run.seconds(Phase::flush) + run.seconds(Phase::close);
  const Cells theirs{seconds_text(result.write_wall + result.read_wall),
                     std::to_string(result.file_bytes),
                     extremes(run, write_seconds).text,
                     extremes(run, made).text,
                     phase(Phase::write),
                     extremes(run, read_seconds).text,
                     phase(Phase::read)};
  const Cells ours{p.name(),
                   cell(result.connector),
                   cell(result.driver),
                   hdf5_library().version,
                   result.started,
                   phase(Phase::create),
                   phase(Phase::flush),
                   phase(Phase::close),
                   phase(Phase::sync),
                   phase(Phase::open),
                   phase(Phase::close_read),
                   result.verified ? "true" : "false"};
  const std::string row =
      joined({joined(their_parameters(p)), joined(theirs),
              joined(our_parameters(p, run.options(), result.repeat)), joined(ours)});
  run.world().on_first([&] { append(p.csv, row); });
}

}  // namespace headrace::bench::iotest
