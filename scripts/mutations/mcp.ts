/** The rules of the proxy in front of MCP servers. */
import type { Mutation } from './mutation.ts'

const PROXY_TEST = 'packages/mcp/src/proxy/proxy.test.ts'
const CALLS = 'packages/mcp/src/proxy/calls.ts'

export const MCP: readonly Mutation[] = [
  {
    id: 'mcp-doubt-is-kept',
    rule: 'proxy: a call with effects that was cut off is not made again',
    file: CALLS,
    find: `if (call.intent !== undefined) journal?.doubt(call.intent)`,
    replace: `if (call.intent !== undefined) journal?.settle(call.intent)`,
    test: { file: PROXY_TEST, name: 'a call with effects that was cut off' },
  },
  {
    id: 'mcp-intent-is-first',
    rule: 'proxy: a call with effects is on record before it is sent',
    file: CALLS,
    find: `call: { ...call, intent: journal.intend({ server, tool: name, key, input: text }) } })`,
    replace: `call })`,
    test: { file: PROXY_TEST, name: 'is unknown after a kill of the proxy' },
  },
  {
    id: 'mcp-no-annotation-is-effectful',
    rule: 'proxy: a tool that does not say that it only reads is taken to have effects',
    file: 'packages/mcp/src/proxy/catalog.ts',
    find: `saysReadOnly = isRecord(annotations) && annotations['readOnlyHint'] === true`,
    replace: `saysReadOnly = !isRecord(annotations) || annotations['readOnlyHint'] !== false`,
    test: { file: PROXY_TEST, name: 'a call with effects that was cut off' },
  },
  {
    id: 'mcp-replay-is-chosen',
    rule: 'proxy: a call is sent to a new server again only if the person says that is safe',
    file: 'packages/mcp/src/proxy/proxy.ts',
    find: `(safe.includes(call.tool) || (trustAnnotations && call.listed?.saysReadOnly === true))`,
    replace: `call.listed?.saysReadOnly === true`,
    test: { file: PROXY_TEST, name: 'is started again and told what' },
  },
  {
    id: 'mcp-one-answer',
    rule: 'proxy: a request is answered once',
    file: 'packages/mcp/src/proxy/proxy.ts',
    find: `else if (!calls.late(answer)) options.onEvent?.(`,
    replace: `else tell(line)\n    if (!one && !calls.late(answer)) options.onEvent?.(`,
    test: { file: PROXY_TEST, name: 'is answered once' },
  },
  {
    id: 'mcp-progress-has-a-limit',
    rule: 'proxy: progress moves the deadline of a call only up to the limit',
    file: 'packages/mcp/src/proxy/requests.ts',
    find: `Math.min(clock.now() + timeout, one.latest)`,
    replace: `clock.now() + timeout`,
    test: { file: PROXY_TEST, name: 'goes on while it reports progress' },
  },
  {
    id: 'mcp-output-is-bounded',
    rule: 'proxy: a result is shortened to the maximum, and the rest can be read',
    file: CALLS,
    find: `boundResult(result, call.listed?.outputSchema, maxOutput, outputs.keep)`,
    replace: `boundResult(result, call.listed?.outputSchema, Number.POSITIVE_INFINITY, outputs.keep)`,
    test: { file: PROXY_TEST, name: 'that is too long is shortened' },
  },
  {
    id: 'mcp-errors-are-no-faults',
    rule: 'proxy: the breaker counts faults of the server, not errors of its tools',
    file: CALLS,
    find: `breakers.success(server)\n    if (call`,
    replace: `if (isFinal(result) && result.isError === true) breakers.fault(server, clock.now())\n    else breakers.success(server)\n    if (call`,
    test: { file: PROXY_TEST, name: 'after several faults in a row' },
  },
  {
    id: 'mcp-loop-is-closed',
    rule: 'proxy: a call with the same result again and again is closed for a while',
    file: 'packages/mcp/src/proxy/repeats.ts',
    find: `seen && seen.count >= CLOSE_AT ?`,
    replace: `seen && seen.count < 0 ?`,
    test: { file: PROXY_TEST, name: 'a call with the same result is told' },
  },
  {
    id: 'mcp-secrets-are-hidden',
    rule: 'proxy: the values of secret variables do not reach the client or the record',
    file: 'packages/cli/src/commands/mcp/secrets.ts',
    find: `written.reduce((rest, secret) =>`,
    replace: `[].reduce((rest, secret) =>`,
    test: { file: 'packages/cli/src/commands/mcp/secrets.test.ts', name: 'are removed' },
  },
  {
    id: 'mcp-environment-is-minimal',
    rule: 'proxy: a server gets only the variables that programs need',
    file: 'packages/cli/src/commands/mcp/environment.ts',
    find: `PASSED.test(name) && value`,
    replace: `value`,
    test: { file: 'packages/cli/src/commands/mcp/secrets.test.ts', name: 'has the variables that programs need' },
  },
]
