import type { ProxyDeps } from './deps.ts'

const everything = Number.MAX_SAFE_INTEGER
const dropAtOnce = 50

/** Drops the replica of a service that is disconnected or forgotten, as long as nobody connects it again. */
export async function dropReplica(
  { storage }: Pick<ProxyDeps, 'storage'>,
  name: string,
): Promise<void> {
  for (;;) {
    const dropped = await storage.transaction(async (tx) => {
      const service = await tx.services.find(name)
      // Entries that are there by then are the new connection's, whose cursor is past them.
      if (service && service.status !== 'disconnected') return 0
      return tx.replica.dropOlder(name, null, everything, dropAtOnce)
    })
    if (dropped < dropAtOnce) return
  }
}
