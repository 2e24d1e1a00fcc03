/** Reads values of unknown type. */

/** A JSON object. */
export type Json = { readonly [key: string]: unknown }

/** True for an object that is not an array. */
export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value if it is an object, otherwise an empty object. */
export function asObject(value: unknown): Json {
  return isObject(value) ? value : {}
}

/** The value if it is an array, otherwise an empty array. */
export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The parsed text; `undefined` if it is not valid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
