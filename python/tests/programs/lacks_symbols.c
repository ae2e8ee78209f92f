/* Half a plug-in. */
int H5PLget_plugin_type(void) { return 1; }
