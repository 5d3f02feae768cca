import { addressBytes, type Names } from './names.ts'

/** One DER value; the lengths here never pass 65,535. */
const der = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts)
  const { length } = body
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), body])
}

const sequence = 0x30
const dnsName = 0x82
const ipAddress = 0x87
const permitted = 0xa0

/** Permits a name and every name below it. */
const dnsSubtree = (name: string): Buffer =>
  der(sequence, der(dnsName, Buffer.from(name, 'latin1')))

/** Permits one address; of 127.0.0.1 its whole block, which is this machine too. */
const ipSubtree = (address: string): Buffer => {
  const bytes = addressBytes(address)
  const mask =
    address === '127.0.0.1' ? Buffer.from([255, 0, 0, 0]) : Buffer.alloc(bytes.length, 0xff)
  const network = Buffer.from(bytes.map((byte, i) => byte & (mask[i] ?? 0)))
  return der(sequence, der(ipAddress, network, mask))
}

const subtreesOf = ({ dns, ip }: Names): Buffer[] => [...dns.map(dnsSubtree), ...ip.map(ipSubtree)]

/**
 * The value of the extension: names and addresses that an authority may vouch for, and no others.
 * @SECURITY The authority's key lies on this disk and people trust it; without this whoever takes it
 * can be any site to them. certificates.test.ts fails without it.
 */
export const nameConstraints = (names: Names): Buffer =>
  der(sequence, der(permitted, ...subtreesOf(names)))

/** Names that an authority may vouch for, by its own bytes. */
export function permittedBy(authority: Buffer, { dns, ip }: Names): Names {
  return {
    dns: dns.filter((name) => {
      const labels = name.split('.')
      return labels.some((_label, i) => authority.includes(dnsSubtree(labels.slice(i).join('.'))))
    }),
    ip: ip.filter((address) => authority.includes(ipSubtree(address))),
  }
}
