// Reads the netCDF classic format, CDF-1, CDF-2 and CDF-5, as far as decomposition maps need it:
// attributes of numbers and text, and variables of integers without a record dimension.
// https://docs.unidata.ucar.edu/netcdf-c/current/file_format_specifications.html
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::bench::e3sm {

class NetcdfFile {
 public:
  // Reads the header. `bytes` is the whole file and outlives this. Throws Error, which tells the
  // place and what is wrong there, for whatever the format does not allow.
  explicit NetcdfFile(std::string_view bytes);

  // Throw Error when there is none of that name, or it is of another kind.
  [[nodiscard]] std::uint64_t dimension(const std::string& name) const;
  [[nodiscard]] std::vector<std::int64_t> integers_of_attribute(const std::string& name) const;
  // A one-dimensional variable.
  [[nodiscard]] std::vector<std::int64_t> integers_of_variable(const std::string& name) const;

 private:
  class Reader;
  struct Values {
    std::uint32_t type = 0;
    std::uint64_t count = 0;
    std::uint64_t begin = 0;  // bytes from the start of the file
  };
  struct Dimension {
    std::string name;
    std::uint64_t length = 0;  // 0: the record dimension
  };

  void read_dimensions(Reader& reader);
  static std::map<std::string, Values> read_attributes(Reader& reader);
  void read_variables(Reader& reader);
  void read_variable(Reader& reader);
  [[nodiscard]] std::vector<std::int64_t> integers(const std::string& name,
                                                   const Values& values) const;

  std::string_view bytes_;
  std::vector<Dimension> dimensions_;
  std::map<std::string, Values> attributes_;
  std::map<std::string, Values> variables_;
};

}  // namespace headrace::bench::e3sm
