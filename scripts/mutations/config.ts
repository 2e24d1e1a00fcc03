/** Rules of the configuration: what a project may not set. Also rules of the commands for sessions and of completion. */
import type { Mutation } from './mutation.ts'

const cli = (file: string): string => `packages/cli/src/${file}`
const host = (file: string): string => `packages/host/src/${file}`
const layers = (name: string): Mutation['test'] => ({ file: host('config/layers.test.ts'), name })
const sessions = (name: string): Mutation['test'] => ({ file: cli('commands/sessions/sessions.test.ts'), name })
const store = (name: string): Mutation['test'] => ({ file: 'packages/agent/src/store/store.test.ts', name })

export const CONFIG: readonly Mutation[] = [
  {
    id: 'project-refused',
    rule: "configuration: a project's file can't set what only the user may set",
    file: host('config/files.ts'),
    find: `origin === 'project' ? refusedIn(checked.value) : undefined`,
    replace: `undefined`,
    test: layers('remoteHosts'),
  },
  {
    id: 'project-checks',
    rule: "configuration: a project's checks run only after the user's approval",
    file: host('config/schema.ts'),
    find: `trusted('may add some after your approval (\`mulligan trust\`)', 'names commands`,
    replace: `add('may add some after your approval', 'names commands`,
    test: layers('its checks run after the person has trusted it'),
  },
  {
    id: 'project-limits',
    rule: "configuration: a project's file can't raise a limit above the default",
    file: host('config/project-rules.ts'),
    find: `(mine as number | undefined) ?? byDefault`,
    replace: `(mine as number | undefined) ?? Math.max(byDefault, 1e6)`,
    test: layers('no limit above the default either, where the person has given none'),
  },
  {
    id: 'search-address',
    rule: 'configuration: the key of one search service is not sent to the address of another',
    file: host('config/settings.ts'),
    find: `url = provider === own?.value.provider ? own?.value.url : undefined`,
    replace: `url = own?.value.url`,
    test: layers('for a search service does not take the address of another'),
  },
  {
    id: 'project-folder-trust',
    rule: 'configuration: trust applies to the folder that the file belongs to',
    file: host('config/approval.ts'),
    find: `real(one, env) === project?.folder`,
    replace: `project !== undefined`,
    test: layers('is trusted by the folder that it is of'),
  },
  {
    id: 'completed-names',
    rule: 'completion: no name is offered that a shell would execute',
    file: cli('commands/completion/values.ts'),
    find: `PLAIN.test(value) && !value.startsWith('-')`,
    replace: `value !== ''`,
    test: { file: cli('commands/completion/completion.test.ts'), name: '["fix it","--agent",""]' },
  },
  {
    id: 'export-secrets',
    rule: 'sessions: an export contains no key from the environment',
    file: cli('commands/sessions/sessions.ts'),
    find: `secretsIn(process.env))`,
    replace: `[])`,
    test: sessions('an export is without the keys of the environment, in every format'),
  },
  {
    id: 'delete-asks',
    rule: 'sessions: nothing is deleted without confirmation',
    file: cli('commands/sessions/sessions.ts'),
    find: `flags.yes !== true && `,
    replace: `flags.yes === false && `,
    test: sessions('["delete","ab-one"]: deleting this session needs confirmation'),
  },
  {
    id: 'delete-busy',
    rule: 'sessions: a session with a running turn is not deleted',
    file: 'packages/agent/src/store/sql-store.ts',
    find: `if ('busy' in claimed) return claimed
    try {
      for (`,
    replace: `if ('busy' in claimed) await driver.erase(id, deletionOf(id), new Map())
    if ('busy' in claimed) return {}
    try {
      for (`,
    test: store('filters sessions, and deletes one with all that is of it, unless a turn of it runs'),
  },
  {
    id: 'delete-overwrites',
    rule: 'sessions: deleted data does not remain in the free pages of the file',
    file: 'packages/agent/src/store/sqlite.ts',
    find: "'secure_delete = ON'",
    replace: "'secure_delete = OFF'",
    test: store('of a deleted session nothing is left in it'),
  },
  {
    id: 'store-search-forgets',
    rule: 'store: the search index keeps no word of a deleted session',
    file: 'packages/agent/src/store/sqlite.ts',
    find: '[...batch, ...SQLITE_FORGET.map((sql) => ({ sessionId, sql, parameters: [] }))]',
    replace: 'batch',
    test: { file: 'packages/agent/src/store/search.test.ts', name: 'keeps no word of a deleted session' },
  },
]
