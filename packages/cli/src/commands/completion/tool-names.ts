/** The names of the built-in tools: loaded only where a tool is to be named. */
import { builtInTools, readSettings } from '@mulligan/host/parts'
import { createWorkspace } from '@mulligan/tools'

export const toolNames = (cwd: string): readonly string[] =>
  builtInTools(createWorkspace(cwd), { settings: readSettings(cwd, {}, {}), env: {} }).tools.map(({ name }) => name)
