import { resolve } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import type { Value } from './parse.ts'

/** The settings of the way out. */
export type OutboundValues = {
  readonly privateTargets: readonly string[]
  readonly ports: readonly number[]
  readonly caFile: string | null
  readonly proxy: string | null
  readonly proxyAuthFile: string | null
  readonly noProxy: readonly string[]
  readonly origins: Readonly<Record<string, string>>
}

type Key =
  | 'outbound.private_targets'
  | 'outbound.ports'
  | 'outbound.ca_file'
  | 'outbound.proxy'
  | 'outbound.proxy_auth_file'
  | 'outbound.no_proxy'

type Surroundings = {
  readonly dataDir: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly origins: Readonly<Record<string, string>>
}

const portsOf = (texts: readonly string[], origin: string): readonly number[] =>
  texts.map((text) => {
    const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
    if (port >= 1 && port <= 65_535) return port
    throw new GatehouseError('InvalidConfiguration', {
      origin,
      detail: `outbound.ports must be a list of ports as texts, such as ["8443"]; ${text} is none`,
    })
  })

const listOf = (text: string | undefined): readonly string[] =>
  (text ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')

export const outboundOf = (
  get: <T extends Value>(key: Key) => T,
  { dataDir, environment, origins }: Surroundings,
): OutboundValues => {
  const file = (key: Key) => {
    const value = get<string | null>(key)
    return value === null ? null : resolve(dataDir, value)
  }
  const proxy = get<string | null>('outbound.proxy')
  const ambient = (name: string) =>
    environment[name] || environment[name.toLowerCase()] || undefined
  const isAmbient = proxy === 'environment'
  return {
    privateTargets: get('outbound.private_targets'),
    ports: portsOf(get('outbound.ports'), origins['outbound.ports'] ?? ''),
    caFile: file('outbound.ca_file'),
    proxy: isAmbient ? (ambient('HTTPS_PROXY') ?? null) : proxy,
    proxyAuthFile: file('outbound.proxy_auth_file'),
    noProxy: [
      ...get<readonly string[]>('outbound.no_proxy'),
      ...(isAmbient ? listOf(ambient('NO_PROXY')) : []),
    ],
    origins,
  }
}
