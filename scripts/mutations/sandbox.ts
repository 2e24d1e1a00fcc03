/** Rules of the sandbox: what a command and a sandbox may leave behind. */
import type { Mutation } from './mutation.ts'

const sandbox = (file: string): string => `packages/sandbox/src/${file}`
/** The reporter keeps 40 characters of the name of a check. */
const check = (name: string): Mutation['test'] => ({
  file: sandbox('checks/bubblewrap.test.ts'),
  name: `bubblewrap, as root, in root's workspace > escape: ${name}`,
})
const egress = (name: string): Mutation['test'] => ({
  file: sandbox('checks/bubblewrap.test.ts'),
  name: `bubblewrap, as root, in root's workspace > egress: ${name}`,
})
const engine = (name: string): Mutation['test'] => ({ file: sandbox('backends/container/spec.test.ts'), name })
const view = (name: string): Mutation['test'] => ({ file: sandbox('view/create-view.test.ts'), name })

export const SANDBOX: readonly Mutation[] = [
  {
    id: 'shared-network-is-no-hosts',
    rule: "sandbox: the network that commands share is not the host's",
    file: sandbox('backends/bubblewrap/surroundings.ts'),
    find: `'--unshare-net', `,
    replace: ``,
    test: egress('a server of the host answers on 127.0.0'),
  },
  {
    id: 'shared-network',
    rule: 'sandbox: a server in the background can be reached by later commands',
    file: sandbox('backends/bubblewrap/bubblewrap.ts'),
    find: `const joined = request.network === 'none' ? own.network : undefined`,
    replace: `const joined = undefined as SharedNetwork | undefined`,
    test: egress('a server in the background is reached b'),
  },
  {
    id: 'container-shows-another-uid',
    rule: 'sandbox: root outside is not root in a container',
    file: sandbox('backends/container/launcher.ts'),
    find: `['unshare', CLONE_NEWUSER],`,
    replace: ``,
    test: engine('a launcher for x86_64: calls of one size, then what they point to'),
  },
  {
    id: 'container-uid-is-checked',
    rule: 'sandbox: a container that runs commands as another user than promised is refused',
    file: sandbox('backends/container/probe.ts'),
    find: `if (uid !== String(user.uid))`,
    replace: `if (false)`,
    test: engine('{"user":["0","0","0","0"]} is not a sandbox'),
  },
  {
    id: 'container-filter-is-checked',
    rule: 'sandbox: a container without the system call filter is refused',
    file: sandbox('backends/container/probe.ts'),
    find: `if (hasFilter && value('seccomp') !== '2')`,
    replace: `if (false)`,
    test: engine('{"seccomp":["0"]} is not a sandbox'),
  },
  {
    id: 'no-setuid-left-behind',
    rule: 'sandbox: no setuid program is left in the workspace',
    file: sandbox('seccomp/filter.ts'),
    find: `calls(['creat', 'mknod', 'chmod', 'fchmod']`,
    replace: `calls(['creat', 'mknod']`,
    test: check('setuid is left behind by fchmod'),
  },
  {
    id: 'made-where-none-may',
    rule: 'sandbox: files that a command creates at a protected path are removed',
    file: sandbox('sandbox.ts'),
    find: `takeAway(view).finally(() => active--)`,
    replace: `Promise.resolve([]).finally(() => active--)`,
    test: check('a repository inside a folder without on'),
  },
  {
    id: 'no-link-above',
    rule: 'sandbox: a link above a protected path is removed too',
    file: sandbox('view/take-away.ts'),
    find: `|| entry.isSymbolicLink())`,
    replace: `)`,
    test: check('a link at a protected path does not sta'),
  },
  {
    id: 'persons-repository-stays',
    rule: 'sandbox: files that the user creates at a protected path stay, and commands cannot write them',
    file: sandbox('sandbox.ts'),
    find: `if (backend.adopt && (await isStale(view)))`,
    replace: `if (false as boolean)`,
    test: check('a repository that a person makes stays,'),
  },
  {
    id: 'makes-nothing',
    rule: 'sandbox: opening one creates nothing in the workspace',
    file: sandbox('view/protect.ts'),
    find: `absent.push(target)`,
    replace: `await (await import('node:fs/promises')).mkdir(target, { recursive: true })`,
    test: view('makes nothing: what is protected and not there is named'),
  },
  {
    id: 'no-pipe-is-waited-for',
    rule: 'sandbox: a pipe in place of a settings file is not waited for',
    file: sandbox('view/files.ts'),
    find: `constants.O_RDONLY | constants.O_NONBLOCK`,
    replace: `constants.O_RDONLY`,
    test: view('a pipe as the settings of git in the home is not waited for, nor is a file without an end read'),
  },
  {
    id: 'output-is-dropped',
    rule: 'sandbox: a command with much output ends by itself',
    file: sandbox('limits.ts'),
    find: `outputStop: 1_000_000_000,`,
    replace: `outputStop: 10_000_000,`,
    test: { file: sandbox('sandbox.test.ts'), name: '200 MB of it are counted and dropped' },
  },
]
