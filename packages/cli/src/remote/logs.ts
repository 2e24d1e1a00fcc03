/** `mulligan logs` of a session on a server. */
import { resolve } from 'node:path'
import type { AgentEvent } from '@mulligan/agent'
import { connect, remoteSession, told } from './server.ts'

/** Writes the events of a session; with `follow` until the signal is aborted. @throws UsageError */
export async function writeFromServer(
  url: string,
  asked: string | undefined,
  {
    cwd,
    follow,
    after,
    insecure,
  }: { readonly cwd?: string; readonly insecure?: boolean; readonly follow: boolean; readonly after: number },
  write: (event: AgentEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const remote = await connect(url, process.env, insecure)
  const { id } = await remoteSession(remote, asked, resolve(cwd ?? '.'))
  const events = async (): Promise<void> => {
    for await (const item of remote.client.events(id, { after, signal, tries: follow ? Number.POSITIVE_INFINITY : 3 })) {
      // What is being written comes as a whole when it is complete.
      if (item.kind === 'event' && item.event.id !== undefined) write(item.event)
      if (item.kind === 'synced' && !follow) break
    }
  }
  await told(url, events())
}
