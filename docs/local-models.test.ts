/** The page about local models is held against the servers and profiles that there are. */
import { describe, expect, it } from 'vitest'
import { modelFields } from '../packages/host/src/models/model-fields.ts'
import { thinkingLimit } from '../packages/host/src/models/open.ts'
import { localServers } from '../packages/host/src/models/probe.ts'
import { PROFILES } from '../packages/host/src/models/profiles.ts'
import { pageText, tableUnder } from './page.fixture.ts'

describe('docs/local-models.md', () => {
  const page = pageText('docs/local-models.md')

  it('every server that is looked for, in order, at its address', async () => {
    const servers = await localServers()
    expect(tableUnder(page, 'Servers').map((cells) => cells.slice(0, 4))).toEqual(
      servers.map(({ provider, title, address, variable }) => [provider, title, address({}), variable]),
    )
  })

  it('every profile', () => {
    const sampled = (sampling: object) =>
      Object.entries(sampling)
        .map(([key, value]) => `${key} ${value}`)
        .join(', ')
    expect(tableUnder(page, 'Profiles')).toEqual(
      PROFILES.map(({ name, sampling, families, thinks, tools }) => [
        name,
        sampling ? sampled(sampling) : 'server default',
        families?.join(' ') ?? 'all',
        thinks,
        tools ? 'yes' : '',
      ]),
    )
  })

  it('every setting of a model, and its default', () => {
    const told = tableUnder(page, 'Settings of a model').flatMap(([keys = '']) => keys.split(', '))
    expect(told).toEqual(Object.keys(modelFields().shape).toSorted((a, b) => told.indexOf(a) - told.indexOf(b)))
    expect([thinkingLimit(1_000_000).toLocaleString('en'), thinkingLimit(8192)]).toEqual(['8,192', 2048])
  })
})
