import { constants } from 'node:fs'
import { access, lstat, stat, statfs } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { counted } from '../counted.ts'
import { hasError, problemLine } from '../policy-problems.ts'
import { isAlive, readCliToken, readRunFile } from '../run-file.ts'
import { atRestCheck } from './at-rest-check.ts'
import { clientChecks } from './client-checks.ts'
import { importCheck } from './import-check.ts'
import { type Check, type Finding, fail, fine, warn } from './run-checks.ts'

const nodeMinimum = [20, 20] as const
const defaultPorts = [7700, 7703, 7800] as const
const releasedMs = Date.UTC(2026, 0, 1)
const freeBytesMin = 256 * 1024 * 1024
const skewMs = 5 * 60_000

const node: Check = {
  name: 'Node',
  async run() {
    const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
    const [wantMajor, wantMinor] = nodeMinimum
    const isNew = major > wantMajor || (major === wantMajor && minor >= wantMinor)
    const version = process.versions.node
    if (isNew) return fine(version)
    return fail(`${version} is too old`, `install Node ${nodeMinimum.join('.')} or newer`)
  },
}

async function existing(path: string): Promise<string> {
  for (let at = path; ; at = dirname(at)) {
    const found = await stat(at).catch(() => null)
    if (found || at === dirname(at)) return at
  }
}

const dataDirectory: Check = {
  name: 'Data directory',
  async run({ dataDir }) {
    const found = await stat(dataDir).catch(() => null)
    if (!found) {
      const parent = await existing(dataDir)
      const writable = await access(parent, constants.W_OK).then(
        () => true,
        () => false,
      )
      if (writable) return fine(`${dataDir} is made at the first start`)
      return fail(`${parent} cannot be written`, 'choose another place with --data-dir')
    }
    if (!found.isDirectory()) return fail(`${dataDir} is no folder`, 'name another with --data-dir')
    if (process.getuid && found.uid !== process.getuid())
      return fail(`${dataDir} belongs to another user`, 'run this as the user who runs the server')
    // The group may pass through the folder without seeing what is in it: so do programs under Landlock.
    if (process.platform !== 'win32' && (found.mode & 0o067) !== 0)
      return fail(`${dataDir} is open to other users`, `chmod 700 ${dataDir}`)
    await access(dataDir, constants.R_OK | constants.W_OK)
    return fine(dataDir)
  },
}

const secrets: Check = {
  name: 'CLI token',
  async run({ dataDir }) {
    const found = await stat(join(dataDir, 'cli-token')).catch(() => null)
    if (!found) return fine('it is made at the first start')
    await readCliToken(dataDir)
    return fine('it is private')
  },
}

/** The vault refuses a key file that others can read, and stays locked. */
const vaultKey: Check = {
  name: 'Vault key',
  async run({ dataDir }) {
    const file = join(dataDir, 'vault.key')
    const found = await lstat(file).catch(() => null)
    if (!found) return fine('there is no key file: a passphrase, or before the first start')
    if (!found.isFile()) return fail(`${file} is no regular file`, 'restore it from a backup')
    if (process.getuid && found.uid !== process.getuid())
      return fail(`${file} belongs to another user`, 'chown it to the user who runs the server')
    if (process.platform !== 'win32' && (found.mode & 0o077) !== 0)
      return fail(
        `${file} can be read by others`,
        `chmod 600 ${file}, then gatehouse vault rotate-key`,
      )
    return fine('it is private')
  },
}

/** Before health is asked: it says what was found last. */
const vault: Check = {
  name: 'Vault',
  needs: 'data',
  async run({ api }) {
    const { status, secrets, reason, remedy, tampered } = await api.showVault()
    if (status === 'healthy') return fine(counted(secrets, 'secret'))
    const detail = tampered.length === 0 ? `${reason}` : `${reason}: ${tampered.join(', ')}`
    return fail(detail, remedy ?? 'gatehouse vault status')
  },
}

const space: Check = {
  name: 'Disk space',
  async run({ dataDir }) {
    const { bavail, bsize } = await statfs(await existing(dataDir))
    const free = bavail * bsize
    const shown = `${Math.floor(free / 1024 / 1024)} MiB free`
    if (free >= freeBytesMin) return fine(shown)
    return fail(shown, 'free some space: without room for the log nothing runs')
  },
}

const clock: Check = {
  name: 'Clock',
  async run({ dataDir }) {
    const nowMs = Date.now()
    if (nowMs < releasedMs)
      return fail(`it says ${new Date(nowMs).toISOString()}`, 'set the clock of this machine')
    const database = await stat(join(dataDir, 'gatehouse.db')).catch(() => null)
    if (database && database.mtimeMs > nowMs + skewMs)
      return warn('the data was written in the future', 'set the clock of this machine')
    return fine(new Date(nowMs).toISOString())
  },
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () =>
      probe.close(() => resolve(true)),
    )
  })

