import { isIP } from 'node:net'
import { refuse } from './refuse.ts'
import type { Surroundings } from './surroundings.ts'

/** Origin of the address under which people and agents elsewhere reach the service; null where none is named. */
export const publicUrlOf = (written: string | null, { origin }: Surroundings): string | null => {
  if (written === null) return null
  const url = URL.canParse(written) ? new URL(written) : null
  const isOrigin = url !== null && url.href === `${url.origin}/` && url.username === ''
  if (!isOrigin || url.protocol !== 'https:')
    return refuse(origin, 'is an https address without a path, such as https://gate.example.org')
  return url.origin
}

/** The address of a gateway, as an http origin. */
export const nodeUrlOf = (written: string | null, { origin }: Surroundings): string | null => {
  if (written === null) return null
  const url = URL.canParse(written) ? new URL(written) : null
  if (url?.protocol !== 'http:' || url.href !== `${url.origin}/`)
    return refuse(origin, 'is an http address without a path, such as http://10.0.0.5:7700')
  return url.origin
}

const isNetwork = (written: string): boolean => {
  const [address = '', bits, ...more] = written.split('/')
  const family = isIP(address)
  if (family === 0 || more.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}

export const networksOf = (
  written: readonly string[],
  { origin }: Surroundings,
): readonly string[] => {
  const wrong = written.find((network) => !isNetwork(network))
  if (wrong !== undefined)
    return refuse(origin, `"${wrong}" is no address and no network, such as 10.0.0.0/8`)
  return written
}
