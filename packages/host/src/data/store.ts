/** Opens the session store: a file in the data folder, or the one in the user's settings. */
import { existsSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { isPostgresUrl, openStore, type Store } from '@mulligan/agent'
import type { Env } from '../common/env.ts'
import { storeHint, UsageError } from '../common/errors.ts'
import { type DataPaths, toHome } from '../common/paths.ts'
import { environment } from '../config/environment.ts'
import { userFile } from '../config/files.ts'

/**
 * Returns a file path or the address of a PostgreSQL database, and the setting that names it. A project's file cannot change it.
 * @throws UsageError without the value of the setting, which may contain a password
 */
export function storePlace({ store }: Pick<DataPaths, 'store'>, env: Env): { readonly place: string; readonly from?: string } {
  const now = environment(env)
  const file = userFile(env)
  const place = now.values.store ?? file.values.store
  if (place === undefined) return { place: store }
  const from = now.values.store === undefined ? `store in ${file.shown}` : now.from('store')
  if (isPostgresUrl(place)) return { place, from }
  if (isAbsolute(toHome(place, env))) return { place: toHome(place, env), from }
  throw new UsageError(
    `${from} is neither the path of a file nor the address of a PostgreSQL database`,
    'It looks like postgres://USER:PASSWORD@HOST:5432/DATABASE, or /path/to/sessions.db.',
  )
}

/** Opens the store. @param warn called when the latest writes are missing. @throws UsageError */
export async function openStoreAt(data: Pick<DataPaths, 'store'>, env: Env, warn: (text: string) => void): Promise<Store> {
  const { place, from } = storePlace(data, env)
  try {
    return await openStore(place, { onWarning: warn })
  } catch (error) {
    const { message } = error as Error
    if (isPostgresUrl(place))
      throw new UsageError(
        `the store can't be opened: ${message}`,
        `It is set by ${from}. Without it, sessions are kept in a file on this machine.`,
      )
    throw new UsageError(
      `the store ${place} can't be opened: ${message}`,
      storeHint(error) ?? 'Set MULLIGAN_DATA_DIR to another folder, or move the file away.',
    )
  }
}

/** Opens the store for optional features: returns undefined if there is none yet or it cannot be opened. */
export async function openStoreIfAny(data: Pick<DataPaths, 'store'>, env: Env): Promise<Store | undefined> {
  try {
    const { place } = storePlace(data, env)
    return isPostgresUrl(place) || existsSync(place) ? await openStoreAt(data, env, () => undefined) : undefined
  } catch {
    return undefined
  }
}
