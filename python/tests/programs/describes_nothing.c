/* A plug-in that cannot load its module. */
const char *headrace_describe(void) { return 0; }
