/** The names of the built-in tools, in a module that is loaded only when tool names are completed. */
import { builtInTools, readSettings } from '@mulligan/host/parts'
import { createWorkspace } from '@mulligan/tools'

export const toolNames = (cwd: string): readonly string[] =>
  builtInTools(createWorkspace(cwd), { settings: readSettings(cwd, {}, {}), env: {} }).tools.map(({ name }) => name)
