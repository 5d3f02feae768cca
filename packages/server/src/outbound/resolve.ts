import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { Blocked } from './guard.ts'

export type Address = { readonly address: string; readonly family: number }

/** Every address of a name, in the order to be tried. Raises where there is none. */
export type Resolve = (hostname: string) => Promise<readonly Address[]>

export const resolveBySystem: Resolve = (hostname) =>
  lookup(hostname, { all: true, verbatim: true })

/**
 * The addresses that may be dialled for a host. One that may not be dialled refuses them all: an honest name
 * has no such, and a hostile one must not be tried until it leads inside.
 */
export const allowedAddresses = async (
  resolve: Resolve,
  host: string,
  allows: (address: string) => boolean,
): Promise<readonly Address[]> => {
  const family = isIP(host)
  const found = family === 0 ? await resolve(host) : [{ address: host, family }]
  // @SECURITY Any, not all (guard.test.ts).
  if (found.length === 0 || !found.every(({ address }) => allows(address))) throw new Blocked()
  return found
}

/** The same as `net.connect` asks for it: what was checked is what is dialled, without a second question. */
export const guardedLookup =
  (resolve: Resolve, allows: (address: string) => boolean): LookupFunction =>
  (hostname, options, answer) => {
    allowedAddresses(resolve, hostname, allows).then(
      (found) => {
        const [first] = found
        if (options.all) answer(null, [...found])
        else answer(null, first?.address ?? '', first?.family)
      },
      (cause: NodeJS.ErrnoException) => answer(cause, ''),
    )
  }
