import { type ChildProcess, spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts } from '../free-ports.ts'

const program = '/usr/bin/radicale'
const startsWithinMs = 120_000

/** Whether somebody answers HTTP there. */
const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const asked = request({ host: '127.0.0.1', port, path: '/', timeout: 5_000 }, (answer) => {
      answer.resume()
      resolve(true)
    })
    asked.on('error', () => resolve(false))
    asked.on('timeout', () => asked.destroy())
    asked.end()
  })

/** A calendar as files, for making and looking without CalDAV. */
export class CalendarFolder {
  readonly folder: string

  constructor(folder: string, name: string) {
    this.folder = folder
    mkdirSync(folder, { recursive: true })
    const props = join(folder, '.Radicale.props')
    if (!existsSync(props))
      writeFileSync(props, JSON.stringify({ tag: 'VCALENDAR', 'D:displayname': name }))
  }

  /** Puts an object there as it is, past the server. */
  put(name: string, ics: string): void {
    writeFileSync(join(this.folder, name), ics)
  }

  remove(name: string): void {
    rmSync(join(this.folder, name), { force: true })
  }

  /** Objects of the calendar, byte for byte, by name. */
  list(): Record<string, string> {
    const names = readdirSync(this.folder).filter((name) => !name.startsWith('.'))
    return Object.fromEntries(
      names.toSorted().map((name) => [name, readFileSync(join(this.folder, name), 'utf8')]),
    )
  }
}

/** A real Radicale with its own folder, port and user. */
export class Radicale implements AsyncDisposable {
  readonly host = '127.0.0.1'
  readonly user = 'ana'
  readonly password = 'password-of-ana'
  readonly folder: string
  readonly port: number
  #child: ChildProcess | null = null
  #complaint = ''

  private constructor(folder: string, port: number) {
    this.folder = folder
    this.port = port
  }

  /** Starts it, and waits until it answers. */
  static async start(): Promise<Radicale> {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-radicale-')))
    const [port = 0] = await freePorts(1)
    const server = new Radicale(folder, port)
    writeFileSync(join(folder, 'users'), `${server.user}:${server.password}\n`)
    writeFileSync(
      join(folder, 'config'),
      [
        '[server]',
        `hosts = 127.0.0.1:${port}`,
        'max_connections = 100',
        '[auth]',
        'type = htpasswd',
        `htpasswd_filename = ${join(folder, 'users')}`,
        'htpasswd_encryption = plain',
        'delay = 0',
        '[rights]',
        'type = owner_only',
        '[storage]',
        `filesystem_folder = ${join(folder, 'storage')}`,
        '[web]',
        'type = none',
        '[logging]',
        'level = warning',
        '',
      ].join('\n'),
    )
    try {
      await server.up()
      return server
    } catch (error) {
      await server[Symbol.asyncDispose]()
      throw error
    }
  }

  get url(): string {
    return `http://${this.host}:${this.port}/`
  }

  calendar(id: string, name = id): CalendarFolder {
    return new CalendarFolder(join(this.folder, 'storage', 'collection-root', this.user, id), name)
  }

  /** Stores or, for null, removes an object as another calendar program would: the server writes it in its own way. */
  async store(id: string, name: string, ics: string | null): Promise<void> {
    const credentials = Buffer.from(`${this.user}:${this.password}`).toString('base64')
    const status = await new Promise<number>((resolve, reject) => {
      const sent = request(
        {
          host: '127.0.0.1',
          port: this.port,
          path: `/${this.user}/${id}/${name}`,
          method: ics === null ? 'DELETE' : 'PUT',
          headers: { authorization: `Basic ${credentials}`, 'content-type': 'text/calendar' },
        },
        (answer) => {
          answer.resume()
          answer.on('end', () => resolve(answer.statusCode ?? 0))
        },
      )
      sent.on('error', reject)
      sent.end(ics ?? undefined)
    })
    if (status < 200 || status > 299) throw new Error(`radicale answered ${status} for ${name}`)
  }

  /** Starts it again on the same port, after `down`. */
  async up(): Promise<void> {
    const child = spawn(program, ['--config', join(this.folder, 'config')], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    child.stderr?.on('data', (bytes: Buffer) => {
      this.#complaint = (this.#complaint + bytes.toString('utf8')).slice(-10_000)
    })
    this.#child = child
    const until = performance.now() + startsWithinMs
    while (!(await answers(this.port))) {
      if (child.exitCode !== null || performance.now() > until)
        throw new Error(`radicale did not start: ${this.#complaint}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  /** Ends it and every connection. */
  async down(): Promise<void> {
    const child = this.#child
    this.#child = null
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }

  /** Latest complaint of the server. */
  complaint(): string {
    return this.#complaint
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.down()
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  }
}
