/** Refused calls in a framework that only makes calls of its tools: it calls a tool that returns the reason and is not sent to the model. */
import { isRecord } from '@mulligan/repair'
import type { AdmittedCall, FrameworkCall } from './reply.ts'

/** The tool for calls that were refused. */
export const REFUSED = 'refused_call'

/** The call for the framework to make. `input` is JSON. */
export const callToMake = ({
  id,
  name,
  input,
  isRefused,
}: AdmittedCall): { readonly id: string; readonly name: string; readonly input: string } => ({
  id,
  name: isRefused ? REFUSED : name,
  input: JSON.stringify(isRefused ? { tool: name, input } : input),
})

/** The call that a refused one stands for. */
export function refusedCall(id: string, given: unknown): FrameworkCall {
  const { tool, input } = (isRecord(given) ? given : {}) as Record<string, unknown>
  return { id, name: String(tool), input: isRecord(input) ? input : {} }
}

/** The value, or the text if it is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Whether a text is this compact JSON, apart from white space. */
export const sameJson = (text: string, json: string): boolean => text === json || JSON.stringify(parsed(text)) === json
