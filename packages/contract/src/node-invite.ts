/** Address and proof with which another node fetches the keys over TLS that nobody else can answer. */
export type Invite = {
  readonly url: string
  readonly fingerprint: string
  readonly secret: string
}

const prefix = 'gatehouse-node-'

export const inviteText = ({ url, fingerprint, secret }: Invite): string =>
  prefix +
  btoa(JSON.stringify([url, fingerprint, secret]))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')

/** Null for a text that is none. */
export function parseInvite(text: string): Invite | null {
  if (!text.startsWith(prefix)) return null
  try {
    const coded = text.slice(prefix.length).trim().replaceAll('-', '+').replaceAll('_', '/')
    const found: unknown = JSON.parse(atob(coded))
    if (!Array.isArray(found) || found.length !== 3) return null
    const [url, fingerprint, secret] = found as unknown[]
    if (typeof url !== 'string' || typeof fingerprint !== 'string' || typeof secret !== 'string')
      return null
    return new URL(url).protocol === 'https:' ? { url, fingerprint, secret } : null
  } catch {
    return null
  }
}
