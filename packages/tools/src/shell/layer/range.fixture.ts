/**
 * Test ranges that run scripts for real in `bash` on layers, as a turn does in each mode, and report what they changed or reached: in the
 * workspace, in the home folder, next to the workspace, in the machine's `/tmp`, and at listeners on the loopback.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createExecutor, type Mode, modePolicy } from '@mulligan/core/executor'
import { createSandbox, type SandboxOptions } from '@mulligan/sandbox'
import { createWorkspace } from '../../create-workspace.ts'
import { put } from '../../workspace.fixture.ts'
import { shellPolicy } from '../command-policy/command-policy.ts'
import type { Canaries } from '../command-policy/fuzz.fixture.ts'
import { digest, runPlain } from '../command-policy/range.fixture.ts'
import { shellTools } from '../index.ts'
import { listen } from './listeners.fixture.ts'

/** How scripts are run. `keeps`: changes are kept immediately, as with `--yes` and "accept edits". */
export interface Way {
  readonly name: string
  readonly mode: Mode
  readonly keeps: boolean
  /** False simulates a machine without overlays, where the workspace is read-only. */
  readonly overlays: boolean
}

export const WAYS: readonly Way[] = [
  { name: 'ask, before the decision', mode: 'ask', keeps: false, overlays: true },
  { name: 'read-only', mode: 'read-only', keeps: false, overlays: true },
  { name: 'auto-edit that keeps', mode: 'auto-edit', keeps: true, overlays: true },
  { name: 'auto that keeps', mode: 'auto', keeps: true, overlays: true },
  { name: 'ask, the workspace read-only', mode: 'ask', keeps: false, overlays: false },
]

export interface Ran {
  /** `asked`: needed approval beforehand, so it was not run. `refused`: it cannot be run as written. */
  readonly end: 'ran' | 'asked' | 'refused'
  /** Changes that needed approval afterwards and were not kept. */
  readonly held?: string
  /** Paths that were kept without approval. */
  readonly kept?: readonly string[]
  /** What it changed or reached although it must not. */
  readonly effects: readonly string[]
}

export interface LayeredRange extends AsyncDisposable {
  readonly canaries: Canaries
  readonly workspace: string
  readonly home: string
  /**
   * Runs a script.
   * @param timeout in seconds
   */
  readonly run: (script: string, timeout?: number) => Promise<Ran>
  /**
   * Control: runs a script with the layer off, as if a person had allowed it.
   * @returns its effects
   */
  readonly runDirect: (script: string) => Promise<readonly string[]>
  /** Commands that test the sandbox's isolation itself. Never run them without a sandbox. */
  readonly escapes: readonly string[]
  /**
   * Control: runs a script without a sandbox. Only for scripts that harm nothing but the range.
   * @returns its effects
   */
  readonly runUnguarded: (script: string) => Promise<readonly string[]>
}

const FILES = {
  'a.txt': 'one\ntwo\n',
  'b.txt': 'one\nthree\n',
  'src/c.txt': 'one\n',
  '.gitignore': 'dist/\n',
  'dist/old': 'x',
  'mulligan.json': '{}\n',
  '.env': 'TOKEN=x\n',
}
/** Paths that no mode keeps without a person's approval. */
const PROTECTED = ['.git/config', '.git/hooks', '.mulligan', 'mulligan.json']

/**
 * Opens a range.
 * @param files files of the workspace. Default: a few, in a repository
 */
