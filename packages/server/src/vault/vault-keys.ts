import { GatehouseError } from '@gatehouse/contract'
import type { AuditTransaction } from '../ports/audit.ts'
import type { StoredSecret } from '../ports/secret-store.ts'
import type { Storage } from '../ports/storage.ts'
import type { VaultEntry, VaultState } from '../ports/vault.ts'
import { systemEntry } from './entries.ts'
import { rewrap } from './envelope.ts'
import { removeKeyFile, writeKeyFile } from './key-file.ts'
import { type Keyring, type Lock, newRoot, parseKeyring, type Root, sealRoot } from './keyring.ts'
import {
  damaged,
  firstKeyFile,
  newPassphraseLock,
  type Opened,
  openByKeyFile,
  openByPassphrase,
  prepareKeyFile,
} from './locks.ts'
import { kdfCosts } from './passphrase-key.ts'
import { TamperWatch } from './tamper-watch.ts'
import type { VaultParts } from './vault-parts.ts'
import { keyringKey, VaultSeal } from './vault-seal.ts'

const attemptsMax = 5
const attemptsMs = 60_000

const lockedBy = (mode: 'key_file' | 'passphrase'): Pick<VaultState, 'reason' | 'remedy'> =>
  mode === 'passphrase'
    ? {
        reason: 'it waits for its passphrase',
        remedy: 'run `gatehouse vault unlock`, or unlock it in the dashboard',
      }
    : { reason: 'an operator locked it', remedy: 'run `gatehouse vault unlock`' }

/** Holds the master key while the vault is open, and changes what is around it. */
export class VaultKeys {
  readonly #parts: VaultParts
  readonly seal: VaultSeal
  readonly #watch: TamperWatch
  #keyring: Keyring
  #opened: Opened
  #turn: Promise<unknown> = Promise.resolve()
  #attempts: number[] = []

  private constructor(parts: VaultParts, keyring: Keyring, opened: Opened) {
    this.#parts = parts
    this.seal = new VaultSeal(parts.auditLog)
    this.#watch = new TamperWatch(parts, this.seal)
    this.#keyring = keyring
    this.#opened = opened
  }

  /** Makes the vault at the first start. One that cannot be opened is locked, and says why. */
  static async open(parts: VaultParts): Promise<VaultKeys> {
    let keyring: Keyring | null
    try {
      keyring = await readKeyring(parts)
    } catch (cause) {
      // The rest of the service does without secrets; health says why there are none.
      parts.log.error({ err: cause }, 'the vault cannot be opened')
      return new VaultKeys(parts, unreadable, damaged)
    }
    if (keyring) {
      const keys = new VaultKeys(parts, keyring, opening(parts, keyring))
      await keys.#lookAtRows()
      return keys
    }
    const lock = firstKeyFile(parts.keyFile)
    const root = newRoot()
    const made = sealRoot(root, lock)
    const stored = await parts.auditLog.transaction(async (tx) => {
      // Of two nodes that start at once one makes the vault.
      const theirs = await readKeyring({ storage: tx })
      if (theirs) return theirs
      await tx.meta.set(keyringKey, JSON.stringify(made))
      const vault = await new VaultSeal(parts.auditLog).begin(tx, root)
      const entry = systemEntry(parts.ids)('vault.created', { arguments: { mode: lock.mode } })
      tx.append(entry, vault === null ? {} : { vault })
      return made
    })
    return new VaultKeys(parts, stored, opening(parts, stored))
  }

