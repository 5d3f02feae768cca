import type { Digest } from '../../ports/digest.ts'
import type { PolicyShare } from '../../ports/policy-share.ts'
import type { Storage } from '../../ports/storage.ts'

export type LinkDeps = {
  readonly storage: Pick<Storage, 'id'>
  readonly digest: Pick<Digest, 'hmac' | 'equal'>
  readonly policyShare: Pick<PolicyShare, 'key'>
}

/** Where other nodes reach a node, and the SHA-256 of the certificate that it shows them. */
export type NodeLink = { readonly url: string; readonly certificate: string }

/** The same as it lies in the database, authenticated with the key that nodes have in common. */
export type SignedLink = NodeLink & { readonly mac: string }

const macOf = (
  { storage, digest }: LinkDeps,
  key: string,
  node: string,
  { url, certificate }: NodeLink,
): string =>
  digest.hmac(key, ['gatehouse node link', storage.id, node, url, certificate].join('\n'))

/** The link of a node for the database; null where there is none, or no key. */
export const signLink = (
  deps: LinkDeps,
  node: string,
  link: NodeLink | null,
): SignedLink | null => {
  if (link === null) return null
  const key = deps.policyShare.key()
  return key !== null ? { ...link, mac: macOf(deps, key, node, link) } : null
}

/**
 * Whether a node of the installation said so.
 * @SECURITY Whoever can write to the database would be sent requests with the tokens of agents; ways.test.ts.
 */
export const isGenuineLink = (
  deps: LinkDeps,
  key: string | null,
  node: string,
  link: SignedLink | null,
): link is SignedLink =>
  typeof link?.mac === 'string' &&
  key !== null &&
  deps.digest.equal(macOf(deps, key, node, link), link.mac)
