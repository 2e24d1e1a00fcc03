/** The rules of the built-in tools. */
import { type Mutation, tools } from './mutation.ts'

export const TOOLS: readonly Mutation[] = [
  {
    id: 'crash-is-taken-back',
    rule: 'changes: what a process left half done is taken back by the next',
    file: tools('changes/change-log.ts'),
    find: `const isNeeded = (await deadPlans(journal)).length > 0`,
    replace: `const isNeeded = false`,
    test: { file: tools('changes/atomic.test.ts'), name: 'a process that dies at any write' },
  },
  {
    id: 'all-or-none',
    rule: 'changes: when one fails, those before it are taken back',
    file: tools('changes/change-log.ts'),
    find: `await plan.takeBack()`,
    replace: ``,
    test: { file: tools('changes/atomic.test.ts'), name: 'a write that fails, whichever it is' },
  },
  {
    id: 'undo-overwrites-nothing',
    rule: 'undo: what somebody has changed since is not overwritten',
    file: tools('changes/change-log.ts'),
    find: `(conflicts.length === 0 || force)`,
    replace: `(conflicts.length >= 0 || force)`,
    test: { file: tools('changes/undo.test.ts'), name: 'a file that was changed since is a conflict' },
  },
  {
    id: 'unique-or-refused',
    rule: 'edit: a text that stands in several places is refused',
    file: tools('files/edit_file/plan.ts'),
    find: `if (places.length > 1 && !replace_all)`,
    replace: `if (places.length > 1e9 && !replace_all)`,
    test: { file: tools('files/edit_file/decoys.test.ts'), name: 'two of' },
  },
  {
    id: 'address-checked',
    rule: 'web: the address that a name leads to is checked',
    file: tools('web/net/guard.ts'),
    find: `const why = notPublic(address)`,
    replace: `const why = undefined as string | undefined`,
    test: { file: tools('web/web_fetch/refused.test.ts'), name: 'one that leads to this machine is refused' },
  },
  {
    id: 'each-hop-checked',
    rule: 'web: each redirect is checked like the first request',
    file: tools('web/net/get.ts'),
    find: `const reason = guard.url(url)`,
    replace: `const reason = hop > 0 ? undefined : guard.url(url)`,
    test: { file: tools('web/web_fetch/refused.test.ts'), name: 'is not followed' },
  },
  {
    id: 'body-bounded',
    rule: 'web: no more of a page is taken into memory than was asked for',
    file: tools('web/net/body.ts'),
    find: `if (size > maxBytes) break`,
    replace: ``,
    test: { file: tools('web/web_fetch/web_fetch.test.ts'), name: 'bomb' },
  },
  {
    id: 'repository-runs-nothing',
    rule: 'git: a repository that is looked at runs no program of its own',
    file: tools('git/common/process.ts'),
    find: `const FOR_READING: readonly ConfigPair[] = [\n  ['core.fsmonitor', 'false'],`,
    replace: `const FOR_READING: readonly ConfigPair[] = [`,
    test: { file: tools('git/git.test.ts'), name: 'a hostile repository runs nothing while it is read' },
  },
]
