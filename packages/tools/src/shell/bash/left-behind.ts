/** What a command put in the background ends with it. Pure. */
import { type SimpleCommand, started } from '../common/simple-commands.ts'

/** They end it, or wait for it. */
const SEES_TO = /^(?:wait|fg|kill|pkill|killall|trap)$/
const MAX_NAME = 60

/** @returns a sentence for the model; undefined where nothing was left behind */
export function leftBehind(commands: readonly SimpleCommand[]): string | undefined {
  const last = commands.findLastIndex(({ background }) => background === true)
  const command = commands[last]
  if (!command || commands.some(({ name }) => SEES_TO.test(name))) return undefined
  const text = started(command)
    .words.map(({ value }) => value)
    .join(' ')
  const named = text === '' ? 'What was' : `"${text.length > MAX_NAME ? `${text.slice(0, MAX_NAME)}…` : text}" was`
  return `${named} put in the background with &; it does not outlive the command, and was stopped if it still ran. To keep it running, start it alone with background: true.`
}
