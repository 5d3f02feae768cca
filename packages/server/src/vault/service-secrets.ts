import { GatehouseError } from '@gatehouse/contract'
import { servicePrefix } from '../domain/secrets/scope.ts'
import type { StoredSecret } from '../ports/secret-store.ts'
import type { Secrets } from '../ports/secrets.ts'
import { systemEntry } from './entries.ts'
import { sealValue } from './envelope.ts'
import { assertKeepable } from './records.ts'
import type { VaultKeys } from './vault-keys.ts'
import type { VaultParts } from './vault-parts.ts'

const nameOf = (given: string): string =>
  given.startsWith(servicePrefix) ? given : servicePrefix + given

/** Only connections of the service itself use them; see `decideUse`. */
const scope = { capabilities: [`${servicePrefix}*`], hosts: [], agents: [] }

const never = { description: '', uses: 0, last_use: null }

/** Values that the service keeps for itself, such as the password of a mailbox. */
export const serviceSecrets = (
  { auditLog, clock, ids }: VaultParts,
  keys: VaultKeys,
): Pick<Secrets, 'keepForService' | 'forgetForService'> => ({
  async keepForService(given, value) {
    const name = nameOf(given)
    assertKeepable(name, value)
    await auditLog.transaction(async (tx) => {
      const root = await keys.present(tx)
      const current = await tx.secrets.find(name)
      const nowMs = clock.wall()
      const version = (current?.version ?? 0) + 1
      const facts = { id: current?.id ?? ids.next('sec'), name, version, ...scope }
      const next: StoredSecret = {
        ...never,
        created_ms: nowMs,
        scoped_ms: nowMs,
        ...current,
        ...facts,
        ...sealValue(root, facts, value),
        rotated_ms: nowMs,
        rotation_request: null,
      }
      if (!current) await tx.secrets.insert(next)
      else if (!(await tx.secrets.replace(current, next)))
        throw new GatehouseError('Conflict', { detail: `${name} changed meanwhile` })
      const vault = await keys.seal.change(tx, root, { put: [next] })
      tx.append(systemEntry(ids)('secret.kept', { arguments: { name, version } }), { vault })
    })
  },

  async forgetForService(given) {
    const name = nameOf(given)
    await auditLog.transaction(async (tx) => {
      const current = await tx.secrets.find(name)
      if (!current || !(await tx.secrets.delete(name))) return
      const vault = await keys.seal.change(tx, keys.openRoot, { removed: [current.id] })
      tx.append(systemEntry(ids)('secret.deleted', { arguments: { name } }), { vault })
    })
  },
})
