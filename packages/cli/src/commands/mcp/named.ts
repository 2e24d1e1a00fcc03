/** Headers and variables, as flags name them. */
import { UsageError } from '@mulligan/host/light'

/** `Name: value`. @throws UsageError */
export function headerOf(text: string): readonly [string, string] {
  const [, name, value] = /^([\w-]+):\s*(.*)$/.exec(text) ?? []
  if (name === undefined || value === undefined)
    throw new UsageError(`${JSON.stringify(text)} is not a header`, 'Write it as --header "Name: value".')
  return [name, value]
}

/** `NAME=VALUE`, or `NAME` with its value in the environment. @throws UsageError */
export function variableOf(text: string): readonly [string, string] {
  const at = text.indexOf('=')
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)]
  const value = process.env[text]
  if (value === undefined) throw new UsageError(`the variable ${text} is not set`, `Set it, or write --env ${text}=VALUE.`)
  return [text, value]
}
