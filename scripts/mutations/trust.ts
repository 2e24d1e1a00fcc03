/** Rules of trust: what a folder contains takes effect only after the user has trusted it. */
import type { Mutation } from './mutation.ts'

const cli = (file: string): string => `packages/cli/src/${file}`
const host = (file: string): string => `packages/host/src/${file}`
const trust = (name: string): Mutation['test'] => ({ file: cli('commands/trust.test.ts'), name })
const rules = (name: string): Mutation['test'] => ({ file: host('config/project-rules.test.ts'), name })
const open = (name: string): Mutation['test'] => ({ file: host('models/open.test.ts'), name })

export const TRUST: readonly Mutation[] = [
  {
    id: 'loopback-parsed',
    rule: 'models: only a parsed loopback address, or localhost, counts as this machine',
    file: host('models/base-url.ts'),
    find: `return host === 'localhost' || isLoopbackAddress(`,
    replace: `return host === 'localhost' || /^127[.]/.test(host) || isLoopbackAddress(`,
    test: open('http://127.evil.example leads only to this machine: false'),
  },
  {
    id: 'localhost-pinned',
    rule: 'models: connections to localhost use loopback addresses only',
    file: host('models/patient-fetch.ts'),
    find: `.filter(({ address }) => isLoopbackAddress(address))`,
    replace: `.filter(({ address }) => address !== '')`,
    test: open('localhost is connected to on this machine only, whatever a name server says'),
  },
  {
    id: 'project-redirects',
    rule: "configuration: a project's server elsewhere waits for the user's approval",
    file: host('config/admit.ts'),
    find: `return host === undefined || hosts.includes(host)`,
    replace: `return host !== '' || hosts.includes(host)`,
    test: rules('loosens no key and leads nowhere else than the person’s alone'),
  },
  {
    id: 'project-commands',
    rule: "configuration: a project's commands wait for the user's approval",
    file: host('config/admit.ts'),
    find: `return isTrusted || allows(key, value) ? undefined : rule.does`,
    replace: `return isTrusted || !allows(key, value) ? undefined : rule.does`,
    test: rules('loosens no key and leads nowhere else than the person’s alone'),
  },
  {
    id: 'project-stricter',
    rule: "configuration: a project's value counts if it is stricter",
    file: host('config/admit.ts'),
    find: `|| rule.isStricter(value, own(key), own)`,
    replace: `|| !rule.isStricter(value, own(key), own)`,
    test: rules('loosens no key and leads nowhere else than the person’s alone'),
  },
  {
    id: 'project-key',
    rule: "models: a server that a project chooses does not get the user's key",
    file: host('choice/effective-model.ts'),
    find: `return baseUrl.origin !== 'project' || isSameOrigin`,
    replace: `return baseUrl.origin === 'project' || isSameOrigin`,
    test: trust('on this machine gets no key that is for the person’s server; the person’s own origin does'),
  },
  {
    id: 'front-matter-rules',
    rule: "agents: a project's front matter is filtered by the rules for its keys",
    file: host('agents/own.ts'),
    find: `if (origin !== 'project') return`,
    replace: `if (origin !== 'default') return`,
    test: trust('can’t name a model in the cloud in the front matter of an agent'),
  },
  {
    id: 'tools-untrusted',
    rule: 'tools: a folder’s own tools are imported only after the user has trusted them',
    file: host('tools/open-tools.ts'),
    find: `= needsTrust(files)
    ?`,
    replace: `= files.state === 'none'
    ?`,
    test: trust('are not imported before the person has trusted them, and that is said with the command'),
  },
  {
    id: 'tools-changed',
    rule: 'tools: a folder’s own tools are asked about again if they have changed',
    file: host('trust/store.ts'),
    find: `state: trusted === found.hash ? 'trusted'`,
    replace: `state: trusted !== '' ? 'trusted'`,
    test: trust('are asked about again when anything of them has changed, and no more when it is taken back'),
  },
  {
    id: 'trust-misplaced',
    rule: 'trust: a folder can’t contain the file that declares it trusted',
    file: host('trust/store.ts'),
    find: `return isMisplaced(cwd, path) ?`,
    replace: `return path === '' ?`,
    test: trust('are trusted by nobody’s word but the person’s'),
  },
  {
    id: 'tools-links',
    rule: 'tools: a link that leads out of the tools’ folder is not followed',
    file: 'packages/tools/src/user-tools-files.ts',
    find: `if (!isInside(root, path)) return`,
    replace: `if (path === '') return`,
    test: trust('that are a link that leads out are left out, and hold nothing up'),
  },
  {
    id: 'tools-imports',
    rule: 'tools: files whose content was not checked are not imported',
    file: 'packages/tools/src/user-tools.ts',
    find: `if (bytes === undefined) throw new Error(`,
    replace: `if (bytes === undefined) return ''
  if (path === '') throw new Error(`,
    test: trust('import nothing from their folder that was not looked at'),
  },
]
