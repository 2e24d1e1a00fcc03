/** The environment of a server that is run for someone else. */

/** Variables that programs need to run. Others may be secrets, and are passed on only by name. */
const PASSED =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|TMPDIR|TEMP|TMP|TZ|LANG|LC_\w+|XDG_\w+|SystemRoot|SystemDrive|ComSpec|PATHEXT|APPDATA|LOCALAPPDATA|USERPROFILE|ProgramFiles|NODE_EXTRA_CA_CERTS)$/i

/** @param named variables that the person names */
export const serverEnv = (env: NodeJS.ProcessEnv, named: Readonly<Record<string, string>>): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (PASSED.test(name) && value !== undefined ? [[name, value]] : []))),
  ...named,
})