const ports: Check = {
  name: 'Ports',
  async run({ dataDir }) {
    const run = await readRunFile(dataDir)
    if (run && isAlive(run.pid))
      return fine(`${run.gateway_url} and ${run.user_api_url} are held by our server`)
    const taken: number[] = []
    for (const port of defaultPorts) if (!(await isFree(port))) taken.push(port)
    if (taken.length === 0) return fine(`${defaultPorts.join(' and ')} are free`)
    return warn(
      `something else listens on ${taken.join(' and ')}`,
      'end it, or choose others with --gateway-port and --user-api-port',
    )
  },
}

const confinement: Check = {
  name: 'Confinement of paths',
  async run() {
    if (process.platform !== 'linux')
      return warn('files are confined with less care away from Linux', 'run the server on Linux')
    const seen = await access('/proc/self/fd', constants.R_OK | constants.X_OK).then(
      () => true,
      () => false,
    )
    if (seen) return fine('/proc is mounted')
    return fail('/proc/self/fd cannot be read', 'mount /proc for the server')
  },
}

const server: Check = {
  name: 'Server',
  async run({ dataDir, found }) {
    if (found.state === 'unknown') throw found.error
    if (found.state === 'running')
      return fine(`process ${found.run.pid} answers at ${found.run.user_api_url}`)
    const left = await readRunFile(dataDir)
    return fail(
      left ? 'none runs; the last one ended without cleaning up' : 'none runs',
      'start it: gatehouse serve',
    )
  },
}

const health: Check = {
  name: 'Health',
  needs: 'server',
  async run({ api }): Promise<Finding> {
    const { status, reasons } = await api.getHealth()
    return reasons.length === 0
      ? fine(status)
      : fail(
          reasons.join('; '),
          reasons.every((reason) => reason.includes('run: gatehouse'))
            ? 'see the reason'
            : 'see the log of the server for the cause',
        )
  },
}

const log: Check = {
  name: 'Log',
  needs: 'server',
  async run({ api }) {
    const dropped = (await api.getHealth()).components.log.dropped_lines
    if (dropped === 0) return fine('every line was written')
    return warn(
      `${counted(dropped, 'line was', 'lines were')} dropped since the start: nobody reads the log, or its disk is full`,
      'restart what reads the log of the server',
    )
  },
}

const sandbox: Check = {
  name: 'Sandbox',
  needs: 'data',
  async run({ api }) {
    const { usable, backend, detail, remedy } = await api.probeSandbox()
    if (!usable) return warn(`programs do not run: ${detail}`, remedy ?? 'gatehouse setup sandbox')
    return remedy === null ? fine(`${backend}: ${detail}`) : warn(`${backend}: ${detail}`, remedy)
  },
}

const engine: Check = {
  name: 'Local models',
  needs: 'data',
  async run({ api }) {
    const { package: program, model, quarantined, last_failure } = await api.showEngine()
    const installed = (await api.listModels()).models.filter(({ installed }) => installed)
    const [held] = quarantined
    if (held) return warn(`${held.id} is in quarantine: ${held.reason}`, 'gatehouse models release')
    const detail = `engine ${program.version}, ${installed.length} installed, ${model ?? 'none'} loaded`
    if (program.installed)
      return last_failure === null
        ? fine(detail)
        : warn(`${detail}; it ended: ${last_failure}`, 'gatehouse models engine')
    if (installed.length === 0)
      return fine('none are installed; to use some, run gatehouse models setup')
    return warn(`${program.problem}`, program.remedy ?? 'gatehouse models setup')
  },
}

const storage: Check = {
  name: 'Storage',
  needs: 'data',
  async run({ api }) {
    const { components } = await api.getHealth()
    const { engine, status, reason = status } = components.storage
    return status === 'healthy' ? fine(engine) : fail(`${engine}: ${reason}`, 'see the reason')
  },
}

const audit: Check = {
  name: 'Audit log',
  needs: 'data',
  async run({ api }) {
    const page = await api.queryAudit({ limit: 1 })
    if (page.integrity === 'verified')
      return fine(`${counted(page.total, 'entry', 'entries')}, verified`)
    if (page.integrity === 'incomplete')
      return warn(
        (page.unchecked ?? []).map(({ reason }) => `not checked: ${reason}`).join('; '),
        'gatehouse audit verify',
      )
    if (page.found_by !== undefined)
      return fail(page.detail ?? `found by ${page.found_by}`, page.remedy ?? 'gatehouse nodes list')
    const at = page.first_bad_id ?? 'its end'
    return fail(`it is damaged at ${at} (${page.kind ?? 'unknown'})`, 'gatehouse audit verify')
  },
}

const policy: Check = {
  name: 'Policy',
  needs: 'data',
  async run({ api }) {
    const { version, problems } = await api.showPolicies()
    const detail = problems.map(problemLine).join('; ')
    if (hasError(problems))
      return fail(detail, 'correct the file; until then the last good one stays active')
    return problems.length > 0 ? warn(detail, 'gatehouse policy check') : fine(version)
  },
}

export const checks: readonly Check[] = [
  node,
  dataDirectory,
  secrets,
  vaultKey,
  atRestCheck,
  space,
  clock,
  ports,
  confinement,
  server,
  sandbox,
  engine,
  storage,
  vault,
  health,
  log,
  policy,
  audit,
  importCheck,
  ...clientChecks,
]
