import { BlockList, isIP } from 'node:net'

/** Address of the one who asks: that of the connection, or the one that a trusted proxy names. */
export type ClientAddress = (
  peer: string | undefined,
  forwardedFor: string | null | undefined,
) => string | undefined

const plainOf = (address: string): string => {
  const bare = address.trim().replace(/^\[([^\]]*)\](?::\d+)?$/, '$1')
  return bare.toLowerCase().startsWith('::ffff:') && isIP(bare.slice(7)) === 4
    ? bare.slice(7)
    : bare
}

/** Networks as addresses, or as address/bits. */
const listOf = (networks: readonly string[]): BlockList => {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return list
}

/**
 * `X-Forwarded-For` is read from its end, where the proxies that we know wrote; the first address that is no such
 * proxy is the client. What stands before it anybody may have sent.
 * @SECURITY A client can't choose the address that its failures are counted under; client-address.test.ts.
 */
export const createClientAddress = (trustedProxies: readonly string[]): ClientAddress => {
  if (trustedProxies.length === 0) return (peer) => peer
  const trusted = listOf(trustedProxies)
  const isTrusted = (address: string) =>
    isIP(address) !== 0 && trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
  return (peer, forwardedFor) => {
    if (peer === undefined || !forwardedFor || !isTrusted(plainOf(peer))) return peer
    let client = peer
    for (const entry of forwardedFor.split(',').toReversed()) {
      const address = plainOf(entry)
      if (isIP(address) === 0) return client
      client = address
      if (!isTrusted(address)) return client
    }
    return client
  }
}
