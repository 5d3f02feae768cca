import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Range<T> = readonly [T, number]

const v4 = (cidr: string): Range<ipaddr.IPv4> => ipaddr.IPv4.parseCIDR(cidr)
const v6 = (cidr: string): Range<ipaddr.IPv6> => ipaddr.IPv6.parseCIDR(cidr)

/** Addresses that are no place on the internet, after the registries of special addresses (RFC 6890 and its updates). */
const specialV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
].map(v4)

const globalV6 = v6('2000::/3')
const mapped = v6('::ffff:0:0/96')
const nat64 = v6('64:ff9b::/96')

/** Inside of 2000::/3: protocol assignments with Teredo, examples, 6to4, examples again. */
const specialV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'].map(v6)

const isIn = <T extends ipaddr.IPv4 | ipaddr.IPv6>(address: T, [base, bits]: Range<T>): boolean =>
  address instanceof ipaddr.IPv4
    ? base instanceof ipaddr.IPv4 && address.match(base, bits)
    : base instanceof ipaddr.IPv6 && (address as ipaddr.IPv6).match(base, bits)

/** The IPv4 address in the last 32 bits. */
const lastFour = (address: ipaddr.IPv6): ipaddr.IPv4 =>
  new ipaddr.IPv4(address.toByteArray().slice(12))

/** Only the usual spellings; a zone such as `%eth0` makes it an address of one link, and thus none of ours. */
const parse = (text: string): ipaddr.IPv4 | ipaddr.IPv6 | null => {
  if (isIP(text) === 0 || text.includes('%')) return null
  // The library does not read every mixed spelling such as `64:ff9b::8.8.8.8`; a URL has one for each.
  const plain = text.includes(':') ? new URL(`http://[${text}]/`).hostname.slice(1, -1) : text
  const address = ipaddr.parse(plain)
  return address instanceof ipaddr.IPv6 && isIn(address, mapped) ? lastFour(address) : address
}

/** One spelling for each address, IPv4 in IPv6 as IPv4; null for what is no address or bound to a link. */
export const canonicalAddress = (text: string): string | null => parse(text)?.toString() ?? null

/**
 * Whether an address is a place on the internet. Anything that is not known to be one is none: IPv6 outside
 * of 2000::/3 (NAT64 goes by the IPv4 address in it), 6to4, Teredo, and what cannot be read.
 */
export const isGlobalAddress = (text: string): boolean => {
  const address = parse(text)
  if (address === null) return false
  if (address instanceof ipaddr.IPv4) return !specialV4.some((range) => isIn(address, range))
  if (isIn(address, nat64)) return isGlobalAddress(lastFour(address).toString())
  return isIn(address, globalV6) && !specialV6.some((range) => isIn(address, range))
}