  state(): VaultState {
    const { mode } = this.#keyring
    const locked = this.#opened.root === null
    const why = this.#opened.root === null ? [this.#opened.why] : []
    const faults = [...(this.#watch.found ? [this.#watch.found] : []), ...why]
    return {
      status: faults.length > 0 ? 'degraded' : 'healthy',
      locked,
      mode,
      integrity: this.#watch.found ? 'failed' : 'verified',
      tampered: this.#watch.found?.tampered ?? [],
      reason: faults.map(({ reason }) => reason).join('; ') || null,
      remedy: faults.map(({ remedy }) => remedy).join('; ') || null,
    }
  }

  /** Looks for rows that the vault did not write; `state` says what was found. A failure leaves the last finding. */
  look(): Promise<void> {
    return this.#inTurn(async () => {
      // Another node may have made a new master key, under which the state is now.
      if (this.#opened.root) await this.present(this.#parts.storage).catch(() => {})
      await this.#compareRows()
    })
  }

  /** Forgets a finding that a change has cleared. */
  async changed(): Promise<void> {
    if (this.#watch.found) await this.look()
  }

  /** The master key while it is open. */
  get openRoot(): Root | null {
    return this.#opened.root
  }

  /** The master key. Raises `VaultLocked`. */
  root(): Root {
    if (this.#opened.root) return this.#opened.root
    const { reason, remedy } = this.#opened.why
    throw new GatehouseError('VaultLocked', { detail: `${reason}; ${remedy}` })
  }

  /** The master key that a row names, also when another node has made a new one meanwhile. */
  async rootOf(rootId: string): Promise<Root> {
    const root = this.root()
    return rootId === root.id ? root : this.present(this.#parts.storage)
  }

  /** The master key as the store has it now. Raises `VaultLocked`. */
  async present(store: Pick<Storage, 'meta'>): Promise<Root> {
    const root = this.root()
    const keyring = await readKeyring({ storage: store })
    if (!keyring || keyring.root === this.#keyring.root) return root
    this.#keyring = keyring
    // The same master key behind another lock is still the one that is open.
    if (keyring.root_id !== root.id) this.#opened = opening(this.#parts, keyring)
    return this.root()
  }

  lock(entry: VaultEntry): Promise<void> {
    return this.#inTurn(async () => {
      await this.#parts.auditLog.append(entry('vault.locked', {}))
      this.#shut()
    })
  }

  unlock(passphrase: string | null, entry: VaultEntry): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#opened.root) return
      this.#keyring = (await readKeyring(this.#parts)) ?? this.#keyring
      const opened = await this.#try(passphrase, entry)
      if (!opened.root) {
        this.#opened = opened
        throw new GatehouseError('VaultLocked', {
          detail: `${opened.why.reason}; ${opened.why.remedy}`,
        })
      }
      await this.#parts.auditLog.append(entry('vault.unlocked', {}))
      this.#opened = opened
      await this.#lookAtRows()
    })
  }

