#include "line.h"

#include <string.h>

static void add_char(struct Line* line, char c) {
  if (line->length == line->capacity) {
    line->full = true;
    return;
  }
  line->text[line->length++] = c;
}

void headrace_add(struct Line* line, const char* text) {
  for (; *text != '\0'; ++text) add_char(line, *text);
}

void headrace_add_quoted(struct Line* line, const char* text) {
  static const char kDigits[] = "0123456789abcdef";
  if (text == NULL) {
    headrace_add(line, "null");
    return;
  }
  add_char(line, '"');
  for (; *text != '\0'; ++text) {
    const unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\') add_char(line, '\\');
    if (c >= 0x20) {
      add_char(line, *text);
    } else {
      headrace_add(line, "\\u00");
      add_char(line, kDigits[c >> 4]);
      add_char(line, kDigits[c & 15]);
    }
  }
  add_char(line, '"');
}

void headrace_add_number(struct Line* line, long number) {
  char digits[24];
  size_t count = sizeof digits;
  unsigned long rest = number < 0 ? 0UL - (unsigned long)number : (unsigned long)number;
  digits[--count] = '\0';
  do {
    digits[--count] = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  if (number < 0) digits[--count] = '-';
  headrace_add(line, digits + count);
}
