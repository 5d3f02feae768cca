import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, realpathSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { freePorts } from '../free-ports.ts'
import { makeCertificate } from './certificate.ts'
import { renderDovecotConfig } from './dovecot-config.ts'
import { Maildir, type Owner } from './maildir.ts'

const program = '/usr/sbin/dovecot'
const startsWithinMs = 120_000
/** Of Debian, and like the `nobody` of any system: mail never belongs to root. */
const nobody = { uid: 65_534, gid: 65_534 }

export type DovecotOptions = {
  readonly users?: Readonly<Record<string, string>>
  /** Extensions that it hides, such as CONDSTORE, QRESYNC, MOVE, IDLE or SPECIAL-USE. */
  readonly hides?: readonly string[]
}

type DovecotFacts = {
  readonly folder: string
  readonly imapPort: number
  readonly imapsPort: number
  readonly certificate: string
  readonly owner: Owner
  readonly users: Readonly<Record<string, string>>
}

const groupName = (): string => execFileSync('id', ['-gn'], { encoding: 'utf8' }).trim()

const greets = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const answer = (yes: boolean) => {
      socket.destroy()
      resolve(yes)
    }
    socket.once('data', (bytes) => answer(bytes.toString('latin1').startsWith('* OK')))
    socket.once('error', () => answer(false))
    socket.once('close', () => resolve(false))
  })

/** A real Dovecot with its own folder, ports, users and certificate. Works as root and as anybody else. */
export class Dovecot implements AsyncDisposable {
  readonly host = '127.0.0.1'
  readonly user: string
  readonly password: string
  readonly folder: string
  readonly imapPort: number
  readonly imapsPort: number
  /** PEM of the certificate that it shows. */
  readonly certificate: string
  readonly owner: Owner
  #child: ChildProcess | null = null

  private constructor(facts: DovecotFacts) {
    const [first] = Object.entries(facts.users)
    if (!first) throw new Error('a mail server needs a user')
    const [user, password] = first
    this.user = user
    this.password = password
    this.folder = facts.folder
    this.imapPort = facts.imapPort
    this.imapsPort = facts.imapsPort
    this.certificate = facts.certificate
    this.owner = facts.owner
  }

  /** Starts it, and waits until it greets. */
  static async start(options: DovecotOptions = {}): Promise<Dovecot> {
    const users = options.users ?? { 'ana@example.org': 'password-of-ana' }
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-dovecot-')))
    for (const name of ['run', 'state', 'mail']) mkdirSync(join(folder, name))
    chmodSync(folder, 0o755)
    const { cert } = await makeCertificate(folder)
    const [imapPort, imapsPort] = (await freePorts(2)) as [number, number]
    const asRoot = process.getuid?.() === 0
    const me = userInfo()
    const owner = asRoot ? nobody : { uid: me.uid, gid: me.gid }
    if (asRoot) chownSync(join(folder, 'mail'), owner.uid, owner.gid)
    const lines = Object.entries(users).map(([user, password]) => `${user}:{PLAIN}${password}\n`)
    await writeFile(join(folder, 'users'), lines.join(''))
    await writeFile(
      join(folder, 'dovecot.conf'),
      renderDovecotConfig({
        folder,
        imapPort,
        imapsPort,
        mailUser: owner,
        helpers: asRoot ? null : { user: me.username, group: groupName(), login: me.username },
        hides: options.hides ?? [],
      }),
    )
    const server = new Dovecot({ folder, imapPort, imapsPort, certificate: cert, owner, users })
    try {
      await server.up()
      return server
    } catch (error) {
      await server[Symbol.asyncDispose]()
      throw error
    }
  }

  /** The mail of a user as files, for making and looking without IMAP. */
  maildir(user = this.user): Maildir {
    return new Maildir(join(this.folder, 'mail', user), this.owner)
  }

  /** Starts it again on the same ports, after `down`. */
  async up(): Promise<void> {
    const child = spawn(program, ['-F', '-c', join(this.folder, 'dovecot.conf')], {
      stdio: ['ignore', 'ignore', 'pipe'],
      // A group of its own: ending it ends its helpers, at once.
      detached: true,
    })
    let complaint = ''
    child.stderr?.on('data', (bytes: Buffer) => {
      complaint += bytes.toString('utf8')
    })
    this.#child = child
    const until = performance.now() + startsWithinMs
    while (!(await greets(this.imapPort))) {
      if (child.exitCode !== null || performance.now() > until)
        throw new Error(`dovecot did not start: ${complaint}${await this.log()}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  /** Ends it and every connection. */
  async down(): Promise<void> {
    const child = this.#child
    this.#child = null
    if (!child?.pid || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    // Asked politely it takes a second; its mail is files that are renamed into place.
    process.kill(-child.pid, 'SIGKILL')
    await ended
  }

  /** Log that the server wrote about itself. */
  async log(): Promise<string> {
    const file = join(this.folder, 'log')
    return existsSync(file) ? readFile(file, 'utf8') : ''
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.down()
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  }
}
