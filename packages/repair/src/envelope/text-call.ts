/** From a call as a family's markup has it to a call of a tool. */
import { levelFor, type Repair } from '../repair.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import type { ToolSpec } from '../tool-spec.ts'
import type { Block, Family, MarkupCall, ToolIndex } from './family.ts'
import { typeTexts } from './typed.ts'

/** A call that came as markup. Its arguments are as they were written, typed by the schema where the markup has no types. */
export interface TextCall {
  /** As written. */
  readonly name: string
  /** The tool that is meant; undefined when there is none of that name. */
  readonly tool: ToolSpec | undefined
  /** An object, or text that was to be one. */
  readonly input: Readonly<Record<string, unknown>> | string
  readonly id?: string
  readonly family: string
  /** Its block has its closing markup, and none was damaged. */
  readonly canonical: boolean
  /** The reply ended inside it. */
  readonly cutOff: boolean
  /** Why it can't be run as it came, however its text reads: nothing in it could be called, or too much of it is a guess. */
  readonly unread?: string
  /** Why a person has to agree to it. */
  readonly doubt?: string
  readonly repair: Repair
}

/** Of long markup, the beginning is kept for the note. */
const MAX_NOTE = 500

/** @param asks a call with an effect that may not be meant is put to a person; otherwise it is not run */
export function textCall(call: MarkupCall, family: Family, { complete }: Block, raw: string, tools: ToolIndex, asks = false): TextCall {
  const tool = tools.resolve(call.name)
  const isDoubtful = call.unmarked === true && isCareful(tool)
  const unread = whyUnread(call, tool, isDoubtful && !asks)
  const damage = call.damage === undefined ? '' : `; ${call.damage}`
  return {
    name: call.name,
    tool,
    input: unread === undefined ? inputOf(call, tool?.parameters) : raw,
    ...(call.id !== undefined && { id: call.id }),
    family: family.id,
    canonical: complete && call.damage === undefined,
    // Without its closing markup nobody knows whether more was to come.
    cutOff: call.cutOff === true || (!complete && isCareful(tool)),
    ...(unread !== undefined && { unread }),
    ...(unread === undefined && isDoubtful && call.damage !== undefined && { doubt: call.damage }),
    repair: {
      kind: 'envelope',
      from: raw.length > MAX_NOTE ? `${raw.slice(0, MAX_NOTE)}…` : raw,
      to: tool?.name ?? call.name,
      why: `a call written into the text as ${family.id} does${damage}`,
    },
  }
}

/** What a read may be run on is not good enough for an effect. */
export const isCareful = (tool: ToolSpec | undefined): boolean => tool !== undefined && (tool.repair ?? levelFor(tool.effect)) !== 'full'

function whyUnread({ arguments: given, damage, unsure }: MarkupCall, tool: ToolSpec | undefined, isRefused: boolean): string | undefined {
  const cannotRun = given.kind === 'unread' || isRefused || (unsure && isCareful(tool))
  return cannotRun ? (damage ?? 'nothing in it could be called') : undefined
}

function inputOf({ arguments: given }: MarkupCall, schema: JsonSchema | undefined): TextCall['input'] {
  if (given.kind === 'texts') return typeTexts(given.entries, schema)
  return given.kind === 'object' ? given.value : given.text
}
