import { refuse } from './refuse.ts'
import type { Surroundings } from './surroundings.ts'

export const portsOf = (texts: readonly string[], { origin }: Surroundings): readonly number[] =>
  texts.map((text) => {
    const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
    return port >= 1 && port <= 65_535
      ? port
      : refuse(
          origin,
          `outbound.ports must be a list of ports as texts, such as ["8443"]; ${text} is none`,
        )
  })

const listOf = (text: string): readonly string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')

const ambient = ({ environment }: Surroundings, name: string): string | null =>
  environment[name] || environment[name.toLowerCase()] || null

/** The setting that has the proxy taken from the environment. */
const fromEnvironment = 'environment'

export const proxyOf = (proxy: string | null, around: Surroundings): string | null =>
  proxy === fromEnvironment ? ambient(around, 'HTTPS_PROXY') : proxy

export const noProxyOf = (hosts: readonly string[], around: Surroundings): readonly string[] =>
  around.given('outbound.proxy') === fromEnvironment
    ? [...hosts, ...listOf(ambient(around, 'NO_PROXY') ?? '')]
    : hosts
