/** Where the JSON Schema of a configuration file is published. `$schema` of a file names it. */
export const SCHEMA_URL = 'https://unpkg.com/mulligan/mulligan.schema.json'
