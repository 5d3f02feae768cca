import type { LayerRule } from './types.ts'

const split = (pattern: string): readonly [host: string, port: string] => {
  const colon = pattern.lastIndexOf(':')
  return [pattern.slice(0, colon), pattern.slice(colon + 1)]
}

/** Whether everything that `narrow` lets through is let through by `wide` too. */
export const coversHosts = (wide: string, narrow: string): boolean => {
  const [wideHost, widePort] = split(wide)
  const [narrowHost, narrowPort] = split(narrow)
  if (widePort !== narrowPort) return false
  if (wideHost === narrowHost) return true
  // `*.a.org` covers `b.a.org` and `*.b.a.org`, and neither `a.org` nor a part of a name.
  return wideHost.startsWith('*.') && narrowHost.endsWith(wideHost.slice(1))
}

/** A rule for everything says nothing about programs; one for processes says which hosts, or none. */
const boundsHosts = ({ match }: LayerRule): boolean => match !== '*'

/**
 * Hosts that the deciding rule lets a program reach, as far as each matched floor lists them too.
 * @SECURITY A lower layer adds no host to a floor's list (network.test.ts, "adds no host").
 */
export const networkOf = (
  deciding: LayerRule,
  floors: readonly LayerRule[],
): readonly string[] | null => {
  if (deciding.network === undefined) return null
  const hosts = deciding.network.filter((host) =>
    floors
      .filter(boundsHosts)
      .every(({ network }) => (network ?? []).some((wide) => coversHosts(wide, host))),
  )
  return hosts.length > 0 ? hosts : null
}
