/* schema: sections, types and keys of model files with their descriptions, as the library's JSON Schema gives them. */
#ifndef CLI_SCHEMA_H
#define CLI_SCHEMA_H

/* A place in the text of the schema: the first character of a value; NULL: there is none. */
typedef const char *cli_json;

/* Value of a key of an object, and entry of an array; NULL when there is none. */
cli_json cli_json_member(cli_json object, const char *key);
cli_json cli_json_entry(cli_json array, int index);
/* Key number `index` of an object, to be freed; NULL: past its end. */
char *cli_json_key(cli_json object, int index);
int cli_json_key_count(cli_json object);
/* The text of a string, to be freed; "" for any other value. */
char *cli_json_text(cli_json value);

/* The value itself, or the definition that its "$ref" names. */
cli_json cli_schema_target(cli_json schema, cli_json node);
/* The definition of the entries of a section ("joints"), or of the section itself ("run"). NULL: no section. */
cli_json cli_schema_section(cli_json schema, const char *section);
/* Type number `index` of a section's entries: its name, to be freed, and its alternative of the schema. NULL: past
   the end. */
char *cli_schema_type(cli_json schema, cli_json section, int index, cli_json *alternative);

#endif
