import { hostname } from 'node:os'
import { GatehouseError } from '@gatehouse/contract'
import { createHostCheck, hostName } from '../http/allowed-hosts.ts'

/** Check of where a request says it comes from, before anything else of it counts. */
export type HostGuard = {
  assertAllowed(headers: Headers, isRemote: boolean): void
  /**
   * Origin of the pages of this listener, as the request reached them; null where it has none, and for an address that
   * is neither of this machine alone nor named in the settings: whoever asks could name any.
   */
  ownOrigin(headers: Headers): string | null
}

const loopback = /^(?:(?:[^.]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/**
 * Addresses, local names and those of `hosts` only, and no page of a browser from elsewhere: other ports of the same
 * machine are elsewhere too.
 * @SECURITY DNS rebinding and cross-site calls stop here; host-guard.test.ts fails without it.
 */
export function createHostGuard(
  hosts: readonly string[],
  origins: readonly string[],
  /** The scheme of this listener's own pages, where it has some. */
  ownScheme: 'https' | null = null,
): HostGuard {
  const names = [hostname(), ...hosts]
  const isOurs = createHostCheck(names)
  const named = new Set(names.map((name) => hostName(name) ?? name.toLowerCase()))
  return {
    ownOrigin(headers) {
      const host = headers.get('host')
      const name = host === null ? null : hostName(host)
      if (ownScheme === null || host === null || name === null) return null
      const isKnown = loopback.test(name) || named.has(name)
      return isKnown ? new URL(`${ownScheme}://${host}`).origin : null
    },

    assertAllowed(headers, isRemote) {
      const host = headers.get('host')
      if (host === null && isRemote)
        throw new GatehouseError('InvalidRequest', { detail: 'the Host header is missing' })
      if (host !== null && !isOurs(host))
        throw new GatehouseError('HostNotAllowed', { host: hostName(host) ?? 'given' })
      const origin = headers.get('origin')
      const own = ownScheme !== null && origin === `${ownScheme}://${host?.toLowerCase()}`
      if (origin !== null && !own && !origins.includes(origin))
        throw new GatehouseError('OriginNotAllowed', { origin })
    },
  }
}
