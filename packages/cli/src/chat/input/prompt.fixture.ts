/** Shows only the input on a screen, with the current folder and a line for each effect. Run by prompt.test.ts. */
import { Box, render, Static, Text } from 'ink'
import { createElement, useState } from 'react'

const built = (name: string): string => new URL(`../../../dist/chat/input/${name}`, import.meta.url).href
const { Prompt } = (await import(built('prompt.js'))) as typeof import('./prompt.tsx')
const { createCompleter } = (await import(built('completion.js'))) as typeof import('./completion.ts')
const { openHistory } = (await import(built('history.js'))) as typeof import('./history.ts')
const { workspaceFiles } = (await import(built('files.js'))) as typeof import('./files.ts')

const cwd = process.cwd()
const history = openHistory(process.env['DATA'] ?? cwd, cwd)
const complete = createCompleter({
  commands: [
    { name: 'help', description: 'what can be done' },
    { name: 'model', description: 'which model answers', values: () => [{ value: 'ollama/qwen3' }, { value: 'openai/gpt' }] },
    { name: 'mode', description: 'how much is asked', takesText: true },
  ],
  files: workspaceFiles(cwd),
})

function Demo() {
  const [said, setSaid] = useState<readonly string[]>([])
  const [above, setAbove] = useState('')
  const say = (line: string): void => setSaid((before) => [...before, line])
  const list = { items: [...said], children: (line: string, at: number) => createElement(Text, { key: at }, line) }
  return createElement(
    Box,
    { flexDirection: 'column' },
    createElement(Static<string>, list),
    above !== '' && createElement(Text, null, above),
    createElement(Prompt, {
      ...{ isActive: true, placeholder: 'What should be done?', history, complete },
      onSubmit: (text) => say(text.length > 200 ? `sent ${text.length} characters` : `sent ${JSON.stringify(text)}`),
      onInterrupt: () => say('interrupt'),
      onExit: () => process.exit(0),
      onClear: () => setAbove((before) => `${before}above\n`),
    }),
  )
}

render(createElement(Demo), { exitOnCtrlC: false, interactive: true, kittyKeyboard: { mode: 'auto' } })
