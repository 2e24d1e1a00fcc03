/** The file that `mulligan config init` creates. */

/** @param schema the URL of the schema on this machine; absent in a project's file, which is shared with other machines */
export const starter = (schema?: string): string => `{
${schema === undefined ? '' : `  // Lets editors complete and check the keys.\n  "$schema": ${JSON.stringify(schema)},\n\n`}  // Uncomment the settings you want. mulligan config explain lists all keys.

  // "model": "ollama/NAME",
  // "baseUrl": "http://localhost:8080/v1",
  // "agent": "plan",

  // What runs without asking: read-only, ask, auto-edit or auto.
  // "mode": "ask",

  // "tools": { "off": ["web_search"] },
  // "limits": { "requests": 20, "seconds": 600 },

  // Commands that check a file after a change.
  // "diagnostics": [{ "include": "*.ts", "command": ["tsc", "--noEmit"] }],

  // "policy": [{ "tool": "bash", "target": "npm test *", "decision": "allow" }],
}
`
