import { GatehouseError } from '@gatehouse/contract'
import { decideUse, isFor, servicePrefix, type UseVerdict } from '../domain/secrets/scope.ts'
import type { SecretStore, StoredSecret } from '../ports/secret-store.ts'
import type { Secrets, SecretUse } from '../ports/secrets.ts'
import type { Storage } from '../ports/storage.ts'
import { useEntry } from './entries.ts'
import { openValue } from './envelope.ts'
import type { Root } from './keyring.ts'
import type { Scrubber } from './scrub/scrubber.ts'
import { serviceSecrets } from './service-secrets.ts'
import type { VaultKeys } from './vault-keys.ts'
import type { VaultParts } from './vault-parts.ts'

/** How often a use that meets a change of its secret is begun anew. */
const triesMax = 5

const absent: UseVerdict = { allowed: false, reason: 'there is no such secret' }

/** The service may leave the prefix of its own secrets away. */
const findFor = async (store: SecretStore, use: Pick<SecretUse, 'agent' | 'name'>) =>
  (await store.find(use.name)) ??
  (use.agent === null && !use.name.startsWith(servicePrefix)
    ? await store.find(servicePrefix + use.name)
    : null)

const verdictOn = (secret: StoredSecret | null, use: SecretUse): UseVerdict =>
  secret ? decideUse(secret.name, secret, use) : absent

/** Vault as the users of secrets see it. */
export function secretsOf(parts: VaultParts, keys: VaultKeys, scrubber: Scrubber): Secrets {
  const { storage, auditLog, clock, ids } = parts

  const factsOf = ({ name, agent, capability, host }: SecretUse) => ({
    agent: agent ?? '',
    arguments: { name, capability, host },
  })

  /** @SECURITY One answer for what is not there and for what is not allowed; vault.test.ts. The log knows more. */
  async function refuse(use: SecretUse, reason: string): Promise<never> {
    const facts = { ...factsOf(use), result: 'denied', detail: { reason } } as const
    await auditLog.append(useEntry(ids, use)('secret.refused', facts))
    throw new GatehouseError('SecretNotAllowed', {
      name: use.name,
      agent: use.agent ?? 'the service',
      capability: use.capability,
      host: use.host ?? 'no host',
    })
  }

  const opened = async (secret: StoredSecret): Promise<string> => {
    const root = await keys.rootOf(secret.root_id)
    try {
      return openValue(root, secret)
    } catch (cause) {
      parts.log.error({ err: cause, name: secret.name }, 'a stored secret was changed from outside')
      throw cause
    }
  }

  /** Also that the row which was opened is the one of now. */
  const sealedNow = async (
    tx: Pick<Storage, 'meta'>,
    root: Root,
    now: StoredSecret,
    read: StoredSecret,
  ): Promise<string> => {
    try {
      return await keys.seal.assertSealed(tx, root, [read, now])
    } catch (cause) {
      parts.log.error({ err: cause, name: read.name }, 'a stored secret was put back or changed')
      throw cause
    }
  }

  /** The value, once its use is on record; null where the secret changed in between. */
  async function take(secret: StoredSecret, use: SecretUse): Promise<string | null> {
    const value = await opened(secret)
    scrubber.know(secret.name, value)
    const { agent, capability, host } = use
    const lastUse = { ms: clock.wall(), agent, capability, host }
    const counted = await auditLog.transaction(async (tx) => {
      const root = await keys.present(tx)
      const now = await tx.secrets.find(secret.name)
      if (now?.version !== secret.version || now.root_id !== secret.root_id) return false
      const vault = await sealedNow(tx, root, now, secret)
      if (!(await tx.secrets.used(secret, lastUse))) return false
      tx.append(
        useEntry(ids, use)('secret.used', {
          ...factsOf(use),
          detail: { version: secret.version },
        }),
        { vault },
      )
      return true
    })
    return counted ? value : null
  }

  return {
    async use(use, work) {
      keys.root()
      for (let tries = 0; tries < triesMax; tries += 1) {
        const secret = await findFor(storage.secrets, use)
        const verdict = verdictOn(secret, use)
        if (!verdict.allowed || !secret)
          return refuse(use, verdict.allowed ? 'there is no such secret' : verdict.reason)
        const value = await take(secret, use).catch(async (cause: unknown) => {
          if (cause instanceof GatehouseError && cause.type === 'VaultTampered') await keys.look()
          throw cause
        })
        if (value !== null) return work(value)
      }
      throw new GatehouseError('Conflict', { detail: `${use.name} changes all the time` })
    },

    async listFor(agent) {
      const all = await storage.secrets.list()
      const tampered = new Set((await keys.seal.findings(storage, keys.openRoot)).names)
      return all
        .filter((secret) => isFor(secret.name, secret, agent) && !tampered.has(secret.name))
        .map(({ name, description, capabilities, hosts }) => ({
          name,
          description,
          capabilities,
          hosts,
        }))
    },

    hide: (name, value) => scrubber.know(name, value),
    scrub: (value) => scrubber.scrub(value),
    scrubStream: (chunks) => scrubber.scrubStream(chunks),

    ...serviceSecrets(parts, keys),
  }
}
