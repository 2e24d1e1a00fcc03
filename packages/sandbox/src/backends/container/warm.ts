/** A container that waits for a command, and for the next one if nothing is left of the previous one. */
import { randomBytes, randomUUID } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type Dockerode from 'dockerode'
import type { Exit, Launch } from '../../backend.ts'
import { type Engine, removeContainer } from './engine.ts'
import { createFrameReader, createUntilMark, instruction, type Mark, type StreamName, WORKER_PROCESSES } from './worker.ts'

export type Warm = Awaited<ReturnType<typeof startWarm>>

/** Delays in milliseconds before each check for remaining processes: a process that has ended takes a moment to disappear. */
const LOOKS = [0, 1, 2, 4, 8, 16, 32, 64, 128]
/** How long, in milliseconds, to wait for the last output of a removed container. */
const LAST_OUTPUT = 500

/** @param shared a folder shared with the container, used for stdin */
export async function startWarm(
  { api, socket: path }: Engine,
  spec: Dockerode.ContainerCreateOptions,
  shared: { readonly onHost: string; readonly inside: string },
) {
  const container = await api.createContainer(spec)
  try {
    const socket = await attach(path, container.id)
    const worker = talk(socket)
    await container.start()
    const { Pid: pid } = (await container.inspect()).State
    const census = await openCensus(container, pid)
    // Our process can exit even if a sandbox was not closed; its containers end when their stdin closes.
    socket.unref()
    return {
      id: container.id,
      /** The container's first process, as numbered on the engine's machine. */
      pid,
      isAlive: worker.isAlive,
      /** Runs one command at a time. */
      run: async (launch: Launch) => {
        const nonce = randomBytes(16).toString('hex')
        if (launch.stdin === undefined) return worker.run(instruction(launch, nonce), nonce)
        const name = `stdin-${randomUUID()}`
        const file = join(shared.onHost, name)
        await writeFile(file, launch.stdin, { flag: 'wx', mode: 0o644 })
        const run = worker.run(instruction(launch, nonce, `${shared.inside}/${name}`), nonce)
        void run.exited.catch(() => {}).then(() => rm(file, { force: true }).catch(() => {}))
        return run
      },
      /** Returns whether nothing is left of the last command. */
      isClean: async (): Promise<boolean> => {
        for (const wait of LOOKS) {
          if (wait > 0) await sleep(wait)
          if (!worker.isAlive()) return false
          if ((await census().catch(() => Number.POSITIVE_INFINITY)) <= WORKER_PROCESSES) return true
        }
        return false
      },
      /** Removes the container with everything running in it. Resolves when it is gone. */
      remove: async (): Promise<void> => {
        await removeContainer(api, container.id)
        const patience = setTimeout(() => socket.destroy(), LAST_OUTPUT)
        await worker.gone
        clearTimeout(patience)
        socket.destroy()
      },
    }
  } catch (error) {
    await removeContainer(api, container.id).catch(() => {})
    throw error
  }
}

/**
 * Connects to a container's stdin and output. Does not use dockerode, which sends its options as a request body that Podman passes
 * to the container as the first line of stdin.
 *
 * @param socketPath the engine's socket @throws Error with the engine's message
 */
function attach(socketPath: string, id: string): Promise<Socket> {
  const path = `/containers/${id}/attach?stream=1&stdin=1&stdout=1&stderr=1`
  const headers = { Connection: 'Upgrade', Upgrade: 'tcp', 'Content-Length': 0 }
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, method: 'POST', path, headers })
    asked.once('error', reject)
    asked.once('upgrade', (_response, connection, head) => {
      if (head.length > 0) connection.unshift(head)
      resolve(connection as Socket)
    })
    asked.once('response', async (response) => {
      const says = await text(response).catch(String)
      reject(new Error(`attaching was answered with ${response.statusCode}: ${says.trim()}`))
    })
    asked.end()
  })
}

