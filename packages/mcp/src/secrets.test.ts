import { describe, expect, it } from 'vitest'
import { serverEnv } from './environment.ts'
import { secretsIn, secretsOfHeaders, withoutSecrets } from './secrets.ts'

describe('the environment of a server', () => {
  it('has the variables that programs need, and those that the person names', () => {
    const env = { PATH: '/bin', LC_ALL: 'C', OPENAI_API_KEY: 'sk-1234567890', AWS_PROFILE: 'work', MULLIGAN_MODEL: 'm' }
    expect(serverEnv(env, { DB: 'postgres://' })).toEqual({ PATH: '/bin', LC_ALL: 'C', DB: 'postgres://' })
  })
})

describe('secrets', () => {
  it('are the values of variables and headers that are named so', () => {
    expect(secretsIn({ API_KEY: 'sk-1234567890', PATH: '/usr/local/bin', PASSWORD: 'short' })).toEqual(['sk-1234567890'])
    expect(secretsOfHeaders({ Authorization: 'Bearer abcdefgh', Accept: 'application/json' })).toEqual(['Bearer abcdefgh', 'abcdefgh'])
  })

  it('are removed also where JSON escapes them, the longest first', () => {
    const redact = withoutSecrets(['abcdefgh', 'abcdefgh "and more"'])
    expect(redact(`{"text":"abcdefgh \\"and more\\" abcdefgh"}`)).toBe('{"text":"[secret] [secret]"}')
  })
})
