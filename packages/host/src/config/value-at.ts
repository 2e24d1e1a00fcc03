/** Gets and sets values in plain objects by the path of their key. */
import { isObject } from '../common/is-object.ts'

/** Returns the value at a path; undefined if there is none. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined), value)
}

/** Returns a copy with the value set, creating missing objects. */
export function withValue(value: unknown, path: readonly string[], inner: unknown): unknown {
  const [name, ...rest] = path
  if (name === undefined) return inner
  const object = isObject(value) ? value : {}
  return { ...object, [name]: withValue(Object.hasOwn(object, name) ? object[name] : undefined, rest, inner) }
}

/** Returns a copy without the value. */
export function withoutValue(value: unknown, path: readonly string[]): unknown {
  const [name, ...rest] = path
  if (name === undefined || !isObject(value) || !Object.hasOwn(value, name)) return value
  const { [name]: inner, ...others } = value
  return rest.length === 0 ? others : { ...value, [name]: withoutValue(inner, rest) }
}
