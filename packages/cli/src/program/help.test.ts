import { describe, expect, it } from 'vitest'
import { place } from '../../test/cli.fixture.ts'
import { inProcess } from '../../test/in-process.fixture.ts'

const help = async (path: readonly string[]): Promise<string> => {
  using here = place()
  return (await inProcess(here, [...path, '--help'])).stdout
}
const innerOf = (text: string): readonly string[] =>
  [...(text.split('\nCommands:\n')[1]?.split('\n\n')[0] ?? '').matchAll(/^ {2}([\w-]+)/gm)].flatMap(([, name]) =>
    name === 'help' ? [] : [name as string],
  )

async function paths(path: readonly string[] = []): Promise<readonly (readonly string[])[]> {
  const inner = await Promise.all(innerOf(await help(path)).map((name) => paths([...path, name])))
  return [...(path.length === 0 ? [] : [path]), ...inner.flat()]
}

describe('the help of each command', async () => {
  const all = await paths()

  it.each(all.map((path) => [path.join(' '), path] as const))('%s has examples, with flags that there are', async (_, path) => {
    const text = await help(path)
    const [, examples = ''] = text.split(/\n(?:Examples|Setup):\n/)
    expect(examples).toContain('mulligan ')
    const own = examples
      .split('\n')
      .map((line) => line.trim().split(/\s+/).slice(1))
      .filter((words) => path.every((name, at) => words[at] === name))
    const flags = own
      .flatMap((words) => words.slice(0, words.includes('--') ? words.indexOf('--') : undefined))
      .filter((word) => /^--\w/.test(word))
    expect(flags.filter((flag) => innerOf(text).length === 0 && !text.includes(`${flag} `) && !text.includes(`${flag}\n`))).toEqual([])
  })
})

it.each([
  [['help']],
  [['help', 'config']],
  [['help', 'tools', 'call']],
  [['tools', 'help', 'call']],
])('%j is the help, asked for', async (argv) => {
  using here = place()
  const asked = argv.filter((word) => word !== 'help')
  expect(await inProcess(here, argv)).toMatchObject({ code: 0, stdout: await help(asked) })
})