/**
 * Counts a container's processes from the host, because output from inside could be faked. Uses its cgroup, which takes a
 * millisecond, or the engine if the container's processes are not visible on this machine (Docker Desktop).
 */
async function openCensus(container: Dockerode.Container, pid: number): Promise<() => Promise<number>> {
  const folder = cgroupFolder(await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => ''), container.id)
  const byCgroup = async (): Promise<number> => (await readFile(join(folder ?? '', 'cgroup.procs'), 'utf8')).trim().split('\n').length
  const byEngine = async () => (await container.top()).Processes.length
  if (folder === undefined) return byEngine
  return byCgroup().then(
    () => byCgroup,
    () => byEngine,
  )
}

/**
 * @param cgroups text of `/proc/PID/cgroup`. The process ID may belong to an unrelated process on another machine, so the text must
 * contain the container's ID
 */
export function cgroupFolder(cgroups: string, id: string): string | undefined {
  for (const [, controllers = '', path = ''] of cgroups.matchAll(/^\d+:([^:]*):(.*)$/gm))
    if (path.includes(id) && (controllers === '' || controllers.split(',').includes('pids')))
      return join('/sys/fs/cgroup', controllers, path)
  return undefined
}

/** Talks to the worker over the container's stdin and output. */
function talk(socket: Socket) {
  const read = createFrameReader()
  const gone = Promise.withResolvers<void>()
  const secret = randomBytes(16).toString('hex')
  let greeting = `${secret}\n`
  let isAlive = true
  let oomKills = 0
  let current: { readonly take: (stream: StreamName, bytes: Buffer) => void; readonly died: () => void } | undefined

  socket.on('data', (chunk: Buffer) => {
    for (const { stream, bytes } of read(chunk)) current?.take(stream, bytes)
  })
  // It is enough that the other side ended: a half-closed connection never closes on its own.
  for (const event of ['end', 'close', 'error'])
    socket.on(event, () => {
      isAlive = false
      gone.resolve()
      current?.died()
    })

  const run = (line: string, nonce: string) => {
    const exited = Promise.withResolvers<Exit>()
    const sides = { stdout: createSide(socket, nonce), stderr: createSide(socket, nonce) }
    socket.ref()
    const finish = (exit: Exit) => {
      current = undefined
      socket.unref()
      exited.resolve(exit)
    }
    current = {
      take: (stream, bytes) => {
        const mark = sides[stream].take(bytes)
        if (!mark || !sides.stdout.isOver() || !sides.stderr.isOver()) return
        const limit = mark.oomKills > oomKills ? ({ limit: 'memory' } as const) : {}
        oomKills = mark.oomKills
        finish({ exitCode: mark.exitCode, signal: null, ...limit })
      },
      died: () => {
        for (const { sink } of [sides.stdout, sides.stderr]) sink.end()
        finish({ exitCode: null, signal: 'SIGKILL' })
      },
    }
    // Starts on a new line, even if a command wrote an incomplete line to the pipe.
    if (isAlive) socket.write(`${greeting}\n${secret} ${line}`)
    else current.died()
    greeting = ''
    return { stdout: sides.stdout.sink, stderr: sides.stderr.sink, exited: exited.promise }
  }
  return { isAlive: () => isAlive, gone: gone.promise, run }
}

/** One output stream of one command. While nobody reads it, nothing is read from the engine either, and the command waits. */
function createSide(socket: Socket, nonce: string) {
  const sink = new PassThrough()
  const until = createUntilMark(nonce)
  let isOver = false
  for (const event of ['drain', 'close']) sink.on(event, () => socket.resume())
  return {
    sink,
    isOver: () => isOver,
    take: (bytes: Buffer): Mark | undefined => {
      const step = until(bytes)
      if (step.bytes.length > 0 && !sink.destroyed && !sink.write(step.bytes)) socket.pause()
      if (step.mark) sink.end()
      isOver ||= step.mark !== undefined
      return step.mark
    },
  }
}
