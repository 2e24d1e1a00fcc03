/** The happy path on `emulate`, emulators of Google and Slack that others wrote. Faults and refusals are left to the strict stand-ins. */
import { createEmulator } from 'emulate'
import { OAuth2Client } from 'google-auth-library'
import { expect, it } from 'vitest'
import { caller } from './call.fixture.ts'
import { googleTools } from './google/index.ts'
import { slackTools } from './slack/index.ts'

const ME = 'testuser@example.com'

it('Google: mail, files and events are found, a draft is saved and sent, an event created', async () => {
  const google = await createEmulator({
    service: 'google',
    port: 0,
    seed: {
      tokens: { ya29: { login: ME, scopes: [] } },
      google: {
        users: [{ email: ME, name: 'Test User' }],
        messages: [
          {
            id: 'a1',
            user_email: ME,
            from: 'ana@example.com',
            to: ME,
            subject: 'Planning',
            body_text: 'We ship.',
            label_ids: ['INBOX', 'UNREAD'],
          },
        ],
        calendars: [{ id: 'primary', user_email: ME, summary: ME, primary: true, selected: true, time_zone: 'UTC' }],
        drive_items: [{ id: 'drv_plan', user_email: ME, name: 'Plan', mime_type: 'text/plain', parent_ids: ['root'] }],
      },
    },
  })
  try {
    const client = new OAuth2Client()
    client.setCredentials({ access_token: 'ya29' })
    const tools = googleTools({ auth: async () => client as never, rootUrl: `${google.url}/` })
    const read = caller(tools)
    expect((await read('list_emails', {})).text).toMatch(/^1 message[\s\S]*id a1[\s\S]*Planning \(unread\)\n {2}We ship\./)
    expect((await read('search_emails', { query: 'planning' })).text).toContain('id a1')
    expect((await read('read_email', { id: 'a1' })).text).toMatch(/From: ana@example\.com[\s\S]*We ship\./)
    expect((await read('search_drive', { query: 'Plan' })).text).toContain('Plan [id drv_plan]')
    const write = caller(tools)
    const draft = await write('draft_email', { to: ['ana@example.com'], subject: 'Decisions', body: 'Ship it.' })
    const id = /draft (\S+)\./.exec(draft.text)?.[1]
    expect((await write('send_draft', { id })).text).toBe('Sent to ana@example.com.')
    const event = { title: 'Lunch', start: '2027-03-01T12:00', time_zone: 'UTC' }
    expect((await write('create_calendar_event', event)).text).toMatch(/^Created: 2027-03-01 12:00–13:00 Lunch/)
    expect((await read('search_emails', { query: 'Decisions' })).text).toMatch(/^1 message/)
  } finally {
    await google.close()
  }
})

it('Slack: a message is posted and read, channels and people are listed', async () => {
  const slack = await createEmulator({
    service: 'slack',
    port: 0,
    seed: {
      slack: {
        team: { name: 'Test', domain: 'test' },
        users: [{ name: 'ana', real_name: 'Ana Silva', email: 'ana@example.com' }],
        channels: [{ name: 'team', topic: 'Work' }],
        bots: [{ name: 'mulligan' }],
      },
    },
  })
  try {
    const tools = slackTools({ token: 'xoxb-test', url: `${slack.url}/api/` })
    expect((await caller(tools)('post_slack_message', { channel: '#team', text: 'Hi @ana' })).text).toMatch(/^Posted to #team/)
    const read = caller(tools)
    expect((await read('list_slack_channels', {})).text).toMatch(/#team \w+: Work/)
    expect((await read('list_slack_users', {})).text).toMatch(/@ana \w+ Ana Silva/)
    expect((await read('get_slack_channel_history', { channel: '#team' })).text).toMatch(/^1 message[\s\S]*Hi @ana/)
  } finally {
    await slack.close()
  }
})
