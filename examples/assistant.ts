/**
 * An assistant over notes, Google and Slack: it finds a note, saves a draft and posts to a channel, once a person has seen each.
 * Google, Slack and the model are stand-ins, over real HTTP. node examples/assistant.ts
 */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openWorkspace } from '@mulligan/host'
import { call, say, scriptedModel, strictGoogle, strictSlack } from '@mulligan/testing'

const home = mkdtempSync(join(tmpdir(), 'assistant-'))
const vault = join(home, 'Notes')
mkdirSync(vault)
writeFileSync(join(vault, 'Planning 2026-11-20.md'), '# Planning of Friday\n\n## Decisions\n\nWe ship on 1 December.\n')

await using google = await strictGoogle()
await using slack = await strictSlack({ channels: [{ id: 'C0000001', name: 'team' }] })
await using model = await scriptedModel([
  call('search_notes', { query: 'planning friday' }),
  call('read_note', { name: 'Planning 2026-11-20' }),
  call('draft_email', { to: ['ana@example.com'], subject: 'Decisions of Friday', body: 'We ship on 1 December.' }),
  call('post_slack_message', { channel: '#team', text: 'The decisions of Friday are out.' }),
  say('Done.'),
])

// What `mulligan auth google` stores.
const data = join(home, 'data')
mkdirSync(data, { mode: 0o700 })
writeFileSync(join(data, 'google.json'), JSON.stringify(google.issuer.login()), { mode: 0o600 })

await using workspace = await openWorkspace({
  cwd: home,
  env: {
    HOME: home,
    MULLIGAN_DATA_DIR: data,
    MULLIGAN_NOTES_VAULT: vault,
    GOOGLE_API_URL: google.url,
    SLACK_BOT_TOKEN: 'xoxb-test',
    SLACK_API_URL: slack.api,
  },
  flags: { model: 'scripted', baseUrl: model.url },
  // A person would look at `diff`, which is exactly what leaves.
  async approve({ request, diff }) {
    console.log(`${request.tool}?`)
    console.log(diff)
    return { answer: 'once' }
  },
})
const { answer } = await workspace.run("Find the notes of Friday's planning, mail Ana a draft of the decisions, and tell #team.")
console.log(`${answer} ${google.drafts().length} draft, ${slack.posts.length} post, ${google.sent.length} sent`)
