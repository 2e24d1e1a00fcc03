/** Answers a server's questions by asking a person, field by field. */
import { isRecord } from '@mulligan/repair'

/** @returns undefined if the person gives no answer */
export type AskPerson = (question: string, options?: readonly string[]) => Promise<string | undefined>

export type Elicited = { action: 'accept' | 'decline'; content?: Record<string, string | number | boolean | string[]> }

/** @param server the server's name, which the person is told */
export async function elicited(server: string, params: unknown, ask: AskPerson): Promise<Elicited> {
  if (!isRecord(params) || !isRecord(params['requestedSchema'])) return { action: 'decline' }
  const { message, requestedSchema } = params
  const properties = isRecord(requestedSchema['properties']) ? requestedSchema['properties'] : {}
  const content: Record<string, string | number | boolean> = {}
  const fields = Object.entries(properties)
  if (fields.length === 0) {
    const choices = ['Yes', 'No']
    const answer = await ask(`${server} asks: ${String(message)}`, choices)
    return answer !== undefined && chosen(answer, choices) === 0 ? { action: 'accept', content } : { action: 'decline' }
  }
  for (const [name, schema] of fields) {
    const field = isRecord(schema) ? schema : {}
    const label = String(field['title'] ?? field['description'] ?? name)
    const choices = choicesOf(field)
    const answer = await ask(
      `${server} asks: ${String(message)}\n${label}`,
      choices?.map(({ title }) => title),
    )
    const value = answer === undefined ? undefined : answered(answer, field, choices)
    if (value === undefined) return { action: 'decline' }
    content[name] = value
  }
  return { action: 'accept', content }
}

interface Choice {
  readonly value: string | boolean
  readonly title: string
}

function choicesOf(field: Record<string, unknown>): readonly Choice[] | undefined {
  const { type, enum: values, enumNames, oneOf } = field
  if (type === 'boolean') return [true, false].map((value) => ({ value, title: value ? 'Yes' : 'No' }))
  if (Array.isArray(values))
    return values.map((value, at) => ({ value: String(value), title: String(Array.isArray(enumNames) ? (enumNames[at] ?? value) : value) }))
  if (!Array.isArray(oneOf)) return undefined
  return oneOf.filter(isRecord).map((one) => ({ value: String(one['const']), title: String(one['title'] ?? one['const']) }))
}

/** The place of what was answered: the words of a choice, or the number that it is shown with. -1 if it is none of them. */
function chosen(answer: string, titles: readonly string[]): number {
  const said = answer.trim().toLowerCase()
  const at = titles.findIndex((title) => title.toLowerCase() === said)
  return at >= 0 || !/^\d{1,4}$/.test(said) ? at : Number(said) - 1
}

function answered(
  answer: string,
  { type }: Record<string, unknown>,
  choices: readonly Choice[] | undefined,
): string | number | boolean | undefined {
  if (choices)
    return choices[
      chosen(
        answer,
        choices.map(({ title }) => title),
      )
    ]?.value
  if (type !== 'number' && type !== 'integer') return answer
  const number = Number(answer)
  return Number.isFinite(number) && (type === 'number' || Number.isInteger(number)) ? number : undefined
}
