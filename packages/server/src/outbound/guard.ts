import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { GatehouseError } from '@gatehouse/contract'
import { parseEndpoint } from '../domain/web-address.ts'
import { canonicalAddress, isGlobalAddress } from './addresses.ts'

/** Why a connection is not made. Never leaves this folder: outside it reads like a host that is not there. */
export class Blocked extends Error {
  constructor() {
    super('the address is not one that may be reached')
    this.name = 'Blocked'
  }
}

export type GuardSettings = {
  /** `address:port` that may be reached though they are no places on the internet. */
  readonly privateTargets: readonly string[]
  /** Where the setting came from, for the error. */
  readonly origin: string
  /** Ports that this service listens on. */
  readonly ownPorts: () => ReadonlySet<number>
}

const keyOf = (address: string, port: number): string => `${address}|${port}`

const parseTarget = (text: string, origin: string): { address: string; port: number } => {
  const endpoint = parseEndpoint(text)
  const address = endpoint && isIP(endpoint.host) !== 0 ? canonicalAddress(endpoint.host) : null
  if (endpoint === null || address === null || address === '0.0.0.0' || address === '::')
    throw new GatehouseError('InvalidConfiguration', {
      origin,
      detail: `${text} must be an address and a port, such as 10.0.0.5:8080 or [fd00::5]:443`,
    })
  return { address, port: endpoint.port }
}

const isOwn = (address: string): boolean =>
  address.startsWith('127.') ||
  address === '::1' ||
  Object.values(networkInterfaces()).some((all) =>
    all?.some((own) => canonicalAddress(own.address.replace(/%.*$/, '')) === address),
  )

/** Decides which addresses may be dialled. */
export class Guard {
  readonly #listed = new Set<string>()
  readonly #listedAddresses = new Set<string>()
  readonly #listedPorts = new Set<number>()
  readonly #ownPorts: () => ReadonlySet<number>

  constructor({ privateTargets, origin, ownPorts }: GuardSettings) {
    this.#ownPorts = ownPorts
    for (const text of privateTargets) {
      const { address, port } = parseTarget(text, origin)
      this.#listed.add(keyOf(address, port))
      this.#listedAddresses.add(address)
      this.#listedPorts.add(port)
    }
  }

  /** `listedOnly`: the port is not an open one, so that only what the operator listed with it counts. */
  allows(address: string, port: number, { listedOnly = false } = {}): boolean {
    const canonical = canonicalAddress(address)
    if (canonical === null) return false
    // @SECURITY Also where such a target is listed: nobody reaches the listeners of this service by itself
    // (guard.test.ts).
    if (this.#ownPorts().has(port) && isOwn(canonical)) return false
    if (this.#listed.has(keyOf(canonical, port))) return true
    return !listedOnly && isGlobalAddress(canonical)
  }

  /** Whether an address may be told to whoever asks for its name. */
  mayTell(address: string): boolean {
    const canonical = canonicalAddress(address)
    return (
      canonical !== null && (isGlobalAddress(canonical) || this.#listedAddresses.has(canonical))
    )
  }

  listsPort(port: number): boolean {
    return this.#listedPorts.has(port)
  }
}