  /** Another lock around the same master key. */
  relock(
    change: { readonly passphrase: string | null; readonly current?: string | undefined },
    entry: VaultEntry,
  ): Promise<void> {
    return this.#inTurn(async () => {
      const { root, lock } = await this.#proven(change.current ?? null, entry)
      const next = await this.#newLock(change.passphrase, lock)
      await this.#store(sealRoot(root, next), async (tx, write) => {
        const to = next.mode
        await this.seal.assertSealed(tx, root, await tx.secrets.list())
        await write()
        const vault = await this.seal.reseal(tx, root, await tx.secrets.list())
        tx.append(entry('vault.lock_changed', { arguments: { from: lock.mode, to } }), { vault })
      })
      this.#finalizeLock(root, next)
    })
  }

  /** A new master key around every secret, and a new key in the key file. */
  rotateKey(passphrase: string | null, entry: VaultEntry): Promise<number> {
    return this.#inTurn(async () => {
      const { root: from, lock } = await this.#proven(passphrase, entry)
      const to = newRoot(from.install)
      const next = lock.mode === 'key_file' ? await this.#newLock(null, lock) : lock
      let count = 0
      await this.#store(sealRoot(to, next), async (tx, write) => {
        const secrets = await tx.secrets.list()
        await this.seal.assertSealed(tx, from, secrets)
        await write()
        const rewrapped = secrets.map((secret) => rewrap(from, to, secret))
        for (const [at, secret] of secrets.entries())
          if (!(await tx.secrets.replace(secret, rewrapped[at] as StoredSecret)))
            throw new GatehouseError('Conflict', { detail: `${secret.name} changed meanwhile` })
        count = secrets.length
        const vault = await this.seal.reseal(tx, to, rewrapped)
        tx.append(entry('vault.key_rotated', { arguments: { secrets: count } }), { vault })
      })
      this.#finalizeLock(to, next)
      from.key.fill(0)
      return count
    })
  }

  [Symbol.dispose](): void {
    this.#shut()
  }

  /** Seals a vault of before there were sealed states; of any other it says which rows are not those of now. */
  async #lookAtRows(): Promise<void> {
    const { ids, auditLog, log } = this.#parts
    const { root } = this.#opened
    try {
      if (root)
        await auditLog.transaction(async (tx) => {
          const vault = await this.seal.begin(tx, root)
          if (vault !== null) tx.append(systemEntry(ids)('vault.sealed', {}), { vault })
        })
    } catch (cause) {
      log.error({ err: cause }, 'the rows of the vault could not be sealed')
    }
    await this.#compareRows()
  }

  async #compareRows(): Promise<void> {
    try {
      await this.#watch.look(this.#opened.root)
    } catch (cause) {
      // Each use looks again, and the rest of the service does without secrets.
      this.#parts.log.error(
        { err: cause },
        'the rows of the vault could not be compared with its sealed state',
      )
    }
  }

  #shut(): void {
    this.#opened.root?.key.fill(0)
    this.#opened = { root: null, why: lockedBy(this.#keyring.mode) }
  }

  /** @SECURITY Wrong passphrases are few a minute, whoever sends them; vault.test.ts. */
  async #try(passphrase: string | null, entry: VaultEntry): Promise<Opened> {
    if (this.#keyring.mode === 'key_file') return openByKeyFile(this.#keyring, this.#parts.keyFile)
    if (passphrase === null)
      throw new GatehouseError('VaultConflict', {
        status: 'locked by a passphrase',
        detail: 'send the passphrase',
      })
    const nowMs = this.#parts.clock.now()
    this.#attempts = this.#attempts.filter((ms) => ms > nowMs - attemptsMs)
    if (this.#attempts.length >= attemptsMax)
      throw new GatehouseError('TooManyLogins', { retry_after_seconds: attemptsMs / 1000 })
    this.#attempts.push(nowMs)
    try {
      const opened = await openByPassphrase(this.#keyring, passphrase)
      this.#attempts = []
      return opened
    } catch (cause) {
      const wrong = entry('vault.unlock_failed', { result: 'denied' })
      await this.#parts.auditLog.append(wrong)
      throw cause
    }
  }

  /** The master key for a change of the locks: whoever sets another passphrase knows the present one. */
  async #proven(passphrase: string | null, entry: VaultEntry) {
    this.root()
    const stored = await readKeyring(this.#parts)
    if (stored?.root !== this.#keyring.root)
      throw new GatehouseError('VaultConflict', {
        status: 'changed by another node',
        detail: 'lock and unlock it here first',
      })
    const opened = await this.#try(passphrase, entry)
    if (!opened.root)
      throw new GatehouseError('VaultLocked', {
        detail: `${opened.why.reason}; ${opened.why.remedy}`,
      })
    return opened
  }

  #newLock(passphrase: string | null, present: Lock): Promise<Lock> {
    const { keyFile, kdf = kdfCosts } = this.#parts
    return passphrase === null
      ? Promise.resolve(prepareKeyFile(keyFile, present))
      : newPassphraseLock(passphrase, kdf)
  }

  /** `write` stores the new keyring: what is compared with the state of now comes before it. */
  async #store(
    keyring: Keyring,
    work: (tx: AuditTransaction, write: () => Promise<void>) => Promise<void>,
  ): Promise<void> {
    await this.#parts.auditLog.transaction(async (tx) => {
      if ((await readKeyring({ storage: tx }))?.root !== this.#keyring.root)
        throw new GatehouseError('Conflict', { detail: 'the vault was changed meanwhile' })
      await work(tx, () => tx.meta.set(keyringKey, JSON.stringify(keyring)))
    })
    this.#keyring = keyring
  }

  /** The store has the new lock: only now the old one goes. */
  #finalizeLock(root: Root, lock: Lock): void {
    const { keyFile } = this.#parts
    this.#opened = { root, lock }
    if (lock.mode === 'key_file') writeKeyFile(keyFile, [lock.key])
    else removeKeyFile(keyFile)
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work, work)
    this.#turn = done.catch(() => {})
    return done
  }
}

async function readKeyring({
  storage,
}: {
  readonly storage: Pick<Storage, 'meta'>
}): Promise<Keyring | null> {
  const text = await storage.meta.get(keyringKey)
  if (text === null) return null
  const keyring = parseKeyring(text)
  if (!keyring) throw new GatehouseError('VaultTampered', { what: 'the master key' })
  return keyring
}

const unreadable: Keyring = {
  v: 1,
  install: '',
  mode: 'key_file',
  key_id: '',
  kdf: null,
  root_id: '',
  root: '',
}

const opening = (parts: VaultParts, keyring: Keyring): Opened =>
  keyring.mode === 'key_file'
    ? openByKeyFile(keyring, parts.keyFile)
    : { root: null, why: lockedBy('passphrase') }
