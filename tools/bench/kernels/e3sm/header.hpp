// The header of a history file as ncdump -h prints it (CDL): dimensions, variables, attributes.
// https://docs.unidata.ucar.edu/nug/current/_c_d_l.html
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace headrace::bench::e3sm {

enum class Type { character, integer, real, double_real };

struct Attribute {
  std::string name;
  std::variant<std::string, std::vector<std::int32_t>, std::vector<float>, std::vector<double>>
      value;
};

struct Dimension {
  std::string name;
  std::uint64_t length = 0;  // 0: the record dimension
};

struct Variable {
  std::string name;
  Type type = Type::character;
  std::vector<std::size_t> dimensions;  // places in Header::dimensions
  std::vector<Attribute> attributes;
};

struct Header {
  std::vector<Dimension> dimensions;
  std::vector<Variable> variables;
  std::vector<Attribute> attributes;  // global ones
};

// Knows char, int, float and double. Throws Error, which tells the line and what is wrong there.
Header parse_header(std::string_view cdl);

}  // namespace headrace::bench::e3sm
