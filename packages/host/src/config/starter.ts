/** The file that `mulligan config init` creates. */
import { SCHEMA_URL } from './schema-url.ts'

export const STARTER = `{
  // Editors know the keys by this.
  "$schema": "${SCHEMA_URL}",

  // Take away the // of what you want. mulligan config explain lists all keys.

  // "model": "ollama/NAME",
  // "baseUrl": "http://localhost:8080/v1",
  // "agent": "plan",

  // How much runs unasked: read-only, ask, auto-edit, auto.
  // "mode": "ask",

  // "tools": { "off": ["web_search"] },
  // "limits": { "requests": 20, "seconds": 600 },

  // What checks a file after a change.
  // "diagnostics": [{ "include": "*.ts", "command": ["tsc", "--noEmit"] }],

  // "policy": [{ "tool": "bash", "target": "npm test *", "decision": "allow" }],
}
`
