/** Determines the context size that a model runs with. */
import type { Shown } from './shown.ts'

/**
 * Default context size in tokens, if the model supports it. Memory use grows with the context: for a model of 8B parameters 32,768 tokens
 * take about 4 GB in addition to the model; 131,072 take 17. An agent's turn with its tools fits well, while the first file would use up
 * Ollama's own default of 4,096.
 */
export const DEFAULT_CAP = 32_768

/**
 * Returns the user's value, otherwise the Modelfile's (whoever wrote `num_ctx` there knew the machine), otherwise the default; never more
 * than the model was trained for, which the server would not use either.
 *
 * @param given value set by the user, for example in `MULLIGAN_CONTEXT`; a warning says so if it cannot be used
 */
export function effectiveContext(given: number | undefined, { contextLength = Infinity, numCtx }: Pick<Shown, 'contextLength' | 'numCtx'>) {
  const wanted = given ?? numCtx ?? DEFAULT_CAP
  if (wanted <= contextLength) return { tokens: wanted }
  if (given === undefined) return { tokens: contextLength }
  const says = (tokens: number): string => tokens.toLocaleString('en')
  return {
    tokens: contextLength,
    warning: `A context of ${says(given)} tokens is set, but the model supports only ${says(contextLength)}, so that is used.`,
  }
}
