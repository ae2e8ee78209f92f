/* A plug-in of type TYPE that can be opened and asked for its type, and nothing more. */
int H5PLget_plugin_type(void) { return TYPE; }

const void *H5PLget_plugin_info(void) { return 0; }
