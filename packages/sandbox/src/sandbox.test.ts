import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statfsSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CommandError, CommandRefused, type Completed, SandboxError } from './command.ts'
import { completed, open, temporary, until } from './run.fixture.ts'
import { createSandbox, probeBackends } from './sandbox.ts'

const MB = 1024 * 1024
const hasBubblewrap = process.env['CI'] !== undefined || spawnSync('bwrap', ['--version']).status === 0
const BACKENDS = hasBubblewrap ? (['none', 'bubblewrap'] as const) : (['none'] as const)

/** Lists the machine's processes with the mark in their command line. */
const running = (mark: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(mark)
      } catch {
        return false
      }
    })
    .map(Number)

let marks = 100_000 + (process.pid % 10_000) * 10
/** A number of seconds that no other process on this machine sleeps. */
const mark = (): string => `${marks++}.${process.pid}`

describe.each(BACKENDS)('%s', (backend) => {
  const sandbox = (options = {}) => open({ backend, ...options })

  test('a workspace that a command has closed is named', async () => {
    if (backend === 'none' && process.getuid?.() === 0) return
    const one = await sandbox()
    await completed(one, { script: 'chmod 0 .' })
    await expect(one.run({ script: 'true' })).rejects.toThrow(/is no longer accessible.*mode 000/)
    chmodSync(one.workspace, 0o700)
    expect((await one.run({ script: 'true' })).exitCode).toBe(0)
  })

  test('what is left in /tmp too deep to be named takes no result along', async () => {
    const one = await sandbox()
    const script = 'cd "$TMPDIR"; n=$(printf %0200d 0); for i in $(seq 40); do mkdir $n && cd -P $n 2>/dev/null; done; echo done'
    const { stdout } = await completed(one, { script })
    await one.close()
    expect(stdout).toBe('done\n')
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith(`mulligan-sandbox-${process.pid}-`))).toEqual([])
  })

  test('a command that exits with 0', async () => {
    const one = await sandbox()
    expect(await one.run({ script: 'echo out; echo err >&2; pwd' })).toMatchObject({
      ...{ exitCode: 0, signal: null, reason: 'exit', stdout: `out\n${one.workspace}\n`, stderr: 'err\n', droppedBytes: 0, backend },
    })
  })

  test('any other end is an error that tells it', async () => {
    const error = await (await sandbox()).run({ script: 'echo out; exit 3' }).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(CommandError)
    expect(error).toMatchObject({ message: 'the command exited with 3', completed: { exitCode: 3, reason: 'exit', stdout: 'out\n' } })
  })

  test('who counts the cores finds as many as there are', async () => {
    expect((await (await sandbox({ limits: { cpus: 1 } })).run({ script: 'nproc' })).stdout).toBe('1\n')
    expect(
      (
        await (
          await sandbox({ hostEnv: { ...process.env, OMP_NUM_THREADS: '3' }, env: ['OMP_NUM_THREADS'] })
        ).run({ script: 'echo $OMP_NUM_THREADS' })
      ).stdout,
    ).toBe('3\n')
  })

  test('arguments arrive as they are, and a program that does not exist ends with 127', async () => {
    const one = await sandbox()
    const argv = ['printf', '%s|', 'a b', '$HOME', '\'"', '', '*', '-n', 'é\n']
    expect((await one.run({ argv })).stdout).toBe('a b|$HOME|\'"||*|-n|é\n|')
    expect(await completed(one, { argv: ['no-such-program'] })).toMatchObject({ exitCode: 127, reason: 'exit' })
  })

  test('stdin is what was given, or closed', async () => {
    const one = await sandbox()
    expect((await one.run({ script: 'cat /dev/stdin', stdin: 'höllo' })).stdout).toBe('höllo')
    expect((await one.run({ script: 'cat; echo end' })).stdout).toBe('end\n')
    expect(await one.run({ script: 'exec <&-; true', stdin: 'x'.repeat(MB) })).toMatchObject({ exitCode: 0 })
  })

  test('both streams can be opened by name, as a terminal and a pipe can', async () => {
    const one = await sandbox()
    expect(await one.run({ script: 'echo a >/dev/stdout; echo b >/dev/stderr; echo c | tee /dev/stderr' })).toMatchObject({
      ...{ stdout: 'a\nc\n', stderr: 'b\nc\n' },
    })
  })

  test("no shell reads the person's own settings first", async () => {
    const one = await sandbox({ hostEnv: { ...process.env, BASH_ENV: '/etc/profile', ENV: '/etc/profile' } })
    await one.run({ script: 'echo "echo settings" > .bashrc' })
    const home = { HOME: one.workspace }
    expect((await one.run({ script: 'cat', stdin: 'x', env: home })).stdout).toBe('x')
    expect((await one.run({ script: 'echo "[$BASH_ENV]"', env: home })).stdout).toBe('[]\n')
  })

  test('the working directory is a folder that is shown', async () => {
    const one = await sandbox()
    mkdirSync(join(one.workspace, 'src/deep'), { recursive: true })
    writeFileSync(join(one.workspace, 'file'), '')
    symlinkSync('src/deep', join(one.workspace, 'link'))
    const pwd = async (cwd: string) => (await one.run({ script: 'pwd -P', cwd })).stdout.trim()
    expect(await pwd('src')).toBe(join(one.workspace, 'src'))
    expect(await pwd(join(one.workspace, 'src/deep/..'))).toBe(join(one.workspace, 'src'))
    expect(await pwd('link')).toBe(join(one.workspace, 'src/deep'))
    for (const [cwd, says] of [
      ['nowhere', 'does not exist'],
      ['file', 'is not a folder'],
      ['a\0b', 'NUL'],
    ] as const)
      await expect(one.run({ script: 'pwd', cwd })).rejects.toThrow(says)
  })

  test.each([
    [{ script: '' }, 'command', 'the script is empty'],
    [{ script: 'echo a\0b' }, 'command', 'NUL character at position 6'],
    [{ argv: [] }, 'command', 'name of the program is empty'],
    [{ argv: ['echo', 'a\0'] }, 'command', 'NUL'],
    [{ script: 'true', argv: ['true'] } as never, 'command', 'either a script or a program'],
    [{ script: 'true', timeout: 0 }, 'timeout', 'at most 600 seconds'],
    [{ script: 'true', timeout: 601 }, 'timeout', 'the timeout is 601'],
    [{ script: 'true', timeout: Number.NaN }, 'timeout', 'NaN'],
    [{ script: 'true', env: { 'A-B': 'x' } }, 'env', '"A-B" is not a name'],
    [{ script: 'true', env: { 'BASH_FUNC_ls%%': '() { :; }' } }, 'env', 'is not a name'],
    [{ script: 'true', env: { A: 'a\0b' } }, 'env', 'NUL'],
  ] as const)('%j is refused, and nothing runs', async (command, parameter, message) => {
    const error = await (await sandbox()).run(command).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(CommandRefused)
    expect(error).toMatchObject({ parameter, message: expect.stringContaining(message) })
  })

  test('a script of a megabyte runs', async () => {
    const one = await sandbox()
    const { stdout } = await one.run({ script: `# ${'x'.repeat(MB)}\necho ran` })
    expect(stdout).toBe('ran\n')
    expect((await one.run({ script: 'ls "$TMPDIR"' })).stdout).not.toContain('script')
  })

  describe('ends', () => {
    test('a timeout, with what was printed until then', async () => {
      const seconds = mark()
      const one = await sandbox()
      expect(await completed(one, { script: `echo before; sleep ${seconds}`, timeout: 3 })).toMatchObject({
        ...{ reason: 'timeout', exitCode: null, signal: 'SIGKILL', stdout: 'before\n' },
      })
      expect(running(seconds)).toEqual([])
    })

    test('an abort kills who ignores signals, and who hid in a session of their own', async () => {
      const seconds = mark()
      const one = await sandbox()
      const controller = new AbortController()
      const script = `trap '' TERM INT HUP; (setsid sleep ${seconds} &); (setsid setsid sleep ${seconds} >/dev/null 2>&1 &); echo up; sleep ${seconds}`
      const ended = completed(one, {
        script,
        signal: controller.signal,
        onOutput: () => void until(() => running(seconds).length >= 3).then(() => controller.abort()),
      })
      expect(await ended).toMatchObject({ reason: 'aborted', exitCode: null })
      expect(running(seconds)).toEqual([])
    })

    test('one that was aborted before it began never runs', async () => {
      const one = await sandbox()
      expect(await completed(one, { script: 'touch ran', signal: AbortSignal.abort() })).toMatchObject({
        reason: 'aborted',
        exitCode: null,
        signal: null,
      })
      expect(existsSync(join(one.workspace, 'ran'))).toBe(false)
    })

    test('what is left in the background is ended, though it holds the pipes', async () => {
      const seconds = mark()
      const one = await sandbox()
      const { stdout } = await one.run({ script: `sleep ${seconds} & setsid sleep ${seconds} & echo done` })
      expect(stdout).toBe('done\n')
      expect(running(seconds)).toEqual([])
    })

    test('too much output ends it, in flat memory', async () => {
      const one = await sandbox({ limits: { output: 1000, outputStop: 300_000 } })
      const result = await completed(one, { script: 'yes' })
      expect(result).toMatchObject({ reason: 'output', exitCode: null })
      expect(result.stdout).toMatch(/^(?:y\n){250}\n\[… \d+ bytes left out …\]\n(?:y\n){250}$/)
      expect(result.droppedBytes).toBeGreaterThan(299_000)
    })

    test('200 MB of it are counted and dropped, in flat memory, while other work continues', async () => {
      const one = await sandbox()
      const held = () => process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers
      const before = held()
      let [peak, turns] = [0, 0]
      const timer = setInterval(() => {
        turns++
        peak = Math.max(peak, held() - before)
      }, 1)
      const { reason, exitCode, stdout, droppedBytes } = await completed(one, {
        script: "echo first; head -c 200000000 /dev/zero | tr '\\0' x; echo; echo last; exit 7",
      })
      clearInterval(timer)
      expect({ reason, exitCode, droppedBytes }).toEqual({ reason: 'exit', exitCode: 7, droppedBytes: 200_000_012 - 200_000 })
      expect(stdout).toMatch(/^first\nx+\n\[… 199800012 bytes left out …\]\nx+\nlast\n$/)
      expect(turns).toBeGreaterThan(1)
      expect(peak).toBeLessThan(100 * MB)
    })

    test('so does one line without an end, of whole characters', async () => {
      const one = await sandbox({ limits: { output: 1001, outputStop: 300_000 } })
      const heard: string[] = []
      const result = await completed(one, { script: "while :; do printf 'aé€𝄞'; done", onOutput: (text) => heard.push(text) })
      expect(result.reason).toBe('output')
      expect(result.stdout + heard.join('')).not.toContain('\uFFFD')
      expect('aé€𝄞'.repeat(100_000).startsWith(heard.join(''))).toBe(true)
    })

    test('a listener that throws does not take the command with it', async () => {
      const one = await sandbox()
      const script = 'echo a; sleep 0.1; echo b'
      let calls = 0
      const listener = () => {
        calls++
        throw new Error('mine')
      }
      expect((await one.run({ script, onOutput: listener })).stdout).toBe('a\nb\n')
      expect(calls).toBe(1)
    })
  })

  describe('limits', () => {
    test('memory of one process', async () => {
      const one = await sandbox({ limits: { memory: 96 * MB } })
      const script = 'node -e "const all = []; for (;;) all.push(Buffer.alloc(8e6, 1))"'
      expect(await completed(one, { script })).toMatchObject({ reason: 'memory', exitCode: null })
      // Control: it succeeds with a higher limit.
      expect(await completed(await sandbox({ limits: { memory: 512 * MB } }), { script: 'node -e "Buffer.alloc(8e7, 1)"' })).toMatchObject({
        exitCode: 0,
      })
    })

    test('memory of many together', async () => {
      const one = await sandbox({ limits: { memory: 200 * MB } })
      const hog = 'node -e "globalThis.kept = Buffer.alloc(6e7, 1); setTimeout(() => {}, 60_000)" &\n'
      const script = `${hog.repeat(6)}wait -n`
      expect(await completed(one, { script })).toMatchObject({ reason: 'memory' })
    })

    test.runIf(process.getuid?.() === 0)('processes', async () => {
      const one = await sandbox({ limits: { processes: 30 } })
      const bomb = 'for i in $(seq 100); do sleep 100 & done'
      expect((await completed(one, { argv: ['/bin/sh', '-c', bomb] })).stderr).toContain('fork')
      // Control: it succeeds with a higher limit.
      const wide = await sandbox({ limits: { processes: 300 } })
      expect(await completed(wide, { argv: ['/bin/sh', '-c', bomb] })).toMatchObject({ stderr: '', exitCode: 0 })
    })

    test('a disk that fills up', async () => {
      const one = await sandbox({ limits: { disk: 32 * MB } })
      const { bavail, bsize } = statfsSync(one.workspace)
      expect(bavail * bsize).toBeGreaterThan(400 * MB)
      const script = 'for i in $(seq 300); do head -c 4000000 /dev/zero > "part-$i"; sync "part-$i"; sleep 0.05; done'
      expect(await completed(one, { script })).toMatchObject({ reason: 'disk', exitCode: null })
      expect(readdirSync(one.workspace).length).toBeLessThan(300)
    })

    test('two hundred at once', async () => {
      const one = await sandbox()
      const all = await Promise.all(Array.from({ length: 200 }, (_, at) => one.run({ script: `echo ${at}; echo e${at} >&2` })))
      expect(all.map(({ stdout }) => stdout)).toEqual(all.map((_, at) => `${at}\n`))
      expect(all.map(({ stderr }) => stderr)).toEqual(all.map((_, at) => `e${at}\n`))
    })
  })

  describe('in the background', () => {
    test('output can be read while it runs, until it is killed', async () => {
      const seconds = mark()
      const one = await sandbox()
      const process = await one.start({ script: `echo up; sleep ${seconds}` })
      await until(() => process.output().stdout === 'up\n')
      await process.kill()
      expect(await process.ended).toMatchObject({ reason: 'aborted', stdout: 'up\n' } satisfies Partial<Completed>)
      expect(running(seconds)).toEqual([])
    })

    test('closing ends all of them, and removes the folders', async () => {
      const seconds = mark()
      const one = await sandbox()
      const ended = Promise.all([one.start({ script: `sleep ${seconds}` }), one.start({ script: `sleep ${seconds}` })])
      const [first] = await ended
      const before = ours()
      await one.close()
      expect(await first?.ended).toMatchObject({ reason: 'aborted' })
      expect(running(seconds)).toEqual([])
      expect(before.length - ours().length).toBe(1)
      await expect(one.run({ script: 'true' })).rejects.toThrow(SandboxError)
      await one.close()
    })

    test('one that begins while it is closed does not stay', async () => {
      const seconds = mark()
      const one = await sandbox()
      const late = one.start({ script: `sleep ${seconds}` })
      await one.close()
      expect(await (await late).ended).toMatchObject({ reason: 'aborted' })
      expect(running(seconds)).toEqual([])
    })
  })
})

