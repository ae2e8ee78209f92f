#include "kernels/e3sm/header.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/error.hpp"

namespace headrace::bench::e3sm {
namespace {

enum class Kind { name, number, text, sign, end };

struct Token {
  Kind kind = Kind::end;
  std::string text;  // a string's without quotes and escapes
};

// Cuts CDL into tokens; one is looked at ahead.
class Lexer {
 public:
  explicit Lexer(std::string_view cdl) : rest_(cdl) { advance(); }

  [[nodiscard]] const Token& next() const { return next_; }
  [[nodiscard]] bool is(std::string_view sign) const {
    return next_.kind == Kind::sign && next_.text == sign;
  }
  Token take(Kind kind, const char* what) {
    if (next_.kind != kind) fail(std::string("expected ") + what);
    Token taken = std::exchange(next_, {});
    advance();
    return taken;
  }
  void take(std::string_view sign) {
    if (!is(sign)) fail("expected '" + std::string(sign) + '\'');
    advance();
  }
  bool accept(std::string_view sign) {
    if (!is(sign)) return false;
    advance();
    return true;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error("line " + std::to_string(line_) + ": " + what +
                (next_.kind == Kind::end ? ", found the end" : ", found '" + next_.text + '\''));
  }

 private:
  static bool in_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  static bool in_number(char c) { return in_name(c) || c == '.' || c == '+' || c == '-'; }

  void skip_space() {
    while (!rest_.empty()) {
      if (rest_.starts_with("//"))
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      else if (rest_[0] == ' ' || rest_[0] == '\t' || rest_[0] == '\r' || rest_[0] == '\n') {
        line_ += rest_[0] == '\n' ? 1 : 0;
        rest_.remove_prefix(1);
      } else
        return;
    }
  }

  void advance() {
    skip_space();
    if (rest_.empty()) {
      next_ = {};
    } else if (rest_[0] == '"') {
      next_ = {Kind::text, text()};
    } else {
      const char first = rest_[0];
      const bool number =
          (first >= '0' && first <= '9') || first == '-' || first == '+' || first == '.';
      std::size_t length = 0;
      while (length < rest_.size() && (number ? in_number(rest_[length]) : in_name(rest_[length])))
        ++length;
      next_ = {number       ? Kind::number
               : length > 0 ? Kind::name
                            : Kind::sign,
               std::string(rest_.substr(0, std::max<std::size_t>(length, 1)))};
      rest_.remove_prefix(next_.text.size());
    }
  }

  std::string text() {
    std::string result;
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      char c = rest_[i];
      if (c == '"') {
        rest_.remove_prefix(i + 1);
        return result;
      }
      if (c == '\n') break;
      if (c == '\\') c = escaped(++i < rest_.size() ? rest_[i] : '\0');
      result += c;
    }
    next_ = {Kind::text, result};
    fail("a string has no end");
  }

  char escaped(char c) const {
    constexpr std::string_view kLetters = "ntr\"'\\";
    constexpr std::string_view kMeanings = "\n\t\r\"'\\";
    const std::size_t at = kLetters.find(c);
    if (c == '\0' || at == std::string_view::npos) fail("unknown escape in a string");
    return kMeanings[at];
  }

