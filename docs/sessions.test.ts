/** The command with its sessions in PostgreSQL, as docs/sessions.md has it. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { say, scriptedModel } from '@mulligan/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { postgres, stopPostgres } from '../packages/agent/src/store/dialects.fixture.ts'
import { hasPostgres, PASSWORD } from '../packages/agent/src/store/postgres.fixture.ts'
import { place, runShell } from './run.fixture.ts'

describe.skipIf(!hasPostgres)('sessions in PostgreSQL', () => {
  afterAll(stopPostgres)

  it('are there for every command, by a variable or the user’s own file, and the password is nowhere', async () => {
    using here = place()
    await using model = await scriptedModel([say('Hello.'), say('Again.')])
    const url = await (await postgres()).database()
    const secrets = [PASSWORD, encodeURIComponent(PASSWORD)]
    const shell = async (command: string): Promise<{ readonly code: number | null; readonly stdout: string }> => {
      const ended = await runShell(command, here.dir)
      for (const secret of secrets) expect(ended.stdout).not.toContain(secret)
      return ended
    }
    const using = `--model scripted --base-url ${model.url}`

    expect(await shell(`MULLIGAN_STORE='${url}' mulligan run ${using} Hi`)).toMatchObject({ code: 0 })
    expect(JSON.parse((await shell(`MULLIGAN_STORE='${url}' mulligan sessions list --json`)).stdout).sessions).toMatchObject([
      { prompt: 'Hi' },
    ])
    expect(existsSync(join(here.dir, '..', 'data', 'mulligan.db'))).toBe(false)
    expect((await shell('mulligan sessions list')).stdout).toBe('There are no sessions in this folder yet.\n')

    here.write('../.config/mulligan/config.json', JSON.stringify({ store: url }))
    expect(await shell(`mulligan run --last ${using} 'And now?'`)).toMatchObject({ code: 0, stdout: expect.stringContaining('Again.') })
    expect((await shell('mulligan sessions show --last')).stdout).toContain('2 turns')
    expect((await shell('mulligan config get store')).stdout).toContain('[secret]')
    expect((await shell('mulligan config show')).stdout).toContain('postgres://[secret]@')
    expect(await shell('mulligan sessions repair')).toMatchObject({ code: 2, stdout: expect.stringContaining('kept in PostgreSQL') })
    const refused = await shell(`MULLIGAN_STORE='${url.replace('ann', 'bob')}' mulligan sessions list`)
    expect(refused).toMatchObject({ code: 2, stdout: expect.stringMatching(/refused the login.*\n.*set by MULLIGAN_STORE/) })
  })
})
