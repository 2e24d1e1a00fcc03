import { ModelRetry, nearest } from '@mulligan/core'
import { endText } from './end-text.ts'
import type { Job, Jobs } from './jobs.ts'

/** Characters of a command that say which it is. */
const SHOWN = 60

/** @throws ModelRetry with the ids that exist */
export function byId(jobs: Jobs, id: string): Job {
  const job = jobs.get(id)
  if (job) return job
  const all = jobs.all()
  if (all.length === 0)
    throw new ModelRetry(`There is no background command "${id}": none has been started in this session.`, {
      errorType: 'not_found',
      parameter: 'id',
      value: id,
      constraint: 'the id of a command that bash has started with background=true',
    })
  const said = all.map((one) => `${one.id} (${oneLine(one.command)}) ${endText(one.end())}`)
  const ids = all.map((one) => one.id)
  const [near = ids[0]] = nearest(id, ids)
  throw new ModelRetry(`There is no background command "${id}". There are: ${said.join(' ')}`, {
    errorType: 'not_found',
    parameter: 'id',
    value: id,
    constraint: `one of ${ids.join(', ')}`,
    suggestion: near,
    candidates: ids.filter((one) => one !== near),
  })
}

export const oneLine = (command: string): string => {
  const line = command.trim().replace(/\s+/g, ' ')
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line
}
