import { GatehouseError } from '@gatehouse/contract'
import type { VaultAnchor } from '../ports/audit.ts'
import type { StoredSecret } from '../ports/secret-store.ts'
import type { Storage } from '../ports/storage.ts'
import type { Root } from './keyring.ts'
import {
  decodeManifest,
  digestOf,
  encodeManifest,
  hasMac,
  keyringDigest,
  type Manifest,
  parseSealed,
  sealedOf,
  sealedText,
} from './manifest.ts'

type Store = Pick<Storage, 'meta' | 'secrets'>
type Known = {
  readonly manifest: Manifest
  /** Statement for the log about the vault's state, with the next entry. */
  readonly sealed: string
}

/** `names`: of secrets that are not as the vault wrote them last, or whose rows were taken away. */
export type Findings = {
  readonly names: readonly string[]
  /** False where the stored state of the vault itself is another one, or gone. */
  readonly isStateKnown: boolean
}

const none: Findings = { names: [], isStateKnown: true }

export const keyringKey = 'vault'
const manifestKey = 'vault.manifest'

/**
 * Binds every row of the vault to one sealed state of all of it. The state is in the database, its revision and
 * digest are in what is sealed over the audit log, outside of it: rows that are put back as they once were, one by
 * one or all together with an older state, are not those of now.
 */
export class VaultSeal {
  readonly #auditLog: VaultAnchor

  constructor(auditLog: VaultAnchor) {
    this.#auditLog = auditLog
  }

  /** The state of now; null where what is stored is not what the vault wrote last. */
  async read(store: Pick<Storage, 'meta'>, root: Root | null): Promise<Known | null> {
    const stored = await store.meta.get(manifestKey)
    const manifest = stored === null ? null : decodeManifest(stored)
    if (stored === null || !manifest) return null
    const sealed = sealedText(sealedOf(stored, manifest))
    const { state } = this.#auditLog.vaultState()
    // @SECURITY An older state is refused, also where all rows are as old; vault-rollback.test.ts.
    const isKnown = state === sealed
    const isNewer = state === null || manifest.revision > parseSealed(state).revision
    // Another node may have changed it since: whoever did has the master key.
    if (!isKnown && !(isNewer && root && hasMac(stored, root))) return null
    const keyring = await store.meta.get(keyringKey)
    return keyring !== null && manifest.keyring === keyringDigest(keyring)
      ? { manifest, sealed }
      : null
  }

  /** Statement for the log with a use of these rows. Raises `VaultTampered` for one that is not current. */
  async assertSealed(
    store: Pick<Storage, 'meta'>,
    root: Root,
    secrets: readonly StoredSecret[],
  ): Promise<string> {
    const known = await this.read(store, root)
    const other = secrets.find((secret) => !isIn(known, secret))
    if (other) throw new GatehouseError('VaultTampered', { what: `the secret ${other.name}` })
    return known?.sealed ?? ''
  }

