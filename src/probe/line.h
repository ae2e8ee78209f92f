/* One JSON line in a fixed buffer, written with one write(2). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct Line {
  char* text;
  size_t capacity;
  size_t length;
  bool full; /* something did not fit; what is there stays valid up to `length` */
};

void headrace_add(struct Line* line, const char* text);
/* The text in quotes, with everything escaped that JSON wants escaped; NULL becomes null. */
void headrace_add_quoted(struct Line* line, const char* text);
void headrace_add_number(struct Line* line, long number);
