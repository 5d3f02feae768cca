import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { didYouMean, GatehouseError } from '@gatehouse/contract'
import { isMap, isScalar, LineCounter, type Node, parseDocument } from 'yaml'
import { type Field, fields, flagOf, variableOf } from './fields.ts'
import { type ModelValues, modelsOf } from './models.ts'
import { type OutboundValues, outboundOf } from './outbound.ts'
import { parseValue, type Value } from './parse.ts'
import { type ProxyValues, proxyOf } from './proxy.ts'
import type { Target } from './targets.ts'

type SandboxMode = 'auto' | 'bubblewrap' | 'landlock' | 'unconfined'

/** The settings in force, typed, each with where it came from. */
export type Settings = {
  readonly dataDir: string
  readonly host: string
  readonly gatewayPort: number
  readonly userApiPort: number
  readonly dashboardHost: string
  readonly dashboardPort: number
  /** The operator's own certificate; null for one by the local authority. */
  readonly tls: { readonly cert: string; readonly key: string } | null
  readonly databaseUrl: string | null
  readonly firstAgent: boolean
  readonly allowedHosts: readonly string[]
  readonly allowedOrigins: readonly string[]
  readonly bodyBytesMax: number
  readonly jsonDepthMax: number
  readonly approvalTtlMs: number
  readonly approvalHoldMs: number
  /** A second file for checkpoints of the audit log; null for none. */
  readonly checkpointCopy: string | null
  readonly alertDiskPercent: number
  readonly alertApprovalWaitMs: number
  readonly logLevel: string
  readonly wakePort: number
  readonly sandboxMode: SandboxMode
  /** Who runs programs where the service is root; null to choose. */
  readonly sandboxUser: string | null
  /** The command of each agent, as a program and its arguments. */
  readonly onWake: Readonly<Record<string, readonly string[]>>
  /** Who is told outside of the dashboard; files of secrets as absolute paths. */
  readonly notifications: readonly Target[]
  /** Whether agents are refused files with more than one name. */
  readonly denyHardlinks: boolean
  /** Keys of a repository's configuration that are harmless here besides. */
  readonly gitConfigAllowed: readonly string[]
  /** The way out to the network; files as absolute paths. */
  readonly outbound: OutboundValues
  readonly models: ModelValues
  readonly proxy: ProxyValues
  /** What commands of the operator inherit of the environment. */
  readonly commandEnvironment: Readonly<Record<string, string>>
  /** Origin of each value by key: `--flag`, `VARIABLE`, `file:line:column` or `default`. */
  readonly origins: Readonly<Record<string, string>>
}

export type Flags = Readonly<Record<string, string | boolean | undefined>>
type Found = { readonly value: Value; readonly origin: string }
type Environment = Readonly<Record<string, string | undefined>>

const refuse = (origin: string, detail: string): never => {
  throw new GatehouseError('InvalidConfiguration', { origin, detail })
}

const table: readonly Field[] = fields
const byKey = new Map(table.map((field) => [field.key, field]))

const settingName = /^[a-z][a-z0-9_.]{0,63}$/

/** Reads `gatehouse.yaml`. An unknown key, a key set twice or a wrong value is refused at its position. */
const readFile = (file: string, mustExist: boolean): Map<string, Found> => {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT' && !mustExist) return new Map()
    return refuse(file, 'cannot be read')
  }
  const lineCounter = new LineCounter()
  const at = (node: Node | null | undefined) => {
    const { line, col } = lineCounter.linePos(node?.range?.[0] ?? 0)
    return `${file}:${line}:${col}`
  }
  const document = parseDocument(text, { lineCounter, uniqueKeys: true, maxAliasCount: 0 } as never)
  const [problem] = document.errors
  if (problem) {
    // The message of the parser quotes the line; a file that is not ours to show must not leak by it.
    const { line, col } = lineCounter.linePos(problem.pos[0])
    return refuse(`${file}:${line}:${col}`, `is not valid YAML (${problem.code})`)
  }
  const found = new Map<string, Found>()
  const visit = (node: unknown, prefix: string): void => {
    if (!isMap(node))
      return refuse(at(node as Node), `${prefix || 'the file'} must be a map of settings`)
    for (const { key, value } of node.items) {
      if (!isScalar(key) || typeof key.value !== 'string') return refuse(file, 'keys must be texts')
      const name = prefix === '' ? key.value : `${prefix}.${key.value}`
      const field = byKey.get(name)
      if (field) {
        const plain = (value as Node | null)?.toJS(document) as unknown
        found.set(name, { value: parseValue(field, plain, at(value as Node)), origin: at(key) })
      } else if (table.some((other) => other.key.startsWith(`${name}.`))) visit(value, name)
      // What is no name of a setting may be a line of a file that is not ours to show.
      else if (!settingName.test(name)) refuse(at(key), 'this is no name of a setting')
      else refuse(at(key), `there is no setting ${name}.${didYouMean(name, [...byKey.keys()])}`)
    }
  }
  if (document.contents !== null) visit(document.contents, '')
  return found
}

