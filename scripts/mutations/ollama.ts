/** Rules for Ollama, which cuts prompts that do not fit and is silent while it loads a model. */
import type { Mutation } from './mutation.ts'

const ollama = (file: string): string => `packages/host/src/models/ollama/${file}`
const told = (name: string): Mutation['test'] => ({ file: ollama('ollama.test.ts'), name })

export const OLLAMA: readonly Mutation[] = [
  {
    id: 'ollama-context',
    rule: 'Ollama: every request contains the effective context size',
    file: ollama('body.ts'),
    find: `options: { num_ctx: settings.numCtx, `,
    replace: `options: { num_ctx: 4096, `,
    test: told('thinks, calls, reads results and answers'),
  },
  {
    id: 'ollama-may-not-cut',
    rule: 'Ollama: a prompt that does not fit is refused, not cut',
    file: ollama('body.ts'),
    find: `truncate: false,\n    shift: false,`,
    replace: ``,
    test: told('a newer one refuses it, because it is told to'),
  },
  {
    id: 'ollama-cut-told',
    rule: 'Ollama: a prompt that was cut anyway is reported',
    file: ollama('cut.ts'),
    find: `return read < tokens * DOUBTFUL`,
    replace: `return false`,
    test: told('an older server cuts it, and its count tells'),
  },
  {
    id: 'ollama-less-context',
    rule: 'Ollama: a context smaller than requested is reported',
    file: 'packages/host/src/models/ollama.ts',
    find: `if (contextLength < tokens) warnings.push`,
    replace: `if (contextLength < 0) warnings.push`,
    test: told('a server that gives less context than it was asked for'),
  },
  {
    id: 'ollama-cloud',
    rule: 'trust: a model that a server forwards to a cloud reports where it runs',
    file: 'packages/host/src/models/ollama.ts',
    find: `...(remoteHost !== undefined && { where:`,
    replace: `...(remoteHost === '' && { where:`,
    test: told('a cloud model says where it runs'),
  },
  {
    id: 'model-waited-for',
    rule: 'models: a model that is being loaded is waited for as long as it takes',
    file: 'packages/host/src/models/patient-fetch.ts',
    find: `const { method = 'GET', headers, body, signal } = init`,
    replace: `if (init) return fetch(input, init)\n  const { method = 'GET', headers, body, signal } = init`,
    test: told('may take longer than the built-in fetch waits for an answer'),
  },
  {
    id: 'model-warnings',
    rule: 'models: warnings of a provider reach the user',
    file: 'packages/agent/src/turn/ask.ts',
    find: `await context.emit({ type: 'warning', message })`,
    replace: `void message`,
    test: told('in a turn the person is told, once, and the answer stands'),
  },
]
