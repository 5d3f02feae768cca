import { GatehouseError } from '@gatehouse/contract'
import type { Secrets } from '../ports/secrets.ts'
import type { RemoteUrl } from './url.ts'

/** Answer in git's own protocol for logins; it lives in memory and in one pipe. */
export type Credential = Uint8Array

/** `user:password`, or a token alone, as the usual hosts take it. */
const credentialOf = (name: string, value: string): Credential => {
  if (/[\r\n\0]/.test(value)) {
    const detail = `the secret ${name} holds a line break, so it is no login`
    throw new GatehouseError('RemoteRefused', { host: 'asked for', detail })
  }
  const colon = value.indexOf(':')
  const user = colon < 0 ? 'x-access-token' : value.slice(0, colon)
  return Buffer.from(`username=${user}\npassword=${value.slice(colon + 1)}\n`)
}

/** Calls `work` with the login of a secret, whose scope names this agent, capability and host; or without one. */
export const withCredential = <T>(
  secrets: Pick<Secrets, 'use'>,
  use: { readonly agent: string; readonly capability: string; readonly secret: string | undefined },
  remote: RemoteUrl,
  work: (credential: Credential | null) => Promise<T>,
): Promise<T> => {
  const { agent, capability, secret } = use
  if (secret === undefined) return work(null)
  if (remote.isPlain) {
    const detail = 'a secret is sent over https only'
    return Promise.reject(new GatehouseError('UrlNotAllowed', { detail }))
  }
  return secrets.use({ name: secret, agent, capability, host: remote.host }, (value) =>
    work(credentialOf(secret, value)),
  )
}

/**
 * Runs git with the login waiting on a descriptor: not an argument, not in the environment, in no file.
 * A constant line; nothing of a caller's is part of it.
 */
export const withLoginOnDescriptor = ['-c', 'exec 3<&0 </dev/null; exec git "$@"', 'git'] as const

/** Asks that descriptor, once, and for this host only. */
export const credentialSettings = ({ url }: RemoteUrl): readonly string[] => [
  '-c',
  `credential.${new URL(url).origin}.helper=!f() { test "$1" = get && cat <&3; }; f`,
]
