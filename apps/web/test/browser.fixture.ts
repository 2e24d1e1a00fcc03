/** Opens the built page in Chromium, served by a real server with a scripted model. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type ScriptedTurn, scriptedModel } from '@mulligan/testing'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { place } from '../../../packages/host/src/common/place.fixture.ts'
import { type ServeOptions, type Server, serve } from '../../../packages/server/src/serve.ts'

const CHROMIUM = '/usr/bin/chromium'
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run']
FLAGS.push('--disable-background-networking', '--disable-component-update', '--disable-sync')

export const BUILT = fileURLToPath(new URL('../../../packages/server/dist/web/', import.meta.url))

/** CI has to run these tests; elsewhere they need an installed browser. */
export const hasBrowser = process.env['CI'] !== undefined || existsSync(CHROMIUM)

export function launch(): Promise<Browser> {
  if (!existsSync(`${BUILT}index.html`)) throw new Error('The page is not built: npm run build')
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
}

export interface Site extends AsyncDisposable {
  readonly server: Server
  readonly model: Awaited<ReturnType<typeof scriptedModel>>
  readonly context: BrowserContext
  readonly dir: string
  /** What the pages reported: errors of scripts, and what the content security policy refused. */
  readonly problems: string[]
  readonly call: (method: string, path: string, body?: unknown) => Promise<unknown>
  /** Creates a session with the scripted model. @returns its id */
  readonly session: (title?: string) => Promise<string>
  /** Opens a page of the site, such as `#/s/ID`. */
  readonly open: (hash?: string) => Promise<Page>
}

/** @param browser undefined: without a page */
export async function site(
  browser: Browser | undefined,
  turns: Parameters<typeof scriptedModel>[0] | readonly ScriptedTurn[],
  files: Readonly<Record<string, string>> = {},
  options: Partial<ServeOptions> = {},
): Promise<Site> {
  const here = place(files)
  const model = await scriptedModel(turns as Parameters<typeof scriptedModel>[0])
  const env = { PATH: process.env['PATH'] ?? '', HOME: here.root, MULLIGAN_DATA_DIR: here.data }
  const server = await serve({ ...options, env, port: 0 })
  const context = (await browser?.newContext({ viewport: { width: 1280, height: 800 } })) as BrowserContext
  const problems: string[] = []

  async function call(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(`${server.url}/api${path}`, {
      method,
      headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }

  return {
    ...{ server, model, context, problems, call, dir: here.dir },
    session: async (title) => {
      const settings = { cwd: here.dir, model: 'scripted', baseUrl: model.url, mode: 'ask', ...(title !== undefined && { title }) }
      return ((await call('POST', '/sessions', settings)) as { id: string }).id
    },
    open: async (hash = '#/') => {
      const page = await context.newPage()
      page.on('pageerror', (error) => problems.push(error.message))
      page.on('console', (message) => {
        if (message.type() === 'error') problems.push(message.text())
      })
      page.on('dialog', (dialog) => {
        problems.push(`dialog: ${dialog.message()}`)
        void dialog.dismiss()
      })
      await page.goto(`${server.url}/#token=${server.token}`)
      await page.getByRole('navigation', { name: 'Sessions' }).waitFor()
      await page.evaluate((to) => {
        location.hash = to
      }, hash)
      return page
    },
    [Symbol.asyncDispose]: async () => {
      await context?.close()
      await server.close()
      await model[Symbol.asyncDispose]()
      here[Symbol.dispose]()
    },
  }
}
