/** Rules of egress: sending is an effect, and reading secret files requires approval. */
import { core, type Mutation, tools } from './mutation.ts'

const policy = 'packages/agent/src/turn/egress-policy.ts'
const addresses = 'packages/agent/src/turn/given-addresses.ts'
const egress = (name: string): Mutation['test'] => ({ file: 'packages/cli/src/approval/egress.test.ts', name })
const given = (name: string): Mutation['test'] => ({ file: 'packages/agent/src/turn/given-addresses.test.ts', name })
const secrets = (name: string): Mutation['test'] => ({ file: tools('workspace/with-secrets.test.ts'), name })

export const EGRESS: readonly Mutation[] = [
  {
    id: 'composed-address-asks',
    rule: 'trust: after a page was read, an address composed by the model asks',
    file: policy,
    find: `return address?.host && !isGiven(address) ? COMPOSED_ADDRESS : undefined`,
    replace: `return undefined`,
    test: { file: 'packages/agent/src/turn/egress-policy.test.ts', name: 'an address that the model has put together asks' },
  },
  {
    id: 'workspace-makes-it-external',
    rule: 'trust: after the workspace was read, an address composed by the model is external',
    file: policy,
    find: `records.some((one) => isOfWorkspace(one) || isUntrusted(one))`,
    replace: `records.some(isUntrusted)`,
    test: egress('read_file of any other file'),
  },
  {
    id: 'what-was-read-lasts-a-session',
    rule: 'trust: what earlier turns read counts',
    file: policy,
    find: `const withWorkspace = earlier.some(isOfWorkspace)`,
    replace: `const withWorkspace = false`,
    test: egress('a turn later, by another agent'),
  },
  {
    id: 'attached-counts-as-read',
    rule: 'trust: attachments by the user may come from the workspace',
    file: policy,
    find: `said.some(({ attached }) => attached === true) ||`,
    replace: ``,
    test: egress('after piped input'),
  },
  {
    id: 'effect-is-external',
    rule: 'trust: sending data is shown and judged as external',
    file: core('create-executor.ts'),
    find: `options.effectOf?.({ ...call, target }) ?? effect`,
    replace: `effect`,
    test: egress('read_file of any other file'),
  },
  {
    id: 'query-after-secret-asks',
    rule: 'trust: after a secret file was requested, a query composed by the model is external',
    file: policy,
    find: `return hasReadSecret() && !said`,
    replace: `return !hasReadSecret() && !said`,
    test: egress('a query asks, --yes notwithstanding'),
  },
  {
    id: 'secret-is-forced',
    rule: 'trust: after a secret file was requested, external effects ask, even with --yes',
    file: core('approval.ts'),
    find: `leaves && secret`,
    replace: `false`,
    test: egress('read_file .env, web_fetch'),
  },
  {
    id: 'echoed-query-gives-nothing',
    rule: 'trust: an address that a search repeats from its query does not count as given',
    file: policy,
    find: `!givesAddress(textsOf(record.input), address) && `,
    replace: ``,
    test: egress('a search that repeats its query'),
  },
  {
    id: 'whole-addresses',
    rule: 'trust: a part of a given address counts as composed by the model',
    file: addresses,
    find: `if (sent(url) === wanted) return true`,
    replace: `if (sent(url).startsWith(wanted)) return true`,
    test: given('does not give'),
  },
  {
    id: 'secret-files-ask',
    rule: 'secret files ask before they are opened, whatever was allowed in advance',
    file: core('approval.ts'),
    find: `...(unopened.length > 0 ? [refuse.opensSecrets(unopened)] : [])`,
    replace: `...(unopened.length > 1e9 ? [refuse.opensSecrets(unopened)] : [])`,
    test: secrets('asks, whatever was allowed in advance'),
  },
  {
    id: 'secret-files-are-refused',
    rule: 'the workspace opens no secret file without approval',
    file: tools('workspace/workspace.ts'),
    find: `if (contents && found && !isLink`,
    replace: `if (!contents && found && !isLink`,
    test: secrets('the workspace refuses'),
  },
  {
    id: 'secret-approval-is-needed',
    rule: 'a call that opens a secret file does not run without its approval',
    file: core('approval.ts'),
    find: `const refusal = noSecrets(call)`,
    replace: `const refusal = undefined as ToolError | undefined`,
    test: secrets('cannot be run without its approval'),
  },
  {
    id: 'grep-leaves-secrets-out',
    rule: 'a search of a folder shows nothing from secret files',
    file: tools('files/grep/tool.ts'),
    find: `included(path) && workspace.shows(path)`,
    replace: `included(path)`,
    test: secrets('and says how many'),
  },
  {
    id: 'diff-leaves-secrets-out',
    rule: 'git_diff shows no line of a secret file',
    file: tools('git/git_diff/tool.ts'),
    find: `every(shows)`,
    replace: `every(() => true)`,
    test: secrets('shows no line of a secret file'),
  },
  {
    id: 'mention-is-of-the-person',
    rule: 'text in a prompt that does not name a secret file cannot open it',
    file: policy,
    find: `said.some(({ mentions = [] }) => mentions.some((one) => plain(one) === plain(path)))`,
    replace: `true`,
    test: egress('what is in the prompt without being named'),
  },
]
