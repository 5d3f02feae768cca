import { isIP } from 'node:net'

/** Names of a certificate: lowercase DNS names, and addresses without brackets. */
export type Names = { readonly dns: readonly string[]; readonly ip: readonly string[] }

const alwaysDns = ['localhost', 'gatehouse.localhost']
const alwaysIp = ['127.0.0.1', '::1']

/** Not names but "every address". */
const anyAddress = new Set(['0.0.0.0', '::'])

const isDnsName = (name: string): boolean =>
  /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/.test(
    name,
  )

/** Sorts hosts of any spelling into names and addresses; what is neither is left out. */
export function namesOf(hosts: readonly string[]): Names {
  const dns = new Set(alwaysDns)
  const ip = new Set(alwaysIp)
  for (const host of hosts) {
    const plain = host
      .toLowerCase()
      .replace(/^\[|\]$/g, '')
      .replace(/\.$/, '')
    if (anyAddress.has(plain)) continue
    if (isIP(plain) !== 0) ip.add(plain)
    else if (isDnsName(plain)) dns.add(plain)
  }
  return { dns: [...dns], ip: [...ip] }
}

/** The bytes of an address in network order. */
export function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number))
  const [head = '', tail] = address.split('::')
  const words = (part: string) =>
    part === ''
      ? []
      : part.split(':').flatMap((group) => {
          if (!group.includes('.')) return [Number.parseInt(group, 16)]
          const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
          return [a * 256 + b, c * 256 + d]
        })
  const [left, right] = [words(head), words(tail ?? '')]
  const fill = tail === undefined ? 0 : 8 - left.length - right.length
  const all = [...left, ...Array<number>(fill).fill(0), ...right]
  return Buffer.from(all.flatMap((word) => [word >> 8, word & 255]))
}