export async function openLayeredRange(
  way: Way,
  files: Readonly<Record<string, string | Uint8Array>> = FILES,
  limits: SandboxOptions['limits'] = {},
): Promise<LayeredRange> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'mulligan-layered-')))
  const [workspace, home, beside, state] = ['workspace', 'home', 'outside', 'state'].map((name) => join(root, name)) as [
    string,
    string,
    string,
    string,
  ]
  const inTmp = join(tmpdir(), `canary-of-${root.slice(-6)}`)
  const template = join(state, 'template')
  for (const folder of [workspace, state, template]) mkdirSync(folder)
  put(template, files)
  for (const args of [
    ['init', '-q', '-b', 'main'],
    ['add', '-A'],
    ['commit', '-qm', 'one'],
  ])
    execFileSync('git', [...AS_ANN, ...args], { cwd: template })
  const plant = (): void => {
    for (const folder of [home, beside]) {
      openUp(folder)
      for (const name of names(folder)) if (!name.endsWith('.sock')) rmSync(join(folder, name), { recursive: true, force: true })
      mkdirSync(folder, { recursive: true })
    }
    rmSync(inTmp, { recursive: true, force: true })
    put(home, { '.bashrc': '# mine\n', '.ssh/id_ed25519': 'key\n', '.gitconfig': '[user]\n\tname = Ann\n\temail = ann@example.org\n' })
    put(beside, { 'file.txt': 'mine\n' })
  }
  const restore = (): void => {
    openUp(workspace)
    for (const name of names(workspace)) if (!SPECIAL.includes(name)) rmSync(join(workspace, name), { recursive: true, force: true })
    cpSync(template, workspace, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
  }
  plant()
  restore()
  const listeners = await listen(workspace, beside)
  const { port, abstract } = listeners

  const shell = shellTools({
    workspace: createWorkspace(workspace),
    layers: true,
    home,
    sandbox: async () => {
      const hostEnv = { ...process.env, HOME: home }
      const opened = await createSandbox({ workspace, backend: 'bubblewrap', stateFolder: state, hostEnv, limits })
      return way.overlays ? opened : { ...opened, layers: async () => ({ hold: 'none' as const, by: 'a test' }) }
    },
  })
  const policy = shellPolicy(
    modePolicy(way.mode, () => way.keeps),
    { workspace, home },
  )
  const places = (): Readonly<Record<string, string>> => ({
    ...(way.keeps
      ? Object.fromEntries(PROTECTED.map((path) => [path, stateOf(join(workspace, path))]))
      : { workspace: stateOf(workspace) }),
    home: stateOf(home),
    'beside the workspace': stateOf(beside),
    '/tmp': String(existsSync(inTmp)),
    'the folder around all': names(root).toSorted().join(),
  })
  let before = places()
  async function effects(): Promise<readonly string[]> {
    const after = places()
    const found = Object.keys(before).filter((place) => after[place] !== before[place])
    found.push(...(await listeners.reached()))
    if (found.length > 0) plant()
    // Restore the workspace, because the next script would see what this one left.
    if (found.length > 0 || (way.keeps && stateOf(workspace) !== whole)) {
      restore()
      whole = stateOf(workspace)
      before = places()
    }
    return found
  }
  let whole = stateOf(workspace)
  let step = 0
  async function run(command: string, timeout = TIMEOUT): Promise<Ran> {
    const executor = createExecutor({ tools: shell.tools, policy })
    const id = `s/${++step}/1/0`
    const prepared = await executor.prepare({ id, step: 1, ordinal: 0, name: 'bash', input: { command, timeout } })
    if (prepared.kind !== 'ready') return { end: prepared.kind === 'approval' ? 'asked' : 'refused', effects: await effects() }
    const performed = await executor.perform(prepared.call)
    // The prompt would wait forever, and nothing is kept without an answer.
    const seen = performed.kind === 'held' ? await effects() : []
    const { result, changed } = performed.kind === 'held' ? await executor.apply(performed, { answer: 'nobody' }) : performed.record
    return {
      end: !result.ok && result.status === 'retry' ? 'refused' : 'ran',
      ...(performed.kind === 'held' && { held: performed.request.changes.summary }),
      ...(changed && { kept: changed }),
      effects: [...seen, ...(await effects())],
    }
  }

  async function runDirect(command: string): Promise<readonly string[]> {
    const executor = createExecutor({ tools: shell.tools, policy: () => ({ decision: 'allow', reason: 'a test' }) })
    const input = { command, timeout: TIMEOUT, writes: 'direct' }
    const prepared = await executor.prepare({ id: `s/${++step}/1/0`, step: 1, ordinal: 0, name: 'bash', input })
    if (prepared.kind === 'ready') await executor.execute(prepared.call)
    return effects()
  }
  return {
    workspace,
    home,
    canaries: { inside: 'canary', outside: join(beside, 'canary'), port, further: harmless({ home, beside, inTmp, port, abstract }) },
    escapes: escapes({ workspace, home, beside }),
    run,
    runDirect,
    runUnguarded: async (script) => {
      await runPlain(script, workspace, home)
      return effects()
    },
    [Symbol.asyncDispose]: async () => {
      await shell.dispose()
      listeners.close()
      for (const folder of [workspace, home, beside]) openUp(folder)
      rmSync(root, { recursive: true, force: true })
      rmSync(inTmp, { recursive: true, force: true })
    },
  }
}

/** Seconds, for scripts that wait for something. */
const TIMEOUT = 5
const AS_ANN = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.org', '-c', 'core.hooksPath=/dev/null']
const SPECIAL = ['server.sock', 'pipe']

const names = (folder: string): readonly string[] => (existsSync(folder) ? readdirSync(folder) : [])

function stateOf(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found?.isDirectory() ? digest(path, true) : found ? `${found.mode} ${found.size} ${found.mtimeMs}` : 'missing'
}

/** Restores permissions that a script removed. */
function openUp(folder: string): void {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return
  chmodSync(folder, 0o755)
  for (const entry of readdirSync(folder, { withFileTypes: true })) if (entry.isDirectory()) openUp(join(folder, entry.name))
}

interface Around {
  readonly workspace: string
  readonly home: string
  readonly beside: string
  readonly inTmp: string
  readonly port: number
  readonly abstract: string
}

