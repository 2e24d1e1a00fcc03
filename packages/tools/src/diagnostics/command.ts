/** Where `{file}` may stand in the command of a check. The name of a file is the model's to choose. Pure. */
import { basename } from 'node:path'

export const FILE = '{file}'

/** Programs that take code as an argument. */
const INTERPRETER = /^(?:(?:ba|da|z|k|mk|a|c|tc|fi|pw)?sh|cmd|powershell|node|deno|bun|python[\d.]*|perl|ruby|php)(?:\.exe)?$/i
const CODE = /^(?:-\w*[ce]|-p|-pe|-r|--eval|--print|--command|-command|\/c|\/k|eval)$/i
/** They read all that follows as code. */
const TAKES_ALL = /^(?:cmd|powershell|pwsh)(?:\.exe)?$/i

/** @returns what is wrong with a command, or undefined */
export function commandFault(command: readonly string[]): string | undefined {
  const interpreter = command.findIndex((word) => INTERPRETER.test(basename(word)))
  const code = interpreter === -1 ? -1 : command.findIndex((word, at) => at > interpreter && CODE.test(word))
  for (const [at, word] of command.entries()) {
    if (!word.includes(FILE)) continue
    const name = JSON.stringify(word)
    if (word.indexOf(FILE) !== word.length - FILE.length)
      return `${name}: ${FILE} must be a word of its own, or the end of one (--file=${FILE}), or the name of a file could be read as something else`
    if (code === -1) continue
    if (word !== FILE || at === code + 1 || TAKES_ALL.test(basename(command[interpreter] ?? '')))
      return `${name}: ${FILE} must not be in code that ${basename(command[interpreter] ?? '')} runs, or the name of a file could be run; give it as a word after the code ("sh", "-c", "lint \\"$1\\"", "sh", "${FILE}")`
  }
  return undefined
}
