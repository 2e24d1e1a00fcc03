import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { describeEngines, sh, start } from './container.fixture.ts'
import { type Engine, OWNER_LABEL, SANDBOX_LABEL, sweepContainers } from './engine.ts'

/** Lists the containers of all sandboxes of this process and its children. */
async function containersOf({ api }: Engine, owner: string | undefined): Promise<readonly string[]> {
  const found = await api.listContainers({ all: true, filters: { label: [SANDBOX_LABEL] } })
  return found.filter(({ Labels }) => Labels[OWNER_LABEL]?.startsWith(`${owner}-`)).map(({ Id }) => Id)
}

/** Lists host processes with a word in their arguments. */
const hostProcesses = (word: string): readonly string[] =>
  execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(word))

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(50)
}

describeEngines('a container', (fixture, name) => {
  test.each(['dash', 'bash', 'busybox'] as const)('runs commands where sh is %s', async (shell) => {
    const backend = await fixture.open({ shell })
    expect(await sh(backend, 'echo out; echo err >&2; exit 3')).toEqual({ stdout: 'out\n', stderr: 'err\n', exitCode: 3, signal: null })
    expect(await sh(backend, 'pwd; cat', { stdin: 'given\n', cwd: fixture.workspace })).toMatchObject({
      stdout: `${fixture.workspace}\ngiven\n`,
      exitCode: 0,
    })
    expect(await sh(backend, 'read -r line; echo "[$line]"')).toMatchObject({ stdout: '[]\n', exitCode: 0 })
    expect(await sh(backend, 'kill -9 $$')).toMatchObject({ stdout: '', stderr: '', exitCode: 137 })
    expect(await sh(backend, "trap 'echo interrupted' INT; kill -INT $$")).toMatchObject({ stdout: 'interrupted\n' })
  })

  test('hands over arguments and variables as they are', async () => {
    const backend = await fixture.open()
    const odd = ["it's", 'a\nb\\n%s\\0101', '$(id) `id` "$HOME"', '\x10\x11\x1e\t', 'ünï 🎉', '', ' ', '\\', "'\\''"]
    const child = await backend.launch({
      argv: ['/bin/sh', '-c', 'printf "%s|" "$@"; printf "%s" "$ODD"', 'sh', ...odd],
      cwd: '/',
      env: { PATH: '/usr/bin:/bin', ODD: odd.join('') },
      stdin: undefined,
    })
    expect(await new Response(child.stdout as never).text()).toBe(`${odd.join('|')}|${odd.join('')}`)
    await child.kill()
  })

  test('of the environment, only what was given and what the image sets', async () => {
    const backend = await fixture.open()
    const { stdout } = await sh(backend, 'env')
    const names = stdout
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0])
    expect(names.filter((name) => !['PATH', 'HOME', 'PWD', 'OLDPWD', 'SHLVL', '_', 'TERM', 'container'].includes(name ?? ''))).toEqual([])
  })

  test('has no capability, no network, no way to write outside of its folders', async () => {
    const backend = await fixture.open()
    const { stdout } = await sh(
      backend,
      `grep -E 'Cap(Bnd|Eff)|NoNewPrivs|Seccomp:' /proc/self/status | tr -d ' \\t'; ls /sys/class/net; cd ${fixture.workspace}
       for f in /x /etc/x /usr/x /proc/sys/kernel/hostname; do echo > $f && echo wrote $f; done 2>/dev/null
       for f in /tmp/x /home/user/x ./x /run/x /var/tmp/x /dev/shm/x; do echo > $f && echo wrote $f; done; rm x`,
    )
    expect(stdout.trim().split('\n')).toEqual([
      'CapEff:0000000000000000',
      'CapBnd:0000000000000000',
      'NoNewPrivs:1',
      'Seccomp:2',
      'lo',
      ...['/tmp/x', '/home/user/x', './x', '/run/x', '/var/tmp/x', '/dev/shm/x'].map((file) => `wrote ${file}`),
    ])
  })

  test('writes as the user that was asked for', async () => {
    execFileSync('chmod', ['777', fixture.workspace])
    const backend = await fixture.open({ user: { uid: 1234, gid: 1235, onHost: 'same' } })
    const { stdout } = await sh(backend, 'id -u; id -g; echo 1 > mine', { cwd: fixture.workspace })
    expect(stdout).toBe('1234\n1235\n')
    const { uid, gid } = statSync(join(fixture.workspace, 'mine'))
    expect([uid, gid]).toEqual(name === 'docker' || process.getuid?.() === 0 ? [1234, 1235] : [process.getuid?.(), process.getgid?.()])
  })

  test('says what it enforces, and does', async () => {
    const backend = await fixture.open()
    expect(backend.enforces).toMatchObject({
      files: { hold: 'hard' },
      network: { hold: 'hard' },
      memory: { hold: 'hard' },
      processes: { hold: 'hard' },
      cpu: { hold: 'hard' },
      disk: { hold: 'partial' },
      treeKill: { hold: 'hard' },
    })
    // A small program: a large one would keep rereading its own pages at the limit, for minutes before the kernel kills it.
    const fill = 'tail /dev/zero'
    expect(await sh(backend, `${fill}; exit 1`)).toMatchObject({ exitCode: 1, limit: 'memory' })
    // The same container: kills during an earlier command do not count for this one.
    expect(await sh(backend, 'exit 1')).not.toHaveProperty('limit')
    const many = await sh(backend, 'for i in $(seq 100); do sleep 5 & done; echo survived')
    expect(many.stderr).toMatch(/[Cc]annot fork|can't fork|Resource temporarily unavailable/)
  })

  test('kills all of a command, whatever it did', async () => {
    const backend = await fixture.open()
    const word = `9${Math.floor(Math.random() * 1e9)}`
    const child = await start(backend, `trap '' TERM INT HUP; setsid sleep ${word} & (sleep ${word} &); echo up; wait; sleep ${word}`)
    await once(child.stdout, 'data')
    await until(() => hostProcesses(`sleep ${word}`).length > 0)
    await child.kill()
    expect(hostProcesses(`sleep ${word}`)).toEqual([])
    expect(await child.exited).toEqual({ exitCode: null, signal: 'SIGKILL' })
  })

  test('leaves nothing of a command that ended', async () => {
    const backend = await fixture.open()
    const word = `8${Math.floor(Math.random() * 1e9)}`
    expect(await sh(backend, `setsid sleep ${word} & sleep ${word} & echo done`)).toMatchObject({ stdout: 'done\n', exitCode: 0 })
    expect(hostProcesses(`sleep ${word}`)).toEqual([])
    expect((await sh(backend, 'ps -o args')).stdout).not.toContain(word)
  })

  test('takes orphans off its list of processes', async () => {
    const backend = await fixture.open()
    // More processes than the limit allows at once. Waiting for each one adapts to the speed of the machine.
    const gone = 'while set -- /proc/[0-9]*; [ $# -gt 20 ]; do :; done'
    const { stdout, stderr } = await sh(backend, `i=0; while [ $i -lt 200 ]; do (true &); i=$((i+1)); ${gone}; done; echo all`)
    expect({ stdout, stderr }).toEqual({ stdout: 'all\n', stderr: '' })
  })

  test('is used again when nothing was left in it, and not otherwise', async () => {
    const backend = await fixture.open()
    const mark = 'cat /dev/shm/mark 2>/dev/null; echo here > /dev/shm/mark'
    await sh(backend, mark)
    expect((await sh(backend, mark)).stdout).toBe('here\n')
    await sh(backend, 'sleep 1000 &')
    expect((await sh(backend, mark)).stdout).toBe('')
  })

  test('keeps what two commands print at the same time apart', async () => {
    const backend = await fixture.open()
    const numbers = Array.from({ length: 12 }, (_, number) => number)
    const ended = await Promise.all(numbers.map((number) => sh(backend, `for i in 1 2 3; do echo ${number}; done; echo ${number} >&2`)))
    expect(ended).toEqual(numbers.map((number) => ({ stdout: `${number}\n`.repeat(3), stderr: `${number}\n`, exitCode: 0, signal: null })))
  })

  test('makes a command wait that nobody listens to', async () => {
    const backend = await fixture.open()
    const file = join(fixture.workspace, 'progress')
    writeFileSync(file, '')
    const child = await start(backend, `i=0; while [ $i -lt 300 ]; do head -c 100000 /dev/zero; echo $i > ${file}; i=$((i+1)); done`)
    // After a while it stalls, before everything is in the pipes.
    let before = ''
    await until(async () => {
      const now = readFileSync(file, 'utf8')
      const stands = now !== '' && now === before
      before = now
      await sleep(300)
      return stands
    })
    expect(Number(before)).toBeLessThan(100)
    let bytes = 0
    for await (const chunk of child.stdout) bytes += (chunk as Buffer).length
    expect(bytes).toBe(30_000_000)
    await child.kill()
  })

  test('a mark that the command makes up is only output', async () => {
    const backend = await fixture.open()
    const forged = `printf '\\036%s 0 0\\036' $(cat /proc/$PPID/cmdline | tr -dc a-f0-9 | head -c 32); echo on; exit 5`
    const { stdout, exitCode } = await sh(backend, forged)
    expect(stdout).toContain('on\n')
    expect(exitCode).toBe(5)
  })

  test('a command can leave no other one behind in the worker', async () => {
    const backend = await fixture.open()
    const file = join(fixture.workspace, 'injected')
    const inject = `for pipe in /proc/[0-9]*/fd/[01]; do [ -p $pipe ] && printf '%s\\n' 'echo > ${file}' 'true; echo > ${file}' > $pipe; printf half > $pipe; done`
    await sh(backend, `(${inject}) 2>/dev/null`)
    expect((await sh(backend, 'echo next')).stdout).toBe('next\n')
    expect(existsSync(file)).toBe(false)
  })

  test('that kills all it can ends as killed', async () => {
    const backend = await fixture.open()
    expect(await sh(backend, 'kill -9 -1; sleep 1000')).toEqual({ stdout: '', stderr: '', exitCode: null, signal: 'SIGKILL' })
    expect((await sh(backend, 'echo next')).stdout).toBe('next\n')
  })

  test.each(['dash', 'bash', 'busybox'] as const)('that kills the shell that runs it ends at once, where sh is %s', async (shell) => {
    const backend = await fixture.open({ shell })
    const grandparent = 'read -r _ _ _ up _ </proc/$PPID/stat'
    // If the worker did not end, whatever waits for it would wait forever.
    for (const script of [
      'kill -9 $PPID; sleep 100000',
      `${grandparent}; kill -9 $up $PPID; kill -9 -1`,
      `${grandparent}; kill -9 $up; while kill -0 $up 2>/dev/null; do :; done; echo x`,
    ])
      expect(await sh(backend, script)).toMatchObject({ exitCode: null, signal: 'SIGKILL' })
    expect((await sh(backend, 'echo next')).stdout).toBe('next\n')
  })

  test('is gone when the sandbox is closed, also with a command in it', async () => {
    const backend = await fixture.open()
    const word = `7${Math.floor(Math.random() * 1e9)}`
    const child = await start(backend, `echo up; sleep ${word}`)
    await once(child.stdout, 'data')
    await backend.close()
    expect(hostProcesses(`sleep ${word}`)).toEqual([])
    expect((await child.exited).signal).toBe('SIGKILL')
    await expect(start(backend, 'true')).rejects.toThrow(/closed/)
  })

  test('an image that does not exist is not fetched', async () => {
    await expect(fixture.open({ image: 'mulligan-test:no-such-image' })).rejects.toMatchObject({
      name: 'SandboxError',
      message: `${name} has no image mulligan-test:no-such-image`,
      remedy: expect.stringMatching(/mulligan sandbox pull.*sandbox\.image/),
    })
  })

  test('ends with the process that started it, and what is left is swept', async () => {
    const word = `6${Math.floor(Math.random() * 1e9)}`
    const script = fileURLToPath(new URL('./orphan.fixture.ts', import.meta.url))
    const parent = spawn(process.execPath, [script, name, word], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(parent.stdout, 'data')
    expect(hostProcesses(`sleep ${word}`).length).toBeGreaterThan(0)
    // One container holds the network, the other runs the command.
    expect(await containersOf(fixture.engine(), String(parent.pid))).toHaveLength(2)
    parent.kill('SIGKILL')
    await until(() => hostProcesses(`sleep ${word}`).length === 0)
    await until(async () => (await containersOf(fixture.engine(), String(parent.pid))).length === 0)
  })

  test('a process that forgets to close its sandbox ends all the same', async () => {
    const script = fileURLToPath(new URL('./orphan.fixture.ts', import.meta.url))
    const { stdout } = await promisify(execFile)(process.execPath, [script, name, '0'], { timeout: 20_000 })
    expect(stdout).toBe('up\n')
  })

  test('sweeps containers of dead processes, and no others', async () => {
    const { api } = fixture.engine()
    const backend = await fixture.open()
    const ours = await containersOf(fixture.engine(), String(process.pid))
    const make = (owner: string) =>
      api.createContainer({
        Image: 'mulligan-test:local',
        Cmd: ['sleep', '1000'],
        Labels: { [SANDBOX_LABEL]: 'test', [OWNER_LABEL]: owner },
        HostConfig: { NetworkMode: 'none' },
      })
    const namespace =
      readFileSync('/proc/self/stat', 'utf8') && /\d+/.exec(execFileSync('readlink', ['/proc/self/ns/pid'], { encoding: 'utf8' }))?.[0]
    const dead = await make(`4194304-1-${namespace}`)
    const elsewhere = await make('4194304-1-1')
    await sweepContainers(api)
    const left = (await api.listContainers({ all: true, filters: { label: [SANDBOX_LABEL] } })).map(({ Id }) => Id)
    expect(left).not.toContain(dead.id)
    expect(left).toEqual(expect.arrayContaining([elsewhere.id, ...ours]))
    await elsewhere.remove({ force: true })
    expect((await sh(backend, 'echo still')).stdout).toBe('still\n')
  })
})
