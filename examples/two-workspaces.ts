/** Two workspaces at once in one process, each with a folder, settings and a model of its own. node examples/two-workspaces.ts */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openWorkspace } from '@mulligan/host'
import { call, say, scriptedModel } from '@mulligan/testing'

const home = mkdtempSync(join(tmpdir(), 'two-workspaces-'))

/** One turn in a folder of its own. The model is a scripted one, over real HTTP. */
async function turnOf(name: string): Promise<string> {
  const cwd = mkdtempSync(join(home, `${name}-`))
  await using model = await scriptedModel([call('write_file', { path: 'name.txt', content: name }), say(`This is ${name}.`)])
  writeFileSync(join(cwd, 'mulligan.json'), JSON.stringify({ model: name, baseUrl: model.url }))
  await using workspace = await openWorkspace({
    cwd,
    env: { HOME: home },
    yes: true,
    report: ({ text }) => console.error(`${name}: ${text}`),
  })
  const { answer } = await workspace.run('Write down where you are.')
  return `${workspace.choice.configured.model.id}: ${answer} name.txt says ${readFileSync(join(cwd, 'name.txt'), 'utf8')}`
}

for (const line of await Promise.all([turnOf('left'), turnOf('right')])) console.log(line)
