import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Experimental_SandboxSession } from 'ai'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { open } from './run.fixture.ts'
import { toSandboxSession } from './session.ts'

test('it is what the AI SDK asks for', () => {
  expectTypeOf(toSandboxSession).returns.toExtend<Experimental_SandboxSession>()
})

describe('files', async () => {
  const session = async (limits = {}) => {
    const sandbox = await open({ limits })
    return { at: (path: string) => join(sandbox.workspace, path), ...toSandboxSession(sandbox) }
  }

  test('what was written is read, in folders that were not there', async () => {
    const { writeTextFile, readTextFile, at } = await session()
    await writeTextFile({ path: 'a/b/c.txt', content: 'one\ntwo\r\nthree' })
    expect(readFileSync(at('a/b/c.txt'), 'utf8')).toBe('one\ntwo\r\nthree')
    expect(await readTextFile({ path: 'a/b/c.txt' })).toBe('one\ntwo\r\nthree')
    expect(await readTextFile({ path: at('a/b/c.txt'), startLine: 2, endLine: 2 })).toBe('two\r\n')
    expect(await readTextFile({ path: 'a/b/c.txt', startLine: 2, endLine: 99 })).toBe('two\r\nthree')
  })

  test('bytes come back as they were, piece by piece', async () => {
    const { writeFile, readFile, readBinaryFile } = await session({ outputStop: 1000 })
    const bytes = Uint8Array.from({ length: 1777 }, (_, at) => (at * 7) % 256)
    await writeFile({ path: 'x.bin', content: new Blob([bytes]).stream() })
    expect(new Uint8Array((await readBinaryFile({ path: 'x.bin' })) ?? [])).toEqual(bytes)
    const pieces = []
    for await (const piece of (await readFile({ path: 'x.bin' })) ?? []) pieces.push(piece.length)
    expect(pieces).toEqual([500, 500, 500, 277])
  })

  test('an empty file is not a missing one', async () => {
    const { writeBinaryFile, readBinaryFile, readFile, stat } = await session()
    await writeBinaryFile({ path: 'empty', content: new Uint8Array() })
    expect((await readBinaryFile({ path: 'empty' }))?.length).toBe(0)
    expect(await stat({ path: 'empty' })).toEqual({ type: 'file', size: 0 })
    expect(await readFile({ path: 'none' })).toBeNull()
    expect(await stat({ path: 'none' })).toBeNull()
  })

  test('a folder is listed, links as links', async () => {
    const { listDirectory, at, stat } = await session()
    mkdirSync(at('src/.hidden'), { recursive: true })
    writeFileSync(at("src/it's a\nfile"), 'x')
    symlinkSync('nowhere', at('src/link'))
    symlinkSync('.hidden', at('src/to-folder'))
    expect((await listDirectory({ path: 'src' }))?.toSorted((a, b) => a.name.localeCompare(b.name))).toEqual([
      { type: 'directory', name: '.hidden' },
      { type: 'file', name: "it's a\nfile" },
      { type: 'symlink', name: 'link' },
      { type: 'symlink', name: 'to-folder' },
    ])
    expect(await listDirectory({ path: 'src/.hidden' })).toEqual([])
    expect(await listDirectory({ path: 'nowhere' })).toBeNull()
    expect(await stat({ path: 'src/to-folder' })).toMatchObject({ type: 'directory' })
    await expect(listDirectory({ path: "src/it's a\nfile" })).rejects.toThrow('not a directory')
  })

  test('a link is deleted, what it leads to is not', async () => {
    const { deleteFile, at } = await session()
    writeFileSync(at('kept'), 'x')
    symlinkSync('kept', at('link'))
    expect(await deleteFile({ path: 'link' })).toBe(true)
    expect(await deleteFile({ path: 'link' })).toBe(false)
    expect(readFileSync(at('kept'), 'utf8')).toBe('x')
    mkdirSync(at('folder'))
    await expect(deleteFile({ path: 'folder' })).rejects.toThrow('directory')
  })

  test('an aborted call does nothing', async () => {
    const { writeTextFile, stat } = await session()
    await expect(writeTextFile({ path: 'x', content: 'x', abortSignal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough')
    expect(await stat({ path: 'x' })).toBeNull()
  })
})

describe('commands', () => {
  const session = async () => toSandboxSession(await open())

  test('run tells the exit code and both streams', async () => {
    const { run } = await session()
    expect(await run({ command: 'echo out; echo "$X" >&2; exit 3', env: { X: 'err' } })).toEqual({
      exitCode: 3,
      stdout: 'out\n',
      stderr: 'err\n',
    })
  })

  test('spawn streams, waits and kills', async () => {
    const { spawn } = await session()
    const process = await spawn({ command: 'printf "\\377first"; sleep 1000' })
    const { value } = await process.stdout.getReader().read()
    expect([...(value ?? [])].slice(0, 3)).toEqual([255, 102, 105])
    await process.kill()
    await process.kill()
    expect(await process.wait()).toEqual({ exitCode: 137 })
  })

  test('an abort rejects with its reason', async () => {
    const { spawn, run } = await session()
    const controller = new AbortController()
    const process = await spawn({ command: 'sleep 1000', abortSignal: controller.signal })
    controller.abort(new Error('enough'))
    await expect(process.wait()).rejects.toThrow('enough')
    await expect(run({ command: 'true', abortSignal: controller.signal })).rejects.toThrow('enough')
  })

  test('a writable stdin is refused before anything runs', async () => {
    await expect((await session()).spawn({ command: 'true', stdin: true })).rejects.toThrow('stdin')
  })
})
