import type { AddressInfo } from 'node:net'

/** The host of a listener in an address: where it listens on every address, that of this machine itself. */
export const reachableName = ({ address, family }: AddressInfo): string => {
  if (address === '0.0.0.0') return '127.0.0.1'
  if (address === '::') return '[::1]'
  return family === 'IPv6' ? `[${address}]` : address
}