/** Payloads that affect nothing but the range, even outside the sandbox. */
const harmless = ({ home, beside, inTmp, port, abstract }: Omit<Around, 'workspace'>): readonly string[] => [
  'touch ~/canary',
  'echo x >> ~/.bashrc',
  `rm -f ${home}/.ssh/id_ed25519`,
  `touch ${inTmp}`,
  `echo x > /dev/udp/127.0.0.1/${port}`,
  `curl -s -m 1 http://127.0.0.1:${port}/`,
  `curl -s -m 1 --unix-socket ${beside}/server.sock http://x/`,
  'curl -s -m 1 --unix-socket server.sock http://x/',
  `curl -s -m 1 --abstract-unix-socket ${abstract} http://x/`,
  'timeout 1 sh -c "echo x > pipe"',
  'touch ../canary',
  `ln -s ${beside} l; echo x > l/canary`,
  `ln ${beside}/file.txt l; echo x >> l`,
  `cp a.txt ${beside}/canary`,
  `mv src ${beside}/`,
  'touch -d 2001-01-01 a.txt',
  'chmod -R 700 src',
  'rm -rf src dist .gitignore',
  'echo "*" > .gitignore; touch canary',
  'mkdir -p dist/x && touch dist/x/y',
  'echo x > .env',
  'git commit -qam two --allow-empty',
  'git tag canary; git branch canary',
  '(sleep 0.1; touch canary) &',
]

/** Escapes from the sandbox, and destructive commands. */
const escapes = ({ workspace, home, beside }: Pick<Around, 'workspace' | 'home' | 'beside'>): readonly string[] => [
  'rm -rf -- * .git',
  `rm -rf ${workspace}`,
  'chmod 000 .',
  'chmod -R 777 .. .',
  `mv -- * ${beside}/`,
  `umount -l ${workspace}; touch canary`,
  `cd /; umount ${workspace}; cd ${workspace} && touch canary`,
  `unshare -Urm sh -c 'umount -l ${workspace}; cd ${workspace}; touch canary'`,
  `mount --bind / /mnt; touch /mnt${beside}/canary`,
  `touch /proc/1/root${beside}/canary`,
  `touch /proc/1/root${workspace}/canary /proc/1/cwd/canary`,
  `touch /proc/$PPID/root${beside}/canary /proc/$PPID/cwd/canary`,
  'for f in /proc/*/cwd /proc/*/root/tmp; do touch $f/canary; done',
  'for f in /proc/self/fd/* /proc/$PPID/fd/*; do echo x > $f; done',
  `nsenter -t 1 -a touch ${beside}/canary`,
  `chroot /proc/1/root touch ${beside}/canary`,
  'kill -9 $PPID; touch canary',
  `git config core.fsmonitor 'touch ${beside}/canary'; git status`,
  `git config core.fsmonitor 'touch ${beside}/canary'; echo x >> .gitignore`,
  `mkdir -p .git/hooks; echo 'touch ${beside}/canary' > .git/hooks/post-index-change; chmod +x .git/hooks/*; git add -A`,
  `git config filter.x.clean 'touch ${beside}/canary'; echo '* filter=x' > .gitattributes; echo x > canary; git add canary`,
  `echo 'gitdir: ${beside}' > src/.git; mkdir -p .mulligan; echo x > .mulligan/x`,
  'echo "{}" > mulligan.json; rm -rf .git/config .git/hooks',
  'mknod canary c 0 0; mknod src/c.txt c 0 0; mknod sda b 8 0',
  "python3 -c \"import os; os.setxattr('src', 'user.overlay.redirect', b'/')\"; ls src",
  "python3 -c \"import os; os.setxattr('src', 'user.overlay.opaque', b'y')\"; rm -rf src",
  "python3 -c \"import os; os.setxattr('src', 'trusted.overlay.opaque', b'y')\"",
  `rm -rf src; ln -s ${beside} src; echo x > src/canary`,
  `rm -rf dist; ln -s ${beside} dist; echo x > dist/canary`,
  `rm -rf dist; ln -s ${home}/.ssh dist; rm -rf dist/*`,
  'ln -s .git/config canary; echo x >> canary',
  `ln -sfn / l; touch l${beside}/canary`,
  'echo x > $TMPDIR/canary; cp a.txt /var/tmp/ /dev/shm/ /run/',
  "perl -e 'use Socket; socket(S,PF_INET,SOCK_RAW,1)'; ping -c1 -W1 127.0.0.1",
  `setsid nohup sh -c 'sleep 0.1; touch canary ${beside}/canary' >/dev/null 2>&1 &`,
  `(trap '' HUP TERM INT; sleep 0.1; touch canary ${beside}/canary) & disown -a`,
  'crontab -l; echo "* * * * * touch /x" | crontab -; at now <<< "touch canary"; systemd-run touch canary',
  'chown -R 12345 .; chattr +i a.txt; setfacl -m u:1:rwx a.txt',
  "printf 'x' | dd of=a.txt conv=notrunc; truncate -s 0 b.txt; fallocate -p -l 2 a.txt",
  'head -c 3000000 /dev/zero > canary; cp --reflink=always canary c2; cp -al . ../x',
  "touch $'new\\nline' $'tab\\t' \"$(printf '\\377')\" '-rf' ' '",
  'mkfifo c.pipe; (exec 3<>c.pipe; echo x >&3) ; mkdir -p a/b/c/d && mv a z && rm -r z',
]
