import { type ChangeSecret, GatehouseError } from '@gatehouse/contract'
import { decideUse, isFor } from '../domain/secrets/scope.ts'
import type { AuditDraft } from '../ports/audit.ts'
import type { StoredSecret } from '../ports/secret-store.ts'
import type { Storage } from '../ports/storage.ts'
import type { Vault } from '../ports/vault.ts'
import { openValue, sealValue } from './envelope.ts'
import type { Root } from './keyring.ts'
import { assertKeepable, secretRecord } from './records.ts'
import type { VaultKeys } from './vault-keys.ts'
import type { VaultParts } from './vault-parts.ts'

/** Limits: secrets are listed whole, and each that is used is searched for. */
const secretsMax = 1_000

type Managing = Omit<Vault, 'state' | 'look' | 'lock' | 'unlock' | 'relock' | 'rotateKey'>

const scopeOf = ({ capabilities, hosts, agents }: StoredSecret) => ({ capabilities, hosts, agents })

type Change = Pick<StoredSecret, 'description' | 'capabilities' | 'hosts' | 'agents'>

/** Only what is given: the parser leaves what is not there as undefined. */
const given = (change: ChangeSecret): Partial<Change> =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))

const found = async (store: Pick<Storage, 'secrets'>, name: string): Promise<StoredSecret> => {
  const secret = await store.secrets.find(name)
  if (!secret) throw new GatehouseError('SecretNotFound', { name })
  return secret
}

/** Changes of a secret: each in one step with its entry. */
function changing(
  { auditLog, clock, ids }: VaultParts,
  keys: VaultKeys,
): Pick<Managing, 'add' | 'rotate' | 'change' | 'remove'> {
  /** Reads, changes and stores in one step, or raises `Conflict`. */
  const change = (
    name: string,
    work: (current: StoredSecret, root: Root) => StoredSecret,
    entryOf: (current: StoredSecret, next: StoredSecret) => AuditDraft,
  ) =>
    auditLog.transaction(async (tx) => {
      const root = await keys.present(tx)
      const current = await found(tx, name)
      await keys.seal.assertSealed(tx, root, [current])
      const next = work(current, root)
      if (!(await tx.secrets.replace(current, next)))
        throw new GatehouseError('Conflict', { detail: `${name} changed meanwhile` })
      tx.append(entryOf(current, next), {
        vault: await keys.seal.change(tx, root, { put: [next] }),
      })
      return secretRecord(next)
    })

  return {
    async add({ value, name, description, ...scope }, entry) {
      assertKeepable(name, value)
      const nowMs = clock.wall()
      const facts = { id: ids.next('sec'), name, version: 1, ...scope }
      return auditLog.transaction(async (tx) => {
        const root = await keys.present(tx)
        if (await tx.secrets.find(name)) throw new GatehouseError('SecretExists', { name })
        if ((await tx.secrets.list()).length >= secretsMax)
          throw new GatehouseError('QuotaExceeded', { limit: secretsMax, what: 'secrets' })
        const secret: StoredSecret = {
          ...facts,
          description,
          ...sealValue(root, facts, value),
          created_ms: nowMs,
          rotated_ms: nowMs,
          scoped_ms: nowMs,
          uses: 0,
          last_use: null,
          rotation_request: null,
        }
        await tx.secrets.insert(secret)
        const vault = await keys.seal.change(tx, root, { put: [secret] })
        tx.append(entry('secret.added', { arguments: { name, ...scope } }), { vault })
        return secretRecord(secret)
      })
    },

    async rotate(name, { value }, entry) {
      assertKeepable(name, value)
      return change(
        name,
        (current, root) => {
          const next = { ...current, version: current.version + 1 }
          return {
            ...next,
            ...sealValue(root, next, value),
            rotated_ms: clock.wall(),
            rotation_request: null,
          }
        },
        (_, { version }) => entry('secret.rotated', { arguments: { name, version } }),
      )
    },

    change: (name, wanted, entry) =>
      change(
        name,
        (current, root) => {
          const version = current.version + 1
          const next: StoredSecret = { ...current, ...given(wanted), version }
          const envelope = sealValue(root, next, openValue(root, current))
          return { ...next, ...envelope, scoped_ms: clock.wall() }
        },
        (current, next) =>
          entry('secret.changed', {
            arguments: { name, ...given(wanted) },
            detail: { before: scopeOf(current), after: scopeOf(next) },
          }),
      ),

    remove: (name, entry) =>
      auditLog.transaction(async (tx) => {
        const stored = await tx.secrets.find(name)
        const gone = await keys.seal.idsNamed(tx, keys.openRoot, name)
        if (!stored && gone.length === 0) throw new GatehouseError('SecretNotFound', { name })
        await tx.secrets.delete(name)
        const removed = [...gone, ...(stored ? [stored.id] : [])]
        const vault = await keys.seal.change(tx, keys.openRoot, { removed })
        tx.append(entry('secret.deleted', { arguments: { name } }), { vault })
      }),
  }
}

/** Secrets as operators manage them; none of it shows a value. */
export function managing(parts: VaultParts, keys: VaultKeys): Managing {
  const { storage, clock } = parts
  const { add, rotate, change, remove } = changing(parts, keys)
  const thenLook = async <T>(done: Promise<T>): Promise<T> => {
    const result = await done
    await keys.changed()
    return result
  }

  return {
    list: async () => (await storage.secrets.list()).map(secretRecord),
    show: async (name) => secretRecord(await found(storage, name)),

    add: (secret, entry) => thenLook(add(secret, entry)),
    rotate: (name, value, entry) => thenLook(rotate(name, value, entry)),
    change: (name, wanted, entry) => thenLook(change(name, wanted, entry)),
    remove: (name, entry) => thenLook(remove(name, entry)),

    async check({ name, agent, capability, host }) {
      const secret = await found(storage, name)
      const verdict = decideUse(name, secret, { agent, capability, host })
      const { names } = await keys.seal.findings(storage, keys.openRoot)
      const isTampered = names.includes(name)
      const allowed = verdict.allowed && !isTampered
      const reason = isTampered
        ? 'what is stored of it is not what the vault wrote: remove it and add it again'
        : verdict.allowed
          ? 'its scope names all three'
          : verdict.reason
      return { name, agent, capability, host, allowed, reason }
    },

    async requestRotation({ name, agent, reason }) {
      const rotation_request = { ms: clock.wall(), agent, reason }
      await storage.transaction(async (tx) => {
        const current = await tx.secrets.find(name)
        if (!current || !isFor(name, current, agent))
          throw new GatehouseError('SecretNotAllowed', {
            name,
            agent,
            capability: 'any capability',
            host: 'any host',
          })
        await tx.secrets.replace(current, { ...current, rotation_request })
      })
    },
  }
}
