/** Address and proof with which another node fetches the keys over TLS that nobody else can answer. */
export type Invite = {
  readonly url: string
  readonly fingerprint: string
  readonly secret: string
}

const prefix = 'gatehouse-node-'

export const inviteText = ({ url, fingerprint, secret }: Invite): string =>
  prefix + Buffer.from(JSON.stringify([url, fingerprint, secret])).toString('base64url')

/** Null for a text that is none. */
export function parseInvite(text: string): Invite | null {
  if (!text.startsWith(prefix)) return null
  try {
    const found: unknown = JSON.parse(
      Buffer.from(text.slice(prefix.length), 'base64url').toString(),
    )
    if (!Array.isArray(found) || found.length !== 3) return null
    const [url, fingerprint, secret] = found as unknown[]
    if (typeof url !== 'string' || typeof fingerprint !== 'string' || typeof secret !== 'string')
      return null
    return new URL(url).protocol === 'https:' ? { url, fingerprint, secret } : null
  } catch {
    return null
  }
}
