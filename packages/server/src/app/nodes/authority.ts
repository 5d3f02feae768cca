import type { Basics } from '../call/basics.ts'
import { otherNodes } from './fit.ts'

const metaKey = 'tls_authority'

type Deps = Pick<Basics, 'storage'> & { readonly node: string }

/** Fingerprint of the certificate authority that the nodes share; null where this node may have any. */
export async function sharedAuthority({ storage, node }: Deps): Promise<string | null> {
  if (!storage.isNetworked || otherNodes(await storage.nodes.list(), node).length === 0) return null
  return storage.meta.get(metaKey)
}

/** Other nodes have to have this one from now on. */
export async function recordAuthority({ storage }: Deps, fingerprint: string): Promise<void> {
  if (!storage.isNetworked || (await storage.meta.get(metaKey)) === fingerprint) return
  await storage.meta.set(metaKey, fingerprint)
}