/** Lists the folders of this process's sandboxes. */
const ours = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith(`mulligan-sandbox-${process.pid}-`))

describe('a sandbox that can not be', () => {
  test.each([
    [{ workspace: 'relative' }, 'is not an absolute path'],
    [{ workspace: '/nowhere/at/all' }, 'does not exist'],
    [{ workspace: '/etc/hostname' }, 'is not a folder'],
    [{ backend: 'chroot' as never }, 'there is no sandbox.backend "chroot"; there are auto, bubblewrap'],
    [{ limits: { memory: 1 } }, 'the limit memory is 1'],
  ])('%j', async (options, message) => {
    await expect(createSandbox({ workspace: temporary(), backend: 'none', ...options })).rejects.toThrow(message)
  })
})

test('a probe tells of each backend what it enforces, or why it does not exist, and leaves nothing', async () => {
  const probes = await probeBackends({ workspace: temporary() })
  expect(probes.at(-1)).toMatchObject({ name: 'none', ok: true, enforces: { files: { hold: 'none' } } })
  for (const { ok, enforces, reason } of probes) expect(ok ? enforces : reason).toBeTruthy()
  if (hasBubblewrap) expect(probes.find(({ name }) => name === 'bubblewrap')).toMatchObject({ ok: true })
  expect(ours()).toEqual([])
})

test('a configured backend is probed even if auto would not try it', async () => {
  const backend = process.platform === 'darwin' ? 'bubblewrap' : 'seatbelt'
  const probes = await probeBackends({ workspace: temporary(), backend })
  expect(probes.filter(({ name }) => name === backend)).toEqual([expect.objectContaining({ ok: false, reason: expect.any(String) })])
})
