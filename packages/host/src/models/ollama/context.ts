/** Determines the context size that a model runs with. */
import type { Shown } from './shown.ts'

/**
 * Tokens, when nobody says otherwise and the model takes as many. Memory grows with the context: for a model of 8B parameters
 * 32,768 tokens take about 4 GB besides the model itself; 131,072 take 17. A turn of an agent with its tools
 * fits well; Ollama's own default of 4,096 would be used up by the first file.
 */
export const DEFAULT_CAP = 32_768

export interface EffectiveContext {
  readonly tokens: number
  /** For the person, where they do not get what they asked for. */
  readonly warning?: string
}

/**
 * What the person says, otherwise what the Modelfile says (whoever wrote `num_ctx` there knew the machine), otherwise the cap; never
 * more than the model was trained for, which the server would not give it either.
 *
 * @param given by the person, such as in `MULLIGAN_CONTEXT`
 */
export function effectiveContext(
  given: number | undefined,
  { contextLength = Infinity, numCtx }: Pick<Shown, 'contextLength' | 'numCtx'>,
): EffectiveContext {
  const wanted = given ?? numCtx ?? DEFAULT_CAP
  if (wanted <= contextLength) return { tokens: wanted }
  if (given === undefined) return { tokens: contextLength }
  const says = (tokens: number): string => tokens.toLocaleString('en')
  return {
    tokens: contextLength,
    warning: `A context of ${says(given)} tokens is set, but the model takes ${says(contextLength)}: it is run with these.`,
  }
}
