/** The example with `useChat`, in Chromium, on another origin than its server; and the conversation by curl. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { call, calls, say } from '@mulligan/testing'
import type { Browser, Page } from 'playwright-core'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, launch, type Site, site } from './browser.fixture.ts'

const example = (name: string): string => fileURLToPath(new URL(`../../../examples/${name}`, import.meta.url))

/** Serves the bundled example. */
async function pageServer() {
  const bundle = await rolldown({
    input: example('use-chat.tsx'),
    platform: 'browser',
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
    checks: { moduleLevelDirective: false },
  })
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false })
  await bundle.close()
  const server = createServer((request, response) => {
    const isScript = request.url === '/page.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? output[0].code : '<!doctype html><div id="root"></div><script type="module" src="/page.js"></script>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() }
}

describe.skipIf(!hasBrowser)('useChat in Chromium', () => {
  let browser: Browser
  let pages: Awaited<ReturnType<typeof pageServer>>
  beforeAll(async () => {
    ;[browser, pages] = await Promise.all([launch(), pageServer()])
  })
  afterAll(async () => {
    pages?.close()
    await browser?.close()
  })

  async function open({ server, context }: Site, chat: string): Promise<Page> {
    const page = await context.newPage()
    await page.goto(`${pages.origin}/#url=${server.url}&token=${server.token}&chat=${chat}`)
    await page.getByRole('textbox', { name: 'Message' }).waitFor()
    return page
  }

  async function send(page: Page, text: string): Promise<void> {
    await page.getByRole('textbox', { name: 'Message' }).fill(text)
    await page.getByRole('button', { name: 'Send' }).click()
  }

  const status = (page: Page, text: string) => page.locator('output', { hasText: text }).waitFor()

  it('sends, streams, shows calls, asks, is reloaded in between, and goes on', async () => {
    await using here = await site(
      browser,
      [
        calls(['list_dir', {}], ['read_file', { path: 'nothing' }]),
        say(['It is ', 'empty.']),
        call('write_file', { path: 'a.txt', content: 'hello\n' }),
        say('Written.'),
        call('write_file', { path: 'b.txt', content: 'b\n' }),
        say('As you wish.'),
      ],
      {},
      { allowOrigins: [pages.origin] },
    )
    const id = await here.session()
    let page = await open(here, id)
    await send(page, 'What is here?')
    await page.getByText('It is empty.').waitFor()
    await page.getByText('list_dir: output-available').waitFor()
    await page.getByText('read_file: output-error There is no file').waitFor()
    await status(page, 'ready')

    await send(page, 'Write it.')
    await page.getByText('+hello').waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.getByText('Written.').waitFor()
    expect(readFileSync(join(here.dir, 'a.txt'), 'utf8')).toBe('hello\n')

    await send(page, 'Another.')
    await page.getByRole('button', { name: 'Deny' }).click()
    await page.getByText('As you wish.').waitFor()
    await page.getByText('write_file: output-denied').waitFor()
    const shown = await page.locator('article').allInnerTexts()
    await page.close()
    page = await open(here, id)
    expect(await page.locator('article').allInnerTexts()).toEqual(shown)
    expect([here.model.violations, await page.getByRole('alert').count()]).toEqual([[], 0])
  })

  it('a reload in mid-stream loses nothing, and stop is a call of its own', async () => {
    await using here = await site(
      browser,
      [{ text: ['So far ', 'and no ', 'further'], fault: { hang: 3 } }, say('Again.')],
      {},
      { allowOrigins: [pages.origin] },
    )
    const id = await here.session()
    const page = await open(here, id)
    await send(page, 'Go.')
    await page.getByText('So far').waitFor()
    await page.reload()
    await page.getByText('So far').waitFor()
    await status(page, 'streaming')
    await page.getByRole('button', { name: 'Stop' }).click()
    await status(page, 'ready')
    expect(await page.locator('article').count()).toBe(2)
    await page.getByRole('button', { name: 'Again' }).click()
    await page.getByText('Again.', { exact: true }).waitFor()
    expect(await page.locator('article').count()).toBe(2)
  })

  it('shows the error of a failed turn, and is refused without its origin', async () => {
    await using here = await site(browser, [{ fault: { status: 400, message: 'no such model' } }], {}, { allowOrigins: [pages.origin] })
    const page = await open(here, await here.session())
    await send(page, 'Go.')
    await page.getByRole('alert').filter({ hasText: 'no such model' }).waitFor()
    await using other = await site(browser, [])
    const refused = await other.context.newPage()
    const blocked = refused.waitForEvent('requestfailed')
    await refused.goto(`${pages.origin}/#url=${other.server.url}&token=${other.server.token}&chat=x`)
    expect((await blocked).url()).toContain('/api/chat/x/messages')
  })
})

it('curl alone holds a conversation, with an answer in between', async () => {
  const script = [call('write_file', { path: 'hello.txt', content: 'hello\n' }), say('I wrote hello.'), say('The word hello.')]
  await using here = await site(undefined, script)
  const { stdout } = await promisify(execFile)('/bin/sh', [example('curl-chat.sh'), here.dir], {
    env: { PATH: process.env['PATH'], URL: here.server.url, TOKEN: here.server.token, MODEL: 'scripted', BASE_URL: here.model.url },
  })
  expect(stdout.split('\n').slice(1)).toEqual(['it asks: it changes files', 'ended: I wrote hello.', 'ended: The word hello.', ''])
  expect(readFileSync(join(here.dir, 'hello.txt'), 'utf8')).toBe('hello\n')
})