  /** Writes the state after a change of these secrets, and returns what the log has to say of it. */
  async change(
    store: Pick<Storage, 'meta'>,
    root: Root | null,
    change: { readonly put?: readonly StoredSecret[]; readonly removed?: readonly string[] },
  ): Promise<string> {
    const known = await this.read(store, root)
    if (!known && !root && (await this.#isNewer(store)))
      throw new GatehouseError('VaultLocked', {
        detail: 'another node may have changed it; unlock it here first',
      })
    // Where nothing can be believed, only what is written now is: the rest has to be given anew.
    const secrets = { ...known?.manifest.secrets }
    for (const id of change.removed ?? []) delete secrets[id]
    for (const secret of change.put ?? []) {
      // A name is given once: a secret of that name whose row was taken away is replaced by this one.
      for (const id of idsOf(secrets, secret.name)) delete secrets[id]
      secrets[secret.id] = [secret.name, digestOf(secret)]
    }
    return this.#write(store, root, secrets)
  }

  /** The state of a vault whose master key or lock is another, with exactly these secrets. */
  reseal(
    store: Pick<Storage, 'meta'>,
    root: Root,
    secrets: readonly StoredSecret[],
  ): Promise<string> {
    const all = secrets.map((secret) => [secret.id, [secret.name, digestOf(secret)]] as const)
    return this.#write(store, root, Object.fromEntries(all))
  }

  /** Rows and state are read again until none of them changed in between: no change of ours looks like tampering. */
  async findings(store: Store, root: Root | null): Promise<Findings> {
    for (;;) {
      const before = await this.#texts(store)
      const found = await this.#compare(store, root)
      const after = await this.#texts(store)
      if (before.every((text, at) => text === after[at])) return found
    }
  }

  async #compare(store: Store, root: Root | null): Promise<Findings> {
    const known = await this.read(store, root)
    if (!known && !root && (await this.#isNewer(store))) return none
    const rows = await store.secrets.list()
    const names = rows.filter((row) => !isIn(known, row)).map(({ name }) => name)
    const ids = new Set(rows.map(({ id }) => id))
    for (const [id, [name]] of Object.entries(known?.manifest.secrets ?? {}))
      if (!ids.has(id)) names.push(name)
    return { names, isStateKnown: known !== null }
  }

  async #texts({ meta }: Pick<Storage, 'meta'>): Promise<readonly (string | null)[]> {
    const [manifest, keyring] = [await meta.get(manifestKey), await meta.get(keyringKey)]
    return [manifest, keyring, this.#auditLog.vaultState().state]
  }

  /**
   * The first state of a vault that has none: a new one, or one of before there were states. A vault that had
   * one, or stands beside a log without a sealed state, gets none for what it holds. What was written while
   * the vault was locked gets its MAC, for other nodes.
   */
  async begin(store: Store, root: Root): Promise<string | null> {
    const stored = await store.meta.get(manifestKey)
    if (stored !== null) {
      const known = hasMac(stored, root) ? null : await this.read(store, root)
      return known && this.#write(store, root, known.manifest.secrets)
    }
    const { state, isSealed } = this.#auditLog.vaultState()
    if (state !== null) return null
    const rows = isSealed ? await store.secrets.list() : []
    const secrets = rows.map((secret) => [secret.id, [secret.name, digestOf(secret)]] as const)
    return this.#write(store, root, Object.fromEntries(secrets))
  }

  /** The ids of secrets of that name in the state of now, also where their rows are gone. */
  async idsNamed(
    store: Pick<Storage, 'meta'>,
    root: Root | null,
    name: string,
  ): Promise<readonly string[]> {
    return idsOf((await this.read(store, root))?.manifest.secrets ?? {}, name)
  }

  /** Another node may have written it, or nobody yet: while the vault is locked here, nobody can tell. */
  async #isNewer({ meta }: Pick<Storage, 'meta'>): Promise<boolean> {
    const stored = await meta.get(manifestKey)
    const manifest = decodeManifest(stored ?? '')
    const { state } = this.#auditLog.vaultState()
    if (stored === null && state === null) return true
    return manifest !== null && (state === null || manifest.revision > parseSealed(state).revision)
  }

  async #write(
    store: Pick<Storage, 'meta'>,
    root: Root | null,
    secrets: Manifest['secrets'],
  ): Promise<string> {
    const { state } = this.#auditLog.vaultState()
    const stored = await store.meta.get(manifestKey)
    const before = stored === null ? 0 : (decodeManifest(stored)?.revision ?? 0)
    const keyring = keyringDigest((await store.meta.get(keyringKey)) ?? '')
    const revision = Math.max(before, state === null ? 0 : parseSealed(state).revision) + 1
    const manifest: Manifest = { v: 1, revision, keyring, secrets }
    const text = encodeManifest(manifest, root)
    await store.meta.set(manifestKey, text)
    return sealedText(sealedOf(text, manifest))
  }
}

const idsOf = (secrets: Manifest['secrets'], name: string): readonly string[] =>
  Object.entries(secrets)
    .filter(([, [known]]) => known === name)
    .map(([id]) => id)

const isIn = (known: Known | null, secret: StoredSecret): boolean => {
  const secrets = known?.manifest.secrets ?? {}
  const entry = Object.hasOwn(secrets, secret.id) ? secrets[secret.id] : undefined
  return entry?.[1] === digestOf(secret)
}
