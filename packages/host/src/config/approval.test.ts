import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { place, type TestFolders } from '../common/place.fixture.ts'
import { readSettings } from './settings.ts'

const PROJECT = 'mulligan.json'

/** Returns the effective settings of a folder, with a configuration file of the user. */
function settings(
  here: TestFolders,
  own: unknown,
  { flag, env = {} }: { readonly flag?: string; readonly env?: Record<string, string> } = {},
) {
  here.write('../own.json', JSON.stringify(own))
  const { approval } = readSettings(here.dir, flag === undefined ? {} : { mode: flag }, {
    MULLIGAN_CONFIG: join(here.dir, '../own.json'),
    ...env,
  })
  const values = (rules: typeof approval.rules) => rules.map(({ value }) => value.target)
  return { mode: approval.mode.value, from: approval.mode.from, rules: values(approval.rules), project: values(approval.projectRules) }
}

describe('the mode', () => {
  it.each([
    [undefined, undefined, 'ask'],
    [undefined, 'auto', 'ask'],
    [undefined, 'read-only', 'read-only'],
    ['auto', undefined, 'auto'],
    ['auto', 'auto-edit', 'auto-edit'],
    ['read-only', 'auto', 'read-only'],
    ['auto-edit', 'auto', 'auto-edit'],
  ])('of the person %s and the project %s: %s', (own, project, mode) => {
    using here = place({ [PROJECT]: JSON.stringify({ mode: project }) })
    expect(settings(here, { mode: own }).mode).toBe(mode)
  })

  it('a flag overrides the environment, and that above both files', () => {
    using here = place({ [PROJECT]: '{ "mode": "read-only" }' })
    const env = { MULLIGAN_MODE: 'auto-edit' }
    expect(settings(here, {}, { env })).toMatchObject({ mode: 'auto-edit', from: 'MULLIGAN_MODE' })
    expect(settings(here, {}, { env, flag: 'auto' })).toMatchObject({ mode: 'auto', from: '--mode' })
  })

  it('that there is not', () => {
    using here = place()
    expect(() => settings(here, {}, { flag: 'yolo' })).toThrow('there is no mode "yolo"')
    expect(() => settings(here, {}, { env: { MULLIGAN_MODE: 'auto-edits' } })).toThrow(
      'MULLIGAN_MODE=auto-edits: it may be read-only, ask, auto-edit, auto',
    )
  })
})

describe('rules', () => {
  const rule = (decision: string, target: string, more = {}) => ({ decision, target, ...more })

  it('of the project are its own, and make it stricter', () => {
    using here = place({ [PROJECT]: JSON.stringify({ policy: [rule('deny', 'p')] }) })
    expect(settings(here, { policy: [rule('allow', 'o')] })).toMatchObject({ rules: ['o'], project: ['p'] })
  })

  it('of a project allow nothing, unless the person trusts it', () => {
    using here = place({ [PROJECT]: JSON.stringify({ mode: 'auto', policy: [rule('deny', 'p'), rule('allow', 'q')] }) })
    expect(() => settings(here, {})).toThrow(`${PROJECT}: policy[1] allows calls, which a project can't decide`)
    expect(() => settings(here, { trustedProjects: [join(here.dir, '..')] })).toThrow("can't decide")
    expect(settings(here, { policy: [rule('allow', 'o')], trustedProjects: [here.dir] })).toMatchObject({
      mode: 'auto',
      rules: ['o', 'p', 'q'],
      project: ['p', 'q'],
    })
  })

  it('nor can a project say that it is trusted', () => {
    using here = place({ [PROJECT]: JSON.stringify({ trustedProjects: ['/'] }) })
    expect(() => settings(here, {})).toThrow('trustedProjects decides which projects you trust')
  })

  it('hold in their folder', () => {
    using here = place()
    const rules = [
      rule('allow', 'here', { folder: here.dir }),
      rule('allow', 'above', { folder: join(here.dir, '..') }),
      rule('allow', 'root', { folder: '/' }),
      rule('allow', 'beside', { folder: here.dir.slice(0, -1) }),
      rule('allow', 'below', { folder: join(here.dir, 'x') }),
      rule('allow', 'everywhere'),
    ]
    expect(settings(here, { policy: rules }).rules).toEqual(['here', 'above', 'root', 'everywhere'])
  })

  it.each([
    [{ decision: 'maybe' }, 'policy[0].decision'],
    [{ tool: 'bash' }, 'policy[0].decision'],
    [{ decision: 'allow', targe: 'x' }, 'there is no key "targe" in policy[0]; did you mean "target"?'],
    [{ decision: 'allow', folder: 'src' }, 'policy[0].folder: an absolute path'],
    [{ decision: 'allow', input: { command: 1 } }, 'policy[0].input.command'],
  ])('%j', (wrong, says) => {
    using here = place()
    expect(() => settings(here, { policy: [wrong] })).toThrow(says)
  })
})