  std::string_view rest_;
  Token next_;
  int line_ = 1;
};

template <typename T>
T number(const Lexer& lexer, std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  T result{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
  if (error != std::errc() || end != text.data() + text.size())
    lexer.fail("not a number: " + std::string(text) + ",");
  return result;
}

template <typename T>
std::vector<T> numbers(const Lexer& lexer, const std::vector<std::string>& texts) {
  std::vector<T> all;
  all.reserve(texts.size());
  for (const std::string& text : texts) all.push_back(number<T>(lexer, text));
  return all;
}

// The type of numbers is told by how they are written: 1, 1.f, 1.
Attribute number_attribute(Lexer& lexer, std::string name) {
  std::vector<std::string> texts;
  do texts.push_back(lexer.take(Kind::number, "a number").text);
  while (lexer.accept(","));
  const bool real = texts[0].ends_with('f');
  const bool integer = texts[0].find_first_of(".eEfn") == std::string::npos;
  for (std::string& text : texts) {
    if (text.ends_with('f') != real) lexer.fail("numbers of several types");
    if (real) text.pop_back();
  }
  if (real) return {std::move(name), numbers<float>(lexer, texts)};
  if (integer) return {std::move(name), numbers<std::int32_t>(lexer, texts)};
  return {std::move(name), numbers<double>(lexer, texts)};
}

// What follows the colon: NAME = VALUE, VALUE ... ;
void parse_attribute(Lexer& lexer, std::vector<Attribute>& to) {
  std::string name = lexer.take(Kind::name, "an attribute's name").text;
  for (const Attribute& other : to)
    if (other.name == name) lexer.fail("two attributes " + name);
  lexer.take("=");
  if (lexer.next().kind == Kind::text) {
    std::string text;  // ncdump breaks it at its ends of lines
    do text += lexer.take(Kind::text, "a string").text;
    while (lexer.accept(","));
    to.push_back({std::move(name), std::move(text)});
  } else {
    to.push_back(number_attribute(lexer, std::move(name)));
  }
  lexer.take(";");
}

void parse_dimension(Lexer& lexer, Header& header) {
  Dimension dimension{lexer.take(Kind::name, "a dimension's name").text, 0};
  lexer.take("=");
  if (lexer.next().kind == Kind::number) {
    dimension.length = number<std::uint64_t>(lexer, lexer.next().text);
    if (dimension.length == 0) lexer.fail("a dimension of length 0");
    lexer.take(Kind::number, "a length");
  } else if (lexer.take(Kind::name, "a length").text != "UNLIMITED") {
    lexer.fail("expected a length or UNLIMITED");
  }
  lexer.take(";");
  for (const Dimension& other : header.dimensions)
    if (other.name == dimension.name) lexer.fail("two dimensions " + other.name);
  header.dimensions.push_back(std::move(dimension));
}

Type type_of(const Lexer& lexer, const std::string& name) {
  if (name == "char") return Type::character;
  if (name == "int") return Type::integer;
  if (name == "float") return Type::real;
  if (name == "double") return Type::double_real;
  lexer.fail("type " + name + " is not char, int, float or double");
}

std::size_t find_dimension(const Lexer& lexer, const Header& header, const std::string& name) {
  for (std::size_t i = 0; i < header.dimensions.size(); ++i)
    if (header.dimensions[i].name == name) return i;
  lexer.fail("no dimension " + name);
}

// What follows the type: NAME ; or NAME ( DIMENSION , ... ) ;
void parse_variable(Lexer& lexer, Header& header, Type type) {
  constexpr std::size_t kMostDimensions = 8;
  Variable variable{lexer.take(Kind::name, "a variable's name").text, type, {}, {}};
  for (const Variable& other : header.variables)
    if (other.name == variable.name) lexer.fail("two variables " + other.name);
  if (lexer.accept("(")) {
    do {
      const std::string name = lexer.take(Kind::name, "a dimension's name").text;
      const std::size_t dimension = find_dimension(lexer, header, name);
      if (header.dimensions[dimension].length == 0 && !variable.dimensions.empty())
        lexer.fail("the record dimension is not the first of " + variable.name);
      if (variable.dimensions.size() == kMostDimensions)
        lexer.fail("too many dimensions of " + variable.name);
      variable.dimensions.push_back(dimension);
    } while (lexer.accept(","));
    lexer.take(")");
  }
  lexer.take(";");
  header.variables.push_back(std::move(variable));
}

void parse_variables(Lexer& lexer, Header& header) {
  while (!lexer.is("}")) {
    if (lexer.accept(":")) {
      parse_attribute(lexer, header.attributes);
      continue;
    }
    const std::string name = lexer.take(Kind::name, "a type or a variable").text;
    if (!lexer.accept(":")) {
      parse_variable(lexer, header, type_of(lexer, name));
      continue;
    }
    const auto owner = std::ranges::find(header.variables, name, &Variable::name);
    if (owner == header.variables.end()) lexer.fail("no variable " + name);
    parse_attribute(lexer, owner->attributes);
  }
}

void take_word(Lexer& lexer, const char* word) {
  if (lexer.next().kind != Kind::name || lexer.next().text != word)
    lexer.fail(std::string("expected ") + word);
  lexer.take(Kind::name, word);
}

bool at_variables(const Lexer& lexer) {
  return lexer.next().kind == Kind::name && lexer.next().text == "variables";
}

}  // namespace

Header parse_header(std::string_view cdl) {
  Lexer lexer(cdl);
  Header header;
  take_word(lexer, "netcdf");
  lexer.take(Kind::name, "the file's name");
  lexer.take("{");
  take_word(lexer, "dimensions");
  lexer.take(":");
  while (!at_variables(lexer)) parse_dimension(lexer, header);
  take_word(lexer, "variables");
  lexer.take(":");
  parse_variables(lexer, header);
  lexer.take("}");
  if (lexer.next().kind != Kind::end) lexer.fail("expected the end");
  return header;
}

}  // namespace headrace::bench::e3sm
