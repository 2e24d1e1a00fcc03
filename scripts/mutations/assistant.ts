/** Rules of the assistant's tools, and of the editor's approvals: what was read is untrusted, what leaves is seen and sent once, and secrets stay where they are. */
import type { Mutation } from './mutation.ts'

const src = (file: string): string => `packages/assistant/src/${file}`
const imap = (name: string): Mutation['test'] => ({ file: src('mail/imap/imap.test.ts'), name })
const once = (name: string): Mutation['test'] => ({ file: src('mail/imap/once.test.ts'), name })
const google = (name: string): Mutation['test'] => ({ file: src('google/google.test.ts'), name })
const slack = (name: string): Mutation['test'] => ({ file: src('slack/slack.test.ts'), name })

const acp = (name: string): Mutation['test'] => ({ file: 'packages/acp/src/acp.test.ts', name })

export const ASSISTANT: readonly Mutation[] = [
  {
    id: 'assistant-untrusted',
    rule: 'assistant: what was read of a service is untrusted, so that what leaves afterwards asks',
    file: src('common/remote-read.ts'),
    find: `untrusted: true`,
    replace: `untrusted: false`,
    test: google('after read_email, what leaves asks'),
  },
  {
    id: 'assistant-looks-first',
    rule: 'assistant: after an attempt with an unknown outcome, the service is asked, and nothing is sent again',
    file: src('common/once.ts'),
    find: `attempt === 1 || refused.delete(callId)`,
    replace: `attempt > 0`,
    test: slack('whatever breaks, a message is never posted twice'),
  },
  {
    id: 'assistant-refused-may-repeat',
    rule: 'assistant: after a refusal, which did nothing, the effect is tried again',
    file: src('common/once.ts'),
    find: `refused.add(callId)`,
    replace: `refused.delete(callId)`,
    test: google('a write that was refused is made again'),
  },
  {
    id: 'assistant-found-is-marked',
    rule: 'assistant: a message counts as posted only if it carries the mark of the call',
    file: src('slack/post.ts'),
    find: `metadata?.event_payload?.['key'] === mark`,
    replace: `metadata?.event_payload?.['key'] !== undefined || mark === ''`,
    test: slack('a message of another call is not taken for this one'),
  },
  {
    id: 'assistant-event-id',
    rule: 'assistant: an event has an id chosen here, the same for each attempt',
    file: src('google/calendar.ts'),
    find: `const id = markOf(ctx)`,
    replace: `const id = markOf({ ...ctx, idempotencyKey: String(Math.random()) })`,
    test: google('whatever breaks, nothing is written twice'),
  },
  {
    id: 'assistant-sends-what-was-seen',
    rule: 'assistant: a draft that was changed after it was shown is not sent',
    file: src('mail/tools.ts'),
    find: `seen !== undefined && seen !== draft.version`,
    replace: `seen === null`,
    test: google('a draft that was changed after it was shown is not sent'),
  },
  {
    id: 'mail-shows-bcc',
    rule: 'mail: who gets a blind copy is shown before the draft is sent',
    file: src('mail/tools.ts'),
    find: `bcc ? [\`Bcc: \${bcc}\`] : []`,
    replace: `bcc === 'x' ? [\`Bcc: \${bcc}\`] : []`,
    test: imap('keeps Bcc secret'),
  },
  {
    id: 'mail-sends-no-bcc',
    rule: 'mail: the header with the blind copies is not sent',
    file: src('mail/imap/outgoing.ts'),
    find: `.replace(header('Bcc'), '')`,
    replace: ``,
    test: imap('keeps Bcc secret'),
  },
  {
    id: 'mail-marks-first',
    rule: 'mail: a draft is marked before it is sent, and one with a mark is not sent again',
    file: src('mail/imap/mailbox.ts'),
    find: `message.flags?.has(PENDING) || isPending(id)`,
    replace: `message.flags?.has('none') || isPending('none')`,
    test: once('nothing is written twice'),
  },
  {
    id: 'mail-mark-outlives-session',
    rule: 'mail: the mark is kept in the mailbox, so that another session sees it',
    file: src('mail/imap/mailbox.ts'),
    find: `message.flags?.has(PENDING) || isPending(id)`,
    replace: `isPending(id)`,
    test: once('control: without the mark'),
  },
  {
    id: 'mail-refused-search',
    rule: 'mail: a search that the server refuses is not an empty one',
    file: src('mail/imap/mailbox.ts'),
    find: `throw new ToolFailure('The mail server refuses the search.')`,
    replace: `return []`,
    test: imap('a refused search is not taken for an empty one'),
  },
  {
    id: 'mail-password-bound',
    rule: 'mail: a stored password is only sent to the servers it was stored for',
    file: src('mail/imap/password.ts'),
    find: `login === passwordFor(account) && typeof password === 'string'`,
    replace: `typeof password === 'string'`,
    test: { file: src('mail/imap/account.test.ts'), name: 'a stored password goes to no other server' },
  },
  {
    id: 'mail-starttls',
    rule: 'mail: a server elsewhere gets no password without encryption',
    file: src('mail/imap/account.ts'),
    find: `: 'required'`,
    replace: `: 'offered'`,
    test: { file: src('mail/imap/account.test.ts'), name: 'encryption' },
  },
  {
    id: 'login-is-private',
    rule: 'assistant: the file of a login is readable by its owner alone',
    file: src('common/secrets.ts'),
    find: `{ mode: 0o600, flag: 'wx' }`,
    replace: `{ mode: 0o644, flag: 'wx' }`,
    test: { file: src('common/secrets.test.ts'), name: 'a file that only its owner can read' },
  },
  {
    id: 'login-leaves-file',
    rule: 'assistant: a secret that the keychain has is not in the file',
    file: src('common/secrets.ts'),
    find: `await write(file, { ...open, keychain: true })`,
    replace: `await write(file, { ...value, keychain: true })`,
    test: { file: src('common/secrets.test.ts'), name: 'with a keychain, the secret is there' },
  },
  {
    id: 'acp-cancelled-is-no',
    rule: 'acp: a question that the editor cancels allows nothing',
    file: 'packages/acp/src/permissions.ts',
    find: `if (outcome.outcome === 'cancelled') return { answer: signal.aborted ? 'timeout' : 'no' }`,
    replace: `if (outcome.outcome === 'cancelled') return { answer: 'once' }`,
    test: acp('answered cancelled'),
  },
  {
    id: 'acp-offered-only',
    rule: 'acp: only an answer that was offered allows a call',
    file: 'packages/acp/src/permissions.ts',
    find: `options.some(({ optionId }) => optionId === outcome.optionId) ? answerOf(outcome.optionId) : { answer: 'no' }`,
    replace: `outcome.optionId === 'no' ? { answer: 'no' } : { answer: 'once' }`,
    test: acp('answered something that was not offered'),
  },
  {
    id: 'notes-untrusted',
    rule: 'notes: a note is untrusted content',
    file: src('notes/tools/read-note.ts'),
    find: `untrusted: true`,
    replace: `untrusted: false`,
    test: { file: src('notes/notes.test.ts'), name: 'only what changes has an effect' },
  },
]
