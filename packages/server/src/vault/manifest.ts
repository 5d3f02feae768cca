import { createHmac, hash, hkdfSync } from 'node:crypto'
import type { StoredSecret } from '../ports/secret-store.ts'
import type { Root } from './keyring.ts'

/** Every secret there is, each by its id: its name, and a digest of what of its row the vault wrote. */
export type Manifest = {
  readonly v: 1
  /** Counts up with each change of any of it. */
  readonly revision: number
  /** A digest of the stored master key: an older lock around it is another vault. */
  readonly keyring: string
  readonly secrets: Readonly<Record<string, readonly [name: string, digest: string]>>
}

/** State of a manifest outside of the database: its revision and digest. */
export type Sealed = { readonly revision: number; readonly digest: string }

const sha256 = (text: string): string => hash('sha256', text)

/** Uses and requests are left out: they change beside the vault, and grant nothing. */
export const digestOf = (secret: StoredSecret): string => {
  const { id, name, description, version, capabilities, hosts, agents } = secret
  const { root_id, wrapped_key, sealed_value, created_ms, rotated_ms, scoped_ms } = secret
  const scope = [id, name, description, version, capabilities, hosts, agents]
  const value = [root_id, wrapped_key, sealed_value, created_ms, rotated_ms, scoped_ms]
  return sha256(JSON.stringify([...scope, ...value]))
}

export const keyringDigest = (stored: string): string => sha256(stored)

const macOf = (body: string, { key, install }: Root): string => {
  const own = hkdfSync('sha256', key, install, 'gatehouse-vault-manifest-mac', 32)
  return createHmac('sha256', Buffer.from(own)).update(body).digest('base64')
}

/** The manifest as it is stored. Without the master key it has no MAC: then only who knows its digest believes it. */
export const encodeManifest = (manifest: Manifest, root: Root | null): string => {
  const body = JSON.stringify(manifest)
  return `${body}\n${root ? macOf(body, root) : ''}`
}

/** Null where it cannot be one. */
export const decodeManifest = (stored: string): Manifest | null => {
  try {
    const given = JSON.parse(stored.split('\n')[0] ?? '') as Partial<Manifest> | null
    const isManifest =
      given?.v === 1 && Number.isSafeInteger(given.revision) && typeof given.secrets === 'object'
    return isManifest ? (given as Manifest) : null
  } catch {
    return null
  }
}

export const hasMac = (stored: string, root: Root): boolean => {
  const [body = '', mac = ''] = stored.split('\n')
  return mac !== '' && mac === macOf(body, root)
}

export const sealedOf = (stored: string, { revision }: Manifest): Sealed => ({
  revision,
  digest: sha256(stored),
})

export const sealedText = ({ revision, digest }: Sealed): string => `${revision} ${digest}`

export const parseSealed = (text: string): Sealed => {
  const [revision = '', digest = ''] = text.split(' ')
  return { revision: Number(revision), digest }
}
