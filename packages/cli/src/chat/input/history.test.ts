import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { openHistory } from './history.ts'

const made: string[] = []
function dataDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'mulligan-history-'))
  made.push(dir)
  return dir
}
afterEach(() => {
  for (const dir of made.splice(0)) rmSync(dir, { recursive: true, force: true })
})

const filesOf = (dir: string): string[] => readdirSync(join(dir, 'history')).map((name) => join(dir, 'history', name))
const fileOf = (dir: string): string => filesOf(dir)[0] as string

describe('what was sent before', () => {
  test('is there for the next process, of this folder only, for the person alone', () => {
    const dir = dataDir()
    const history = openHistory(dir, '/work/a')
    for (const text of ['one', 'two\nlines "quoted"', 'one', ' secret', '\tsecret', '  ', 'three']) history.add(text)
    const entries = ['two\nlines "quoted"', 'one', 'three']
    expect(history.entries()).toEqual(entries)
    expect(openHistory(dir, '/work/a').entries()).toEqual(entries)
    expect(openHistory(dir, '/work/b').entries()).toEqual([])
    expect(readFileSync(fileOf(dir), 'utf8')).not.toContain('secret')
    if (process.platform !== 'win32') {
      expect(statSync(fileOf(dir)).mode & 0o777).toBe(0o600)
      expect(statSync(join(dir, 'history')).mode & 0o777).toBe(0o700)
    }
  })

  test('a broken line is skipped, and takes no other with it', () => {
    const dir = dataDir()
    openHistory(dir, '/work').add('one')
    appendFileSync(fileOf(dir), '{"text":7}\nnull\n\0\n[]\n{"text":"cut o')
    openHistory(dir, '/work').add('two')
    expect(openHistory(dir, '/work').entries()).toEqual(['one', 'two'])
  })

  test('a file that is full becomes the older one; what is too long stays in memory', () => {
    const dir = dataDir()
    const history = openHistory(dir, '/work')
    for (let at = 0; at < 80; at++) history.add(`${at} ${'x'.repeat(30_000)}`)
    history.add('y'.repeat(100_000))
    expect(history.entries()).toHaveLength(81)
    const sizes = filesOf(dir).map((file) => statSync(file).size)
    expect(sizes).toHaveLength(2)
    for (const size of sizes) expect(size).toBeLessThan(1.1 * 1024 * 1024)
    const kept = openHistory(dir, '/work').entries()
    expect(kept.at(-1)).toMatch(/^79 /)
    expect(kept.length).toBeGreaterThan(35)
    for (let at = 0; at < 1100; at++) history.add(`short ${at}`)
    expect(history.entries()).toHaveLength(1000)
  })

  test('where it can not be kept, it is kept in memory', () => {
    const dir = dataDir()
    writeFileSync(join(dir, 'history'), 'no folder')
    const history = openHistory(dir, '/work')
    history.add('one')
    expect(history.entries()).toEqual(['one'])
    const other = dataDir()
    openHistory(other, '/work').add('x')
    const file = fileOf(other)
    rmSync(file)
    mkdirSync(file)
    openHistory(other, '/work').add('one')
    expect(existsSync(file)).toBe(true)
  })

  test('processes that write at the same time lose nothing', async () => {
    const dir = dataDir()
    const code = `import { openHistory } from ${JSON.stringify(new URL('./history.ts', import.meta.url).href)}
      const history = openHistory(${JSON.stringify(dir)}, '/work')
      for (let at = 0; at < 150; at++) history.add(process.argv[1] + ' ' + at + ' é'.repeat(2000))`
    const writers = ['a', 'b', 'c'].map(
      (name) =>
        new Promise<number | null>((resolve) =>
          spawn(process.execPath, ['--input-type=module', '-e', code, name], { stdio: 'ignore' }).on('close', resolve),
        ),
    )
    expect(await Promise.all(writers)).toEqual([0, 0, 0])
    // 450 texts of 6 kB fill the file twice. No line is torn, and none of the newest is missing.
    const files = filesOf(dir)
    expect(files.filter((file) => file.endsWith('.lock'))).toEqual([])
    const lines = files.flatMap((file) => readFileSync(file, 'utf8').trimEnd().split('\n'))
    for (const line of lines) expect(() => JSON.parse(line)).not.toThrow()
    const entries = openHistory(dir, '/work').entries()
    expect(entries.length).toBe(lines.length)
    for (const name of ['a', 'b', 'c']) {
      const own = entries.filter((text) => text.startsWith(name)).map((text) => Number(text.split(' ')[1]))
      expect(own).toEqual(Array.from({ length: own.length }, (_, at) => 150 - own.length + at))
    }
  })
})
