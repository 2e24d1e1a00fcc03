/** The pages are held against the product: every example is run, every command and flag looked up, every link followed. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { unknownFlags } from './help.fixture.ts'
import { type Block, blocksOf, commandsOf, expectedOutput, fileOf, linksOf, missingLine, PAGES, pageText } from './page.fixture.ts'
import { place, ROOT, run, runShell } from './run.fixture.ts'
import { BASE_URL, SCRIPTS } from './scripts.fixture.ts'

const blocks = PAGES.flatMap((page) => blocksOf(page, pageText(page)))
const modules = blocks.filter(({ lang }) => lang === 'ts' || lang === 'js')
const at = (block: Block): readonly [string, Block] => [block.at, block]

/** The files that a page shows, for its examples to import and its commands to find. */
const filesOf = ({ at: where }: Block, of: readonly Block[]): Record<string, string> =>
  Object.fromEntries(
    of.flatMap((block) => {
      const file = fileOf(block)
      return file !== undefined && block.at.split(':')[0] === where.split(':')[0] ? [[file, block.text]] : []
    }),
  )

/** What is wrong with an example, or undefined. */
async function faultOf(block: Block, of: readonly Block[] = blocks): Promise<string | undefined> {
  using here = place(filesOf(block, of))
  const file = fileOf(block) ?? 'example.mts'
  here.write(file, block.text)
  const { code, stdout, stderr } = await run(process.execPath, [file], here.dir)
  if (code !== 0) return `exit ${code}: ${stderr}`
  const expected = expectedOutput(block.text) ?? ''
  return stdout.trimEnd() === expected.trimEnd() ? undefined : `it prints\n${stdout}\nand not\n${expected}`
}

/** Runs the commands of a block, with a scripted model behind them where one is named. */
async function commandFault(block: Block, next: Block | undefined): Promise<string | undefined> {
  const wanted = Number(block.words.find((word) => /^\d+$/.test(word)) ?? 0)
  const script = SCRIPTS[block.words.find((word) => word.startsWith('script='))?.slice('script='.length) ?? '']
  using here = place(script ? script.files : filesOf(block, blocks))
  await using model = await scriptedModel(script?.turns)
  const { code, stdout } = await runShell(block.text.replaceAll(BASE_URL, model.url), here.dir)
  if (code !== wanted) return `exit ${code}, not ${wanted}:\n${stdout}`
  if (script) model.assertDone()
  const missing = next?.lang === 'text' && next.follows ? missingLine(next.text, stdout) : undefined
  return missing === undefined ? undefined : `this line did not come: ${missing}\nThe output was\n${stdout}`
}

describe.concurrent('examples', () => {
  it.each(modules.map(at))('%s runs and prints what it says', async (_, block) => {
    expect(await faultOf(block)).toBeUndefined()
  })

  it('all of them have the types they should', async () => {
    expect(await typeErrors(modules)).toBe('')
    expect(await typeErrors([control(`import { ok } from '@mulligan/core'\nok(1).data.length`)])).toContain('TS2339')
  })

  it.each([
    ['prints something else', 'console.log(1 + 1) // → 3', /it prints\n2\n\nand not\n3/],
    ['throws', `throw new Error('no')`, /exit 1/],
    ['prints what is not shown', `console.log('x')`, /it prints/],
    ['says what is not printed', `// → x`, /and not\nx/],
    ['imports what does not exist', `import { nothing } from '@mulligan/core'\nconsole.log(nothing)`, /exit 1/],
  ])('an example that %s is noticed', async (_, code, says) => {
    expect(await faultOf(control(code), [])).toMatch(says)
  })
})

/** An example that is wrong on purpose. */
const control = (code: string): Block => ({ at: 'control.md:1', lang: 'ts', words: [], text: code, follows: false })

/** What the compiler says of the examples, each page a folder of its own. */
async function typeErrors(examples: readonly Block[]): Promise<string> {
  using here = place()
  for (const [index, block] of examples.entries()) {
    const page = (block.at.split(':')[0] as string).replace(/\W/g, '-')
    here.write(`${page}/${fileOf(block) ?? `example-${index}.mts`}`, `${block.text}\nexport {}\n`)
  }
  const options = { noEmit: true, lib: ['ESNext'] }
  const config = { extends: join(ROOT, 'tsconfig.base.json'), compilerOptions: options, include: ['**/*', '**/.mulligan/**/*'] }
  here.write('tsconfig.json', JSON.stringify(config))
  const { stdout, stderr } = await run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', here.dir], here.dir)
  return stdout + stderr
}

describe.concurrent('commands', () => {
  const shell = blocks.filter(({ lang }) => lang === 'sh')
  const runnable = shell.filter(({ words }) => words.includes('run'))

  it.each(runnable.map(at))('%s ends as it says', async (_, block) => {
    expect(await commandFault(block, blocks[blocks.indexOf(block) + 1])).toBeUndefined()
  })

  it.each(blocks.filter(({ words }) => words[0] === 'output-of').map(at))('%s is what the command prints', async (_, block) => {
    using here = place()
    const { stdout } = await runShell(block.words.slice(1).join(' '), here.dir)
    expect(missingLine(block.text, stdout)).toBeUndefined()
  })

  it.each(shell.map(at))('%s has only commands and flags that there are', async (_, block) => {
    const unknown = await Promise.all(commandsOf(block.text).map(unknownFlags))
    expect(unknown.flat()).toEqual([])
  })

  it('a flag or command that there is not is noticed', async () => {
    const lines = 'npx mulligan "do it" --modle x\nmulligan tools lst\ncat x | mulligan tools list --json --yes\nmulligan dmeo'
    expect((await Promise.all(commandsOf(lines).map(unknownFlags))).flat()).toEqual([
      '--modle',
      'tools lst (no command)',
      '--yes',
      'dmeo (no command)',
    ])
    expect(missingLine('a\n…\nc 4 ms\nlang…', 'a\nb\nc 7 ms\nlonger')).toBeDefined()
    expect(missingLine('a\n…\nc 4 ms\nlong…', 'a\nb\nc 7 ms\nlonger')).toBeUndefined()
    expect(missingLine('a', 'a\nb')).toBeDefined()
  })
})

describe('every page', () => {
  it.each(PAGES)('%s links only to files that there are', (page) => {
    const missing = linksOf(pageText(page)).filter((link) => !existsSync(join(ROOT, dirname(page), link.split('#')[0] as string)))
    expect(missing).toEqual([])
  })
})