const fromFlags = (flags: Flags): Map<string, Found> => {
  const found = new Map<string, Found>()
  for (const field of table) {
    const flag = flagOf(field)
    const given = flags[flag.slice(2)]
    if (given === undefined) continue
    const raw = field.negated ? given !== true : given
    found.set(field.key, { value: parseValue(field, raw, flag), origin: flag })
  }
  return found
}

const fromEnvironment = (environment: Environment): Map<string, Found> => {
  const found = new Map<string, Found>()
  for (const field of table) {
    const variable = variableOf(field)
    const given = environment[variable]
    if (given === undefined || given === '') continue
    found.set(field.key, { value: parseValue(field, given, variable), origin: variable })
  }
  return found
}

const defaultDataDir = (environment: Environment): string =>
  join(environment['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'gatehouse')

const inherited = (environment: Environment): Record<string, string> =>
  Object.fromEntries(
    ['PATH', 'HOME', 'USER', 'LANG', 'TZ', 'TMPDIR'].flatMap((name) => {
      const value = environment[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )

const defaultOf = (field: Field): Found => ({
  value:
    field.type === 'duration' && typeof field.default === 'string'
      ? parseValue(field, field.default, 'default')
      : field.default,
  origin: 'default',
})

const absolute = (file: string | null, folder: string): string | null =>
  file === null ? null : resolve(folder, file)

/** Both files or neither. */
const pairOf = (cert: Found | undefined, key: Found | undefined): Settings['tls'] => {
  const [certFile, keyFile] = [cert?.value, key?.value]
  if (typeof certFile === 'string' && typeof keyFile === 'string')
    return { cert: resolve(certFile), key: resolve(keyFile) }
  if (typeof certFile === 'string')
    refuse(cert?.origin ?? 'tls.cert', 'a certificate needs tls.key, its private key, too')
  if (typeof keyFile === 'string')
    refuse(key?.origin ?? 'tls.key', 'a private key needs tls.cert, its certificate, too')
  return null
}

/** Flags before environment before file before defaults. The only place that reads the environment. */
export const loadSettings = (flags: Flags, environment: Environment = process.env): Settings => {
  const [given, ambient] = [fromFlags(flags), fromEnvironment(environment)]
  const early = (key: string) => given.get(key) ?? ambient.get(key)
  const dataDir = resolve(
    (early('data_dir')?.value as string | undefined) ?? defaultDataDir(environment),
  )
  const config = early('config')
  const file = readFile(
    resolve((config?.value as string | undefined) ?? join(dataDir, 'gatehouse.yaml')),
    config !== undefined,
  )
  for (const key of ['data_dir', 'config'] as const) {
    const found = file.get(key)
    if (found) refuse(found.origin, `${key} decides where this file is, so it cannot stand in it`)
  }
  const all = new Map(
    table.map((field) => [field.key, early(field.key) ?? file.get(field.key) ?? defaultOf(field)]),
  )
  const get = <T extends Value>(key: (typeof fields)[number]['key']): T => all.get(key)?.value as T
  const origins = Object.fromEntries([...all].map(([key, { origin }]) => [key, origin]))
  return {
    dataDir,
    host: get('host'),
    gatewayPort: get('gateway_port'),
    userApiPort: get('user_api_port'),
    dashboardHost: get('dashboard_host'),
    dashboardPort: get('dashboard_port'),
    tls: pairOf(all.get('tls.cert'), all.get('tls.key')),
    databaseUrl: get('database_url'),
    firstAgent: get('first_agent'),
    allowedHosts: get('server.allowed_hosts'),
    allowedOrigins: get('server.allowed_origins'),
    bodyBytesMax: get('server.body_bytes_max'),
    jsonDepthMax: get('server.json_depth_max'),
    approvalTtlMs: get('approvals.ttl'),
    approvalHoldMs: get('approvals.hold'),
    checkpointCopy: absolute(get<string | null>('audit.checkpoint_copy'), dataDir),
    alertDiskPercent: get('alerts.disk_percent'),
    alertApprovalWaitMs: get('alerts.approval_wait'),
    logLevel: get('log.level'),
    wakePort: get('wake_port'),
    sandboxMode: get<SandboxMode>('sandbox.mode'),
    sandboxUser: get('sandbox.user'),
    onWake: get('on_wake'),
    notifications: get<readonly Target[]>('notifications').map((target) => ({
      ...target,
      secretFile: target.secretFile === null ? null : resolve(dataDir, target.secretFile),
    })),
    denyHardlinks: get('files.deny_hardlinks'),
    gitConfigAllowed: get('git.config_allowed'),
    outbound: outboundOf(get, { dataDir, environment, origins }),
    models: modelsOf(get, origins),
    proxy: proxyOf(get, origins),
    commandEnvironment: inherited(environment),
    origins,
  }
}
