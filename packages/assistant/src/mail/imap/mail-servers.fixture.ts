/** Real mail servers for tests: Dovecot for IMAP, `smtp-server` for SMTP, with faults on the way. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ImapFlow } from 'imapflow'
import { SMTPServer } from 'smtp-server'

export const PASSWORD = 'kanarie-4711'
export const hasDovecot = spawnSync('dovecot', ['--version']).status === 0

export interface Dovecot extends AsyncDisposable {
  readonly port: number
}

/** Any user can log in with the password; each has a mailbox of its own. */
export async function startDovecot(): Promise<Dovecot> {
  const dir = mkdtempSync(join(tmpdir(), 'mulligan-dovecot-'))
  const port = await freePort()
  for (const name of ['run', 'mail', 'home']) mkdirSync(join(dir, name))
  // Dovecot drops its rights, and reads mail as another user than the one that starts it.
  for (const name of ['mail', 'home']) chmodSync(join(dir, name), 0o777)
  chmodSync(dir, 0o755)
  writeFileSync(join(dir, 'dovecot.conf'), configuration(dir, port))
  const child = spawn('dovecot', ['-F', '-c', join(dir, 'dovecot.conf')], { stdio: 'ignore' })
  await reachable(port, child)
  return {
    port,
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'close')
      child.kill('SIGTERM')
      await ended
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

const configuration = (dir: string, port: number): string => `
base_dir = ${dir}/run
state_dir = ${dir}/run
log_path = ${dir}/log
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
auth_failure_delay = 0
mail_location = maildir:${dir}/mail/%u
first_valid_gid = 1
mail_max_userip_connections = 100
passdb {
  driver = static
  args = password=${PASSWORD}
}
userdb {
  driver = static
  args = uid=nobody gid=nogroup home=${dir}/home/%u
}
service imap-login {
  chroot =
  service_count = 0
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = 0
  }
}
service imap {
  process_limit = 50
}
service anvil {
  chroot =
}
namespace inbox {
  inbox = yes
  mailbox Drafts {
    auto = create
    special_use = \\Drafts
  }
  mailbox Sent {
    auto = create
    special_use = \\Sent
  }
  mailbox Trash {
    auto = create
    special_use = \\Trash
  }
}
`

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Waits for the greeting. */
async function reachable(port: number, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 500 && child.exitCode === null; tries++) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await new Promise<boolean>((resolve) =>
      socket
        .once('data', () => resolve(true))
        .once('error', () => resolve(false))
        .once('close', () => resolve(false)),
    )
    socket.destroy()
    if (isOpen) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  child.kill()
  throw new Error(`dovecot does not answer; it ended with ${child.exitCode}`)
}

/** Fills a mailbox. */
export async function deliver(port: number, user: string, messages: readonly (string | Buffer)[], folder = 'INBOX', flags: string[] = []) {
  await withMailbox(port, user, async (client) => {
    for (const message of messages)
      await client.append(folder, typeof message === 'string' ? message.replace(/\r?\n/g, '\r\n') : message, flags)
  })
}

/** Returns the messages of a folder as they are. */
export async function contents(
  port: number,
  user: string,
  folder: string,
): Promise<readonly { source: string; flags: readonly string[] }[]> {
  return withMailbox(port, user, async (client) => {
    const { exists } = await client.mailboxOpen(folder)
    const found = exists === 0 ? [] : await client.fetchAll('1:*', { source: true, flags: true })
    return found.map(({ source, flags }) => ({ source: source?.toString('utf8') ?? '', flags: [...(flags ?? [])] }))
  })
}

export async function withMailbox<T>(port: number, user: string, run: (client: ImapFlow) => Promise<T>): Promise<T> {
  const client = new ImapFlow({ host: '127.0.0.1', port, secure: false, auth: { user, pass: PASSWORD }, logger: false })
  await client.connect()
  try {
    return await run(client)
  } finally {
    await client.logout()
  }
}

/** What happens to a command, by its name such as `APPEND` or `UID STORE`. */
export type ImapFault =
  /** The connection breaks before the command is carried out. */
  | 'reset before'
  /** The command is carried out, and the connection breaks before its answer. */
  | 'reset after'
  /** The command is carried out and never answered. */
  | 'silent'
  /** The answer in place of the server's, such as `NO [LIMIT] slow down`. */
  | `${'NO' | 'BAD'} ${string}`

export interface ImapProxy extends AsyncDisposable {
  readonly port: number
  /** The commands, in order. */
  readonly commands: readonly string[]
}

/** Stands between the client and Dovecot. */
export async function imapProxy(target: number, fault: (command: string) => ImapFault | undefined): Promise<ImapProxy> {
  const commands: string[] = []
  const sockets = new Set<Socket>()
  const server: Server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    }
    let dropped: string | undefined
    let isSilent = false
    client.on('data', (chunk: Buffer) => {
      const [, tag = '', command = ''] = /^(\w+) ((?:UID )?[A-Z]+)/.exec(chunk.toString('latin1')) ?? []
      if (tag !== '') {
        commands.push(command)
        const failing = fault(command)
        if (failing === 'reset before') return void client.resetAndDestroy()
        if (failing === 'reset after') dropped = tag
        else if (failing === 'silent') isSilent = true
        else if (failing !== undefined) return void client.write(`${tag} ${failing}\r\n`)
      }
      upstream.write(chunk)
    })
    upstream.on('data', (chunk: Buffer) => {
      if (dropped !== undefined && chunk.toString('latin1').includes(`${dropped} `)) return void client.resetAndDestroy()
      // The answer that asks for the message has to pass.
      if (!isSilent || chunk.toString('latin1').startsWith('+')) client.write(chunk)
    })
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    commands,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

export type SmtpFault =
  | 'reset before'
  /** The message is taken, and the connection breaks before the answer. */
  | 'reset after'
  | 'silent'
  /** An answer to the message, such as 451. */
  | number

export interface StrictSmtp extends AsyncDisposable {
  readonly port: number
  /** Messages that were taken, whatever the client was told. */
  readonly taken: readonly { readonly from: string; readonly to: readonly string[]; readonly source: string }[]
}

/** @param fault for each message */
export async function smtp(fault: () => SmtpFault | undefined = () => undefined, refused: readonly string[] = []): Promise<StrictSmtp> {
  const taken: { from: string; to: readonly string[]; source: string }[] = []
  const sockets = new Set<Socket>()
  const server = new SMTPServer({
    hideSTARTTLS: true,
    allowInsecureAuth: true,
    logger: false,
    onAuth: ({ password, username }, _, done) =>
      password === PASSWORD ? done(null, { user: username }) : done(new Error('Invalid login')),
    onRcptTo: ({ address }, _, done) =>
      refused.includes(address) ? done(Object.assign(new Error('No such user'), { responseCode: 550 })) : done(),
    onData(stream, { envelope, id: _ }, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const failing = fault()
        const cut = (): void => {
          for (const socket of sockets) socket.resetAndDestroy()
        }
        if (failing === 'reset before') return cut()
        if (typeof failing === 'number') return done(Object.assign(new Error('Try later'), { responseCode: failing }))
        taken.push({
          from: envelope.mailFrom ? envelope.mailFrom.address : '',
          to: envelope.rcptTo.map(({ address }) => address),
          source: Buffer.concat(chunks).toString('utf8'),
        })
        if (failing === 'reset after') return cut()
        if (failing !== 'silent') done()
      })
    },
  })
  server.on('error', () => undefined)
  server.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  const listener = server.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return {
    port: (listener.address() as AddressInfo).port,
    taken,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(resolve))
    },
  }
}
