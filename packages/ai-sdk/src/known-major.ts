/** Rejects a major version of the AI SDK that this package does not support. */
import type { LanguageModelV4 } from '@ai-sdk/provider'
import { wrapLanguageModel } from 'ai'

const never = (): never => {
  throw new Error('The probe is never called.')
}
const PROBE: LanguageModelV4 = {
  specificationVersion: 'v4',
  provider: 'mulligan',
  modelId: 'probe',
  supportedUrls: {},
  doGenerate: never,
  doStream: never,
}

/**
 * Every major wraps a model as one of its own specification: v4 in AI SDK 7. A major before it ignores settings that it does
 * not know without a word, so that a call that was denied would run.
 * @throws TypeError in another major
 */
export function mustBeKnownMajor(): void {
  const found: string = wrapLanguageModel({ model: PROBE, middleware: { specificationVersion: 'v4' } }).specificationVersion
  if (found !== 'v4')
    throw new TypeError(
      `@mulligan/ai-sdk is made for AI SDK 7, and the package "ai" that is installed is another major (its models are ${found}).`,
    )
}
