/* What a module tells of its layers: DESCRIPTION. */
const char *headrace_describe(void) { return DESCRIPTION; }
