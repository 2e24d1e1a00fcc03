/** What a command may leave behind, and what a sandbox may. */
import type { Mutation } from './mutation.ts'

const sandbox = (file: string): string => `packages/sandbox/src/${file}`
/** Of the name of a check, the reporter keeps 40 characters. */
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
    file: sandbox('backends/bubblewrap/network.ts'),
    find: `'--unshare-net', `,
    replace: ``,
    test: egress('a server of the host answers on 127.0.0'),
  },
  {
    id: 'shared-network',
    rule: 'sandbox: a server in the background is reached by later commands',
    file: sandbox('backends/bubblewrap/bubblewrap.ts'),
    find: `const joined = request.network === 'none' ? own.network : undefined`,
    replace: `const joined = undefined as SharedNetwork | undefined`,
    test: egress('a server in the background is reached b'),
  },
  {
    id: 'container-shows-another-uid',
    rule: 'sandbox: what is root outside is not root in a container',
    file: sandbox('backends/container/launcher.ts'),
    find: `{ name: 'unshare', args: [CLONE_NEWUSER] } as const,`,
    replace: ``,
    test: engine('a launcher for x86_64: calls of one size, then what they point to'),
  },
  {
    id: 'container-uid-is-checked',
    rule: 'sandbox: a container that runs commands as another user than was promised is refused',
    file: sandbox('backends/container/probe.ts'),
    find: `if (uid !== String(user.uid))`,
    replace: `if (false)`,
    test: engine('{"user":["0","0","0","0"]} is not a sandbox'),
  },
  {
    id: 'container-filter-is-checked',
    rule: 'sandbox: a container without the filter of system calls is refused',
    file: sandbox('backends/container/probe.ts'),
    find: `if (hasFilter && facts['seccomp']?.[0] !== '2')`,
    replace: `if (false)`,
    test: engine('{"seccomp":["0"]} is not a sandbox'),
  },
  {
    id: 'no-setuid-left-behind',
    rule: 'sandbox: no program that runs as its owner is left in the workspace',
    file: sandbox('seccomp/filter.ts'),
    find: `...['creat', 'mknod', 'chmod', 'fchmod'].flatMap`,
    replace: `...['creat', 'mknod'].flatMap`,
    test: check('setuid is left behind by fchmod'),
  },
  {
    id: 'made-where-none-may',
    rule: 'sandbox: what a command makes at a protected path is taken away',
    file: sandbox('sandbox.ts'),
    find: `takeAway(view).finally(() => active--)`,
    replace: `Promise.resolve([]).finally(() => active--)`,
    test: check('a repository inside a folder without on'),
  },
  {
    id: 'no-link-above',
    rule: 'sandbox: a link above a protected path is taken away too',
    file: sandbox('view/take-away.ts'),
    find: `|| entry.isSymbolicLink())`,
    replace: `)`,
    test: check('a link at a protected path does not sta'),
  },
  {
    id: 'persons-repository-stays',
    rule: 'sandbox: what a person makes at a protected path stays, and commands can not write it',
    file: sandbox('sandbox.ts'),
    find: `if (backend.adopt && (await isStale(view)))`,
    replace: `if (false as boolean)`,
    test: check('a repository that a person makes stays,'),
  },
  {
    id: 'makes-nothing',
    rule: 'sandbox: opening one makes nothing in the workspace',
    file: sandbox('view/protect.ts'),
    find: `absent.push(target)`,
    replace: `await (await import('node:fs/promises')).mkdir(target, { recursive: true })`,
    test: view('makes nothing: what is protected and not there is named'),
  },
  {
    id: 'no-pipe-is-waited-for',
    rule: 'sandbox: a pipe where settings are read is not waited for',
    file: sandbox('view/files.ts'),
    find: `constants.O_RDONLY | constants.O_NONBLOCK`,
    replace: `constants.O_RDONLY`,
    test: view('a pipe as the settings of git in the home is not waited for, nor is a file without an end read'),
  },
  {
    id: 'output-is-dropped',
    rule: 'sandbox: a command that prints much ends by itself',
    file: sandbox('limits.ts'),
    find: `outputStop: 1_000_000_000,`,
    replace: `outputStop: 10_000_000,`,
    test: { file: sandbox('sandbox.test.ts'), name: '200 MB of it are counted and dropped' },
  },
]
