/** The page in a real browser, with a real server behind it. */
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { call, calls, say } from '@mulligan/testing'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BUILT, hasBrowser, launch, site } from './browser.fixture.ts'

let browser: Browser
beforeAll(async () => {
  if (hasBrowser) browser = await launch()
})
afterAll(() => browser?.close())

const BUDGET = { 'budget.md': '# Budget\n\nTools: 4,500\n' }
const EDIT = call('edit_file', { path: 'budget.md', edits: [{ old_text: 'Tools: 4,500', new_text: 'Tools: 5,500' }] })

async function send(page: Page, text: string): Promise<void> {
  const field = page.getByRole('textbox', { name: 'Message' })
  await field.fill(text)
  await field.press('Enter')
}

/** A line of 900 kB, in pieces: the engine cuts a reply at 1 MB, and stops a model that repeats itself. */
const longLine = (): string[] =>
  Array.from({ length: 18 }, (_, at) =>
    Array.from({ length: 6250 }, (_, n) => ((at * 6250 + n) * 2_654_435_761).toString(36).slice(-8).padStart(8, 'x')).join(''),
  )

const answered = (page: Page, n = 0) => page.getByText('Answered', { exact: true }).nth(n).waitFor()

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The serious faults that axe finds, by rule and place. */
async function faults(page: Page): Promise<readonly string[]> {
  // The policy of the page forbids added scripts; this evaluates it from outside.
  await page.evaluate(AXE)
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run: () => Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> }
    }
    return (await axe.run()).violations
  })
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`))
}

describe.skipIf(!hasBrowser)('the page in Chromium', () => {
  it('sends a message and streams the answer, with repairs and hints of its calls', async () => {
    await using here = await site(
      browser,
      [
        calls(['read_file', { path: 'budgets.md' }], ['read_file', '{"path": "budget.md", "limit": "50",}']),
        say(['The budget for **tools** ', 'is 4,500.']),
      ],
      BUDGET,
    )
    const page = await here.open(`#/s/${await here.session()}`)
    await send(page, 'How much for tools?')
    await answered(page)
    expect(await page.locator('.prose strong').textContent()).toBe('tools')
    expect(await page.getByText('There is no file "budgets.md".').count()).toBe(1)
    await page.getByRole('button', { name: /read_file budget\.md repaired/ }).click()
    await page.getByRole('tab', { name: 'Repairs 2' }).click()
    expect(await page.getByText('a trailing comma').count()).toBe(1)
    await page.getByRole('tab', { name: 'What the model read' }).click()
    expect(await page.getByRole('tabpanel').textContent()).toContain('Tools: 4,500')
    expect(here.problems).toEqual([])
  })

  it('shows what an approval would do, and does that', async () => {
    await using here = await site(browser, [EDIT, say('Raised.')], BUDGET)
    const page = await here.open(`#/s/${await here.session()}`)
    await send(page, 'Raise it.')
    const question = page.getByRole('region', { name: /Allow edit_file on budget\.md/ })
    await question.waitFor()
    expect(await question.locator('tr.add .line').textContent()).toBe('Tools: 5,500')
    expect(readFileSync(join(here.dir, 'budget.md'), 'utf8')).toContain('4,500')
    await question.getByRole('button', { name: 'Always…' }).click()
    expect(await question.locator('.rule pre').first().textContent()).toContain('edit_file')
    await question.getByRole('button', { name: 'Back' }).click()
    await question.getByRole('button', { name: 'Allow once' }).click()
    await answered(page)
    expect(readFileSync(join(here.dir, 'budget.md'), 'utf8')).toContain('5,500')
    const ledger = page.getByRole('region', { name: 'What this turn did' })
    expect(await ledger.textContent()).toContain('budget.md')
    await ledger.getByRole('button', { name: 'Undo changes' }).click()
    await ledger.getByRole('button', { name: 'Undo', exact: true }).click()
    await ledger.getByText('undone').waitFor()
    expect(readFileSync(join(here.dir, 'budget.md'), 'utf8')).toContain('4,500')
    expect(here.problems).toEqual([])
  })

  it('shows each change of a command under the name of its file', async () => {
    const command = 'sed -i s/4,500/5,900/ budget.md && echo built > out.txt'
    await using here = await site(browser, [call('bash', { command }), say('Done.')], BUDGET)
    const page = await here.open(`#/s/${await here.session()}`)
    await send(page, 'Raise it.')
    const question = page.getByRole('region', { name: /Allow bash/ })
    await question.waitFor()
    const lines = await question.locator('tr').evaluateAll((rows) => rows.map((row) => row.className + row.textContent))
    expect(lines.filter((line) => line.startsWith('file'))).toEqual([
      'filediff --git a/budget.md b/budget.md',
      'filediff --git a/out.txt b/out.txt',
      'filenew file mode 100644',
    ])
    expect(lines.at(-1)).toBe('add1+built')
  })

  it('says why a turn failed once, and why it was stopped', async () => {
    const again = call('read_file', { path: 'budget.md' })
    const wrong = say('', { fault: { status: 400, message: 'No such model here.' } })
    await using here = await site(browser, [wrong, ...Array.from({ length: 9 }, () => again)], BUDGET)
    const page = await here.open(`#/s/${await here.session()}`)
    await send(page, 'First.')
    await page.getByText('Failed', { exact: true }).waitFor()
    expect(await page.getByText('No such model here.').count()).toBe(1)
    await send(page, 'Again.')
    await page.getByText('Stopped: it repeated itself').waitFor()
  })

  it('keeps numbers of a table whole, and its end in view, on a narrow screen', async () => {
    const row = '| A very long name of an item that has to wrap on a narrow screen | 4,500 | 45% |'
    await using here = await site(browser, [say(`Long.\n\n${'- one\n'.repeat(60)}\n| item | amount | share |\n|---|--:|--:|\n${row}`)])
    const page = await here.open(`#/s/${await here.session()}`)
    await send(page, 'A table.')
    await answered(page)
    await page.setViewportSize({ width: 360, height: 700 })
    const amount = page.getByRole('cell', { name: '4,500' })
    const height = await amount.evaluate((cell) => {
      const range = document.createRange()
      range.selectNodeContents(cell)
      return range.getClientRects().length
    })
    expect(height).toBe(1)
    await expect
      .poll(() => page.getByText('Answered', { exact: true }).evaluate((end) => end.getBoundingClientRect().bottom < innerHeight))
      .toBe(true)
  })

  it('closes the menu of a session by itself, and a rename with Escape', async () => {
    await using here = await site(browser, [say('One.')])
    const page = await here.open(`#/s/${await here.session('Old name')}`)
    const menu = page.locator('details.menu')
    const isOpen = () => menu.evaluate((element) => (element as HTMLDetailsElement).open)
    await page.getByLabel('More').click()
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('textbox', { name: 'Title' }).press('Escape')
    await page.getByRole('heading', { name: 'Old name' }).waitFor()
    expect(await isOpen()).toBe(false)
    await page.getByLabel('More').click()
    await page.getByRole('textbox', { name: 'Message' }).click()
    expect(await isOpen()).toBe(false)
  })

  it('starts with Enter, and says which folder is wrong', async () => {
    await using here = await site(browser, [say('One.')])
    const page = await here.open()
    await page.getByLabel('Folder').fill('/nowhere/at/all')
    await page.getByLabel('First message').fill('Hello')
    await page.getByLabel('First message').press('Enter')
    await page.getByText('/nowhere/at/all is not a folder on the server.').waitFor()
  })

  it('denies with a reason that the model reads', async () => {
    await using here = await site(browser, [EDIT, say('Left as it is.')], BUDGET)
    const page = await here.open(`#/s/${await here.session()}`)
    await send(page, 'Raise it.')
    await page.getByRole('button', { name: 'Deny…' }).click()
    await page.getByLabel('Why not? The model reads this.').fill('not before Friday')
    await page.keyboard.press('Enter')
    await answered(page)
    expect(JSON.stringify(here.model.requests.at(-1))).toContain('not before Friday')
    expect(await page.getByText('not before Friday').count()).toBeGreaterThan(0)
    expect(readFileSync(join(here.dir, 'budget.md'), 'utf8')).toContain('4,500')
  })

  it('stops a turn', async () => {
    await using here = await site(browser, [say('Never to be read.', { fault: { hang: 'before-body' } })])
    const page = await here.open(`#/s/${await here.session()}`)
    await send(page, 'Think.')
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Stopped by you').waitFor()
  })

  it('loses nothing when it is reloaded while an answer streams', async () => {
    const pieces = Array.from({ length: 40 }, (_, n) => `piece ${n}. `)
    await using here = await site(browser, [say(pieces, { fault: { slow: 0, perChunk: 60 } })])
    const page = await here.open(`#/s/${await here.session()}`)
    await send(page, 'Tell me.')
    await page.getByText(/piece 5\./).waitFor()
    await page.reload()
    // What was written before the reload is there before the turn has ended.
    await page.getByText(/^piece 0\. piece 1\. .*piece 5\./).waitFor()
    await answered(page)
    expect((await page.locator('.prose').textContent())?.trim()).toBe(pieces.join('').trim())
    await page.reload()
    await answered(page)
    expect((await page.locator('.prose').textContent())?.trim()).toBe(pieces.join('').trim())
  })

  it('shows a turn as a timeline, and opens a call in it', async () => {
    await using here = await site(browser, [call('read_file', '{"path": "budget.md",}'), say('4,500.')], BUDGET)
    const page = await here.open(`#/s/${await here.session()}`)
    await send(page, 'How much?')
    await answered(page)
    await page.getByRole('link', { name: 'Timeline' }).first().click()
    const row = page.getByRole('button', { name: /read_file budget\.md .*running .*repaired: a trailing comma/ })
    await row.click()
    expect(await page.getByRole('tab', { name: 'Input' }).count()).toBe(1)
    expect(await page.locator('.rows .bar.request').count()).toBe(2)
    expect(await faults(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await page.getByRole('textbox', { name: 'Message' }).waitFor()
  })

  it('shows a turn in two tabs, and a question that one of them answers', async () => {
    await using here = await site(browser, [EDIT, say('Raised.')], BUDGET)
    const id = await here.session()
    const [one, two] = [await here.open(`#/s/${id}`), await here.open(`#/s/${id}`)]
    await send(one, 'Raise it.')
    await two.getByRole('button', { name: 'Allow once' }).waitFor()
    await one.getByRole('button', { name: 'Allow once' }).click()
    await Promise.all([answered(one), answered(two)])
    expect(await two.getByRole('button', { name: 'Allow once' }).count()).toBe(0)
  })

  it('shows hostile text of models, tools and file names as text', async () => {
    const script = '<script>alert(1)</script><img src=x onerror=alert(1)>'
    const name = 'a\u202egnp.<img src=x onerror=alert(1)>'
    await using here = await site(
      browser,
      [
        calls(['read_file', { path: name }], ['glob', { pattern: '*' }]),
        say([`${script} \u001b[31mred [x](javascript:alert(1)) ![i](http://127.0.0.1:1/x.png)\n\n`, ...longLine()]),
      ],
      { [name]: `${script}\u001b]0;title\u0007 ${'B'.repeat(5_000_000)}` },
    )
    const page = await here.open(`#/s/${await here.session(script)}`)
    await send(page, script)
    await answered(page)
    expect(await page.locator('.prose').first().textContent()).toContain(`${script} ␛[31mred`)
    await page.getByRole('button', { name: /^↻?✓?\s*read_file/ }).click()
    await page.getByRole('tab', { name: 'What the model read' }).click()
    expect(await page.getByRole('tabpanel').textContent()).toContain(script)
    expect(await page.locator('main img, main script, main [href^="javascript:"]').count()).toBe(0)
    expect(await page.locator('body').textContent()).not.toMatch(/[\u001b\u202e]/)
    // The page still reacts: a line of megabytes is not laid out.
    await page.getByRole('button', { name: /Show more \(898 k characters left\)/ }).waitFor()
    expect(here.problems).toEqual([])
  })

  it('has no serious fault of accessibility, in dark and light, wide and narrow', async () => {
    await using here = await site(browser, [calls(['read_file', { path: 'no.md' }], ['read_file', { path: 'budget.md' }]), EDIT], BUDGET)
    const page = await here.open(`#/s/${await here.session()}`)
    await send(page, 'Raise it.')
    await page.getByRole('button', { name: 'Allow once' }).waitFor()
    const { hash } = new URL(page.url())
    for (const colorScheme of ['light', 'dark'] as const)
      for (const width of [1280, 360]) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize({ width, height: 740 })
        for (const to of [hash, '#/', '#/reliability']) {
          await page.evaluate((next) => {
            location.hash = next
          }, to)
          await page.locator(to === hash ? '.approval' : to === '#/' ? '.start' : '.tiles').waitFor()
          expect([colorScheme, width, to, await faults(page)]).toEqual([colorScheme, width, to, []])
          const overflows = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
          expect([width, to, overflows]).toEqual([width, to, false])
        }
      }
    expect(here.problems).toEqual([])
  })

  it('is used with the keyboard: search, move, open, help', async () => {
    await using here = await site(browser, [say('One.')])
    await here.session('Budget of October')
    await here.session('Minutes of November')
    const page = await here.open()
    const list = page.getByRole('navigation', { name: 'Sessions' })
    await list.getByText('Minutes of November').waitFor()
    await page.locator('body').press('/')
    await page.keyboard.type('October')
    await list.getByText('Minutes of November').waitFor({ state: 'detached' })
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Budget of October' }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('c')
    await page.keyboard.type('Hello')
    await page.keyboard.press('Enter')
    await answered(page)
  })

  it('asks for a token that is missing or wrong, and keeps it out of the address', async () => {
    await using here = await site(browser, [say('One.')])
    const page = await here.open()
    expect(page.url()).not.toContain(here.server.token)
    const other = await here.context.newPage()
    await other.goto(`${here.server.url}/#token=wrong`)
    await other.getByLabel('Access token').fill(here.server.token)
    await other.getByRole('button', { name: 'Continue' }).click()
    await other.getByRole('navigation', { name: 'Sessions' }).waitFor()
  })
})

it('is at most 250 kB, gzipped, and needs nothing inline', () => {
  const files = readdirSync(BUILT, { recursive: true, encoding: 'utf8' }).filter((path) => /\.\w+$/.test(path))
  const size = files.reduce((sum, path) => sum + gzipSync(readFileSync(join(BUILT, path))).byteLength, 0)
  expect(size).toBeLessThan(250_000)
  expect(readFileSync(join(BUILT, 'index.html'), 'utf8')).not.toMatch(/<style|<script(?![^>]* src=)|\sstyle=|\son\w+=/)
  expect(files.filter((path) => path.startsWith('assets/') && !/-[\w-]{8}\.\w+$/.test(path))).toEqual([])
})
