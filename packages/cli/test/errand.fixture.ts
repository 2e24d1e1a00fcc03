/**
 * "Find the notes of Friday's planning, mail Ana a draft of the decisions, and post the link in #team": a vault, strict services, and a
 * scripted model that on its way searches in vain, names people wrongly, and meets a rate limit.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  call,
  type ScriptedModel,
  type StrictGoogle,
  type StrictSlack,
  say,
  scriptedModel,
  strictGoogle,
  strictSlack,
} from '@mulligan/testing'
import { type CliFixture, place } from './cli.fixture.ts'

export const TASK = "Find the notes of Friday's planning, mail Ana a draft of the decisions, and post the link in #team."
export const DECISIONS = 'We ship on 1 December. Ben writes the announcement.'
export const SLACK_TOKEN = 'xoxb-kanarie-4711'
const LINK = 'https://docs.google.com/document/d/doc-0000000001/edit'

const NOTE = `---\ntags: [planning]\n---\n# Planning of Friday\n\n## Decisions\n\n${DECISIONS}\n`

const SCRIPT = [
  call('search_notes', { query: 'friday retrospective' }),
  call('search_notes', { query: 'planning friday' }),
  call('read_note', { name: 'Planning 2026-11-20' }),
  call('search_drive', { query: 'planning' }),
  // A name is not an address.
  call('draft_email', { to: ['Ana'], subject: 'Decisions of Friday', body: DECISIONS }),
  call('draft_email', { to: ['ana@example.com'], subject: 'Decisions of Friday', body: DECISIONS }),
  // There is no @anna.
  call('post_slack_message', { channel: '#team', text: `Decisions for @anna: ${LINK}` }),
  call('post_slack_message', { channel: '#team', text: `Decisions for @ana: ${LINK}` }),
  say('The draft is saved, and the link is posted.'),
]

export interface Errand extends AsyncDisposable {
  readonly here: CliFixture
  readonly env: Readonly<Record<string, string>>
  readonly model: ScriptedModel
  readonly google: StrictGoogle
  readonly slack: StrictSlack
  /** What has left the machine. */
  readonly effects: () => { readonly drafts: readonly string[]; readonly posts: readonly string[]; readonly sent: number }
}

export async function errand(): Promise<Errand> {
  const here = place()
  const model = await scriptedModel(SCRIPT)
  const google = await strictGoogle({
    token: 'none',
    files: [{ id: 'doc-0000000001', name: 'Planning', mimeType: 'application/vnd.google-apps.document', text: NOTE }],
  })
  let limited = 0
  const slack = await strictSlack({
    token: SLACK_TOKEN,
    channels: [{ id: 'C0000001', name: 'team' }],
    people: [
      { id: 'U0000001', name: 'ana', realName: 'Ana Silva' },
      { id: 'U0000002', name: 'ben', realName: 'Ben Okri' },
    ],
    fault: ({ path }) =>
      path.endsWith('postMessage') && limited++ === 0
        ? { kind: 'answer', status: 429, headers: { 'retry-after': '1' }, body: '' }
        : undefined,
  })
  const vault = join(here.root, 'Notes')
  mkdirSync(join(vault, 'Work'), { recursive: true })
  writeFileSync(join(vault, 'Work/Planning 2026-11-20.md'), NOTE)
  writeFileSync(join(vault, 'Shopping.md'), '# Shopping\n\nMilk\n')
  mkdirSync(here.data, { recursive: true, mode: 0o700 })
  writeFileSync(join(here.data, 'google.json'), JSON.stringify(google.issuer.login()), { mode: 0o600 })
  const env = {
    MULLIGAN_NOTES_VAULT: vault,
    GOOGLE_API_URL: `${google.url}/`,
    SLACK_BOT_TOKEN: SLACK_TOKEN,
    SLACK_API_URL: slack.api,
  }
  return {
    ...{ here, env, model, google, slack },
    effects: () => ({
      drafts: google.drafts().map(({ message: { headers, text } }) => `${headers['To']}: ${text?.trim()}`),
      posts: slack.posts.map(({ channel, text }) => `${channel}: ${text}`),
      sent: google.sent.length,
    }),
    async [Symbol.asyncDispose]() {
      await Promise.all([model.close(), google.close(), slack.close()])
      here[Symbol.dispose]()
    },
  }
}

/** What has left when the errand is done, each once. */
export const DONE = { drafts: [`ana@example.com: ${DECISIONS}`], posts: [`C0000001: Decisions for <@U0000001>: ${LINK}`], sent: 0 }
