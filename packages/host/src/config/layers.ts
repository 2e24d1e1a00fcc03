/** The values from each source: flags, the environment, the project's file, the user's file. The first one counts. */
import type { Origin, Setting } from '../common/setting.ts'
import { type Config, type Key, ROWS, type SandboxFields, type ValueOf } from './schema.ts'
import { valueAt, withValue } from './value-at.ts'

export interface Layer {
  readonly origin: Origin
  readonly values: Config
  /** Returns where a value comes from, for display: `--model`, `MULLIGAN_MODEL`, `mulligan.json`. */
  readonly from: (key: string) => string
}

/** Returns the values that all sources give a setting. */
export const given = <K extends Key>(layers: readonly Layer[], key: K): readonly Setting<ValueOf<K>>[] =>
  layers.flatMap(({ origin, values, from }) => {
    const value = valueAt(values, key.split('.'))
    return value === undefined ? [] : [{ value: value as ValueOf<K>, origin, from: from(key) }]
  })

/** Flags of `mulligan sandbox run`. */
export type SandboxFlags = Pick<SandboxFields, 'backend' | 'profile' | 'network' | 'memory' | 'timeout'>

export interface SettingFlags {
  readonly model?: string
  readonly baseUrl?: string
  readonly agent?: string
  readonly maxRequests?: number
  readonly timeout?: number
  readonly sandbox?: SandboxFlags
  readonly mode?: string
}

/** Turns flags into a layer. `--max-requests` is `maxRequests`. */
export function flagLayer({ sandbox, ...flags }: SettingFlags): Layer {
  const named = new Map(
    Object.entries(flags).map(([name, value]) => [`--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`, value]),
  )
  const values = ROWS.reduce<unknown>(
    (made, [, path, { flag = '' }]) => (named.get(flag) === undefined ? made : withValue(made, path, named.get(flag))),
    sandbox ? { sandbox } : {},
  )
  return {
    origin: 'flag',
    values: values as Config,
    from: (key) => ROWS.find(([one]) => one === key)?.[2].flag ?? `--${key.split('.').at(-1)}`,
  }
}
