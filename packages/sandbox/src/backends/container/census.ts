/** How many processes a container has, told by the host: what is said inside could be a lie. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type Dockerode from 'dockerode'

export type Census = () => Promise<number>

/** By its cgroup, in a millisecond; by the engine where the container's processes are not on this machine's list (Docker Desktop). */
export async function openCensus(container: Dockerode.Container, pid: number): Promise<Census> {
  const folder = cgroupFolder(await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => ''), container.id)
  const byCgroup = async (): Promise<number> => (await readFile(join(folder ?? '', 'cgroup.procs'), 'utf8')).trim().split('\n').length
  const canRead =
    folder !== undefined &&
    (await byCgroup().then(
      () => true,
      () => false,
    ))
  return canRead ? byCgroup : async () => (await container.top()).Processes.length
}

/** @param text of `/proc/PID/cgroup`; the process may be another one, of another list, so that the container's id has to be in it */
export function cgroupFolder(text: string, id: string): string | undefined {
  for (const line of text.split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    if (path === undefined || !path.includes(id)) continue
    if (controllers === '') return join('/sys/fs/cgroup', path)
    if (controllers?.split(',').includes('pids')) return join('/sys/fs/cgroup', controllers, path)
  }
  return undefined
}
