/** A container that waits for a command, and for the next one when that has ended and left nothing behind. */
import { randomBytes, randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type Dockerode from 'dockerode'
import type { Exit, Launch } from '../../backend.ts'
import { attach } from './attach.ts'
import { openCensus } from './census.ts'
import type { Engine } from './engine.ts'
import { createFrameReader } from './frames.ts'
import { removeContainer } from './labels.ts'
import { createUntilMark, type Mark } from './until-mark.ts'
import { instruction, WORKER_PROCESSES } from './worker.ts'

export interface Warm {
  readonly id: string
  /** Of its first process, as the engine's machine counts. */
  readonly pid: number
  readonly isAlive: () => boolean
  /** One at a time. */
  readonly run: (launch: Launch) => Promise<Run>
  /** Whether nothing is left of the last command. */
  readonly isClean: () => Promise<boolean>
  /** With all that runs in it. Resolves when it is gone. */
  readonly remove: () => Promise<void>
}

export interface Run {
  readonly stdout: PassThrough
  readonly stderr: PassThrough
  /** Rejects when the engine went away. */
  readonly exited: Promise<Exit>
}

/** A folder that is shared with the container. */
export interface Shared {
  readonly onHost: string
  readonly inside: string
}

/** Milliseconds before each look at what still runs: a process that has ended takes a moment to go. */
const LOOKS = [0, 1, 2, 4, 8, 16, 32, 64, 128]
/** Milliseconds in which the last output of a removed container may still come. */
const LAST_OUTPUT = 500

export async function startWarm({ api, socket: path }: Engine, spec: Dockerode.ContainerCreateOptions, shared: Shared): Promise<Warm> {
  const container = await api.createContainer(spec)
  try {
    const socket = await attach(path, container.id)
    const worker = talk(socket)
    await container.start()
    const { Pid: pid } = (await container.inspect()).State
    const census = await openCensus(container, pid)
    // Whoever forgets to close a sandbox can end anyway: so do its containers, when their stdin does.
    socket.unref()
    return {
      id: container.id,
      pid,
      isAlive: worker.isAlive,
      run: (launch) => runOne(worker, launch, shared),
      isClean: async () => {
        for (const wait of LOOKS) {
          if (wait > 0) await sleep(wait)
          if (!worker.isAlive()) return false
          if ((await census().catch(() => Number.POSITIVE_INFINITY)) <= WORKER_PROCESSES) return true
        }
        return false
      },
      remove: async () => {
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

async function runOne(worker: Worker, launch: Launch, shared: Shared): Promise<Run> {
  const nonce = randomBytes(16).toString('hex')
  if (launch.stdin === undefined) return worker.run(instruction(launch, nonce, undefined), nonce)
  const name = `stdin-${randomUUID()}`
  const file = join(shared.onHost, name)
  await writeFile(file, launch.stdin, { flag: 'wx', mode: 0o644 })
  const run = worker.run(instruction(launch, nonce, `${shared.inside}/${name}`), nonce)
  void run.exited.catch(() => {}).then(() => rm(file, { force: true }).catch(() => {}))
  return run
}

interface Worker {
  readonly isAlive: () => boolean
  /** Resolves when the container has ended. */
  readonly gone: Promise<void>
  readonly run: (line: string, nonce: string) => Run
}

/** Over the container's stdin and output. */
function talk(socket: Socket): Worker {
  const read = createFrameReader()
  const gone = Promise.withResolvers<void>()
  const secret = randomBytes(16).toString('hex')
  let greeting = `${secret}\n`
  let isAlive = true
  let oomKills = 0
  let current: { readonly take: (stream: 'stdout' | 'stderr', bytes: Buffer) => void; readonly died: () => void } | undefined

  socket.on('data', (chunk: Buffer) => {
    for (const { stream, bytes } of read(chunk)) current?.take(stream, bytes)
  })
  const onGone = () => {
    isAlive = false
    gone.resolve()
    current?.died()
  }
  // Its own end is enough: a connection that is closed on one side only never closes by itself.
  for (const event of ['end', 'close', 'error']) socket.on(event, onGone)

  const run = (line: string, nonce: string): Run => {
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
        for (const side of [sides.stdout, sides.stderr]) side.end()
        finish({ exitCode: null, signal: 'SIGKILL' })
      },
    }
    // On a line of its own, also after half a line that a command put into the pipe.
    if (isAlive) socket.write(`${greeting}\n${secret} ${line}`)
    else current.died()
    greeting = ''
    return { stdout: sides.stdout.sink, stderr: sides.stderr.sink, exited: exited.promise }
  }
  return { isAlive: () => isAlive, gone: gone.promise, run }
}

/** One of the two streams of one command. While nobody reads it, nothing is read from the engine either, and the command waits. */
function createSide(socket: Socket, nonce: string) {
  const sink = new PassThrough()
  const until = createUntilMark(nonce)
  let mark: Mark | undefined
  sink.on('drain', () => socket.resume())
  sink.on('close', () => socket.resume())
  return {
    sink,
    isOver: () => mark !== undefined,
    take: (bytes: Buffer): Mark | undefined => {
      const step = until(bytes)
      if (step.bytes.length > 0 && !sink.destroyed && !sink.write(step.bytes)) socket.pause()
      if (step.mark) sink.end()
      mark ??= step.mark
      return step.mark
    },
    end: () => sink.end(),
  }
}
