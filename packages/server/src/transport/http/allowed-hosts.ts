import { isIP } from 'node:net'

/** Answers already given, so that the honest header is compared once. Bounded: a peer chooses keys. */
const rememberMax = 256

/** The name of a Host header without port, lowercase and without a final dot; null if it is none. */
export const hostName = (header: string): string | null => {
  const match = /^(\[[0-9a-f:.]+\]|[^\s/?#@\\:[\]]+)(?::\d{1,5})?$/i.exec(header)
  const name = match?.[1]?.toLowerCase() ?? null
  return name?.endsWith('.') ? name.slice(0, -1) : name
}

const isLiteral = (name: string): boolean =>
  isIP(name) === 4 || (name.startsWith('[') && isIP(name.slice(1, -1)) === 6)

/**
 * Whether a Host header names this machine. IP literals may: a page elsewhere cannot make a browser
 * send one for a name of its own, which is what DNS rebinding needs.
 *
 * @SECURITY Without it any web page could reach the gateway under a name of its own; open-gateway.test.ts.
 */
export const createHostCheck = (allowed: readonly string[]): ((header: string) => boolean) => {
  const names = new Set(allowed.map((name) => hostName(name) ?? name.toLowerCase()))
  const known = new Map<string, boolean>()
  const decide = (header: string): boolean => {
    const name = hostName(header)
    if (name === null) return false
    return name === 'localhost' || name.endsWith('.localhost') || isLiteral(name) || names.has(name)
  }
  return (header) => {
    const before = known.get(header)
    if (before !== undefined) return before
    const verdict = decide(header)
    if (known.size < rememberMax) known.set(header, verdict)
    return verdict
  }
}
