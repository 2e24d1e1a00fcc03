/** Reads fields of a server's answer, which may be anything. */
import { NoAnswer } from './get.ts'

export type Fields = Readonly<Record<string, unknown>>

export const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})

export const textIn = (fields: Fields, key: string): string | undefined => {
  const value = fields[key]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** A count: whole, and above 0. */
export const countIn = (fields: Fields, key: string): number | undefined => {
  const value = fields[key]
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined
}

/** How many models of a server are looked at. */
const MOST = 500

/** @throws NoAnswer where there is no such list */
export function listIn(answer: unknown, key: string): readonly Fields[] {
  const list = fieldsOf(answer)[key]
  if (!Array.isArray(list)) throw new NoAnswer('wrong', 'its answer is not a list of models')
  return list.slice(0, MOST).map(fieldsOf)
}
