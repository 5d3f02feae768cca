import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AddSecret } from '@gatehouse/contract'
import { openQuickStore } from '@gatehouse/testkit/quick-store'
import { describe, expect, test } from 'vitest'
import { openAuditLog } from '../log/audit-log.ts'
import { HandClock, silent } from '../log/testing.ts'
import { createIds } from '../platform/ids.ts'
import type { StoredSecret } from '../ports/secret-store.ts'
import type { Storage } from '../ports/storage.ts'
import { systemEntry } from './entries.ts'
import { type OpenedVault, openVault } from './open-vault.ts'
import { Scrubber } from './scrub/scrubber.ts'

const ids = createIds()
const entry = systemEntry(ids)
const passphrase = 'correct horse battery'
const tampered = { type: 'VaultTampered' }

/** A service whose database somebody else can write to, and nothing beside it. */
class Place implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'gatehouse-rollback-'))
  readonly storage: Storage
  #auditLog: Awaited<ReturnType<typeof openAuditLog>> | null = null
  #vault: OpenedVault | null = null

  constructor(storage: Storage) {
    this.storage = storage
  }

  static async make(): Promise<Place> {
    const place = new Place(await openQuickStore())
    await place.start()
    return place
  }

  get vault() {
    if (!this.#vault) throw new Error('the service is stopped')
    return this.#vault.vault
  }

  async start(): Promise<void> {
    const parts = { storage: this.storage, ids, clock: new HandClock(), log: silent }
    const directory = join(this.folder, 'audit')
    const auditLog = await openAuditLog({ ...parts, directory, chain: 'main', verifyEveryMs: 0 })
    this.#auditLog = auditLog
    this.#vault = await openVault({
      ...parts,
      auditLog,
      scrubber: new Scrubber(),
      keyFile: join(this.folder, 'vault.key'),
      kdf: { memory_kib: 64, passes: 1, lanes: 1 },
    })
  }

  async restart(): Promise<void> {
    await this.stop()
    await this.start()
  }

  async stop(): Promise<void> {
    this.#vault?.[Symbol.dispose]()
    await this.#auditLog?.[Symbol.asyncDispose]()
  }

  use(name = 'token', host = 'git.example.org'): Promise<string> {
    if (!this.#vault) throw new Error('the service is stopped')
    const how = { name, agent: 'coder', capability: 'git.push', host }
    return this.#vault.secrets.use(how, async (value) => value)
  }

  /** Vault data in the database: rows, master key and sealed state. */
  async copy() {
    const [keyring, manifest] = [
      await this.storage.meta.get('vault'),
      await this.storage.meta.get('vault.manifest'),
    ]
    return { rows: await this.storage.secrets.list(), keyring, manifest }
  }

  async putRows(rows: readonly StoredSecret[]): Promise<void> {
    for (const { name } of await this.storage.secrets.list())
      await this.storage.secrets.delete(name)
    for (const row of rows) await this.storage.secrets.insert(row)
  }

  async putBack(old: Awaited<ReturnType<Place['copy']>>): Promise<void> {
    await this.putRows(old.rows)
    await this.storage.meta.set('vault', old.keyring ?? '')
    await this.storage.meta.set('vault.manifest', old.manifest ?? '')
  }

  async acts(): Promise<string[]> {
    const page = await this.#auditLog?.query({ limit: 100, offset: 0 })
    return (page?.entries ?? []).map(({ capability }) => capability)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await this.storage[Symbol.asyncDispose]()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

const secret = (over: Partial<AddSecret> = {}): AddSecret => ({
  name: 'token',
  value: 'the first value',
  description: '',
  capabilities: ['git.*'],
  hosts: ['git.example.org', 'old.example.org'],
  agents: ['coder'],
  ...over,
})

/** Changes of a vault after somebody copied its rows. */
const changes: Record<string, (place: Place) => Promise<unknown>> = {
  'a new value': (place) => place.vault.rotate('token', { value: 'the second value' }, entry),
  'a narrower scope': (place) => place.vault.change('token', { hosts: ['git.example.org'] }, entry),
  'a deleted secret': (place) => place.vault.remove('token', entry),
}

describe.each(Object.entries(changes))('after %s', (_, change) => {
  test.each(['while the service runs', 'while it is stopped'])(
    'the older row that is put back %s is not used, and is named',
    async (when) => {
      await using place = await Place.make()
      await place.vault.add(secret(), entry)
      await place.vault.add(secret({ name: 'other' }), entry)
      const old = await place.copy()
      await change(place)
      if (when === 'while it is stopped') await place.stop()
      await place.putRows(old.rows)
      if (when === 'while it is stopped') {
        await place.start()
        expect(await place.acts()).toContain('vault.tampered')
      }
      await expect(place.use('token', 'old.example.org')).rejects.toMatchObject(tampered)
      const asked = { name: 'token', agent: 'coder', capability: 'git.push', host: null }
      expect(await place.vault.check(asked)).toMatchObject({ allowed: false })
      // The others are as they were, and a change of one of them makes nothing else valid.
      expect(await place.use('other')).toBe('the first value')
      await place.vault.rotate('other', { value: 'another value' }, entry)
      await expect(place.use('token', 'old.example.org')).rejects.toMatchObject(tampered)
      await expect(place.vault.change('token', { agents: ['*'] }, entry)).rejects.toMatchObject(
        tampered,
      )
      await place.vault.remove('token', entry)
      await place.vault.add(secret({ value: 'a good value' }), entry)
      expect(await place.use()).toBe('a good value')
    },
  )

  test('an older state of everything that the database has of the vault is found, too', async () => {
    await using place = await Place.make()
    await place.vault.add(secret(), entry)
    await place.vault.add(secret({ name: 'other' }), entry)
    const old = await place.copy()
    await change(place)
    await place.putBack(old)
    await expect(place.use('token', 'old.example.org')).rejects.toMatchObject(tampered)
    await place.restart()
    expect(await place.acts()).toContain('vault.tampered')
    for (const name of ['token', 'other'])
      await expect(place.use(name)).rejects.toMatchObject(tampered)
    // Secrets that are given anew are used; nothing else comes with them.
    await place.vault.remove('token', entry)
    await place.vault.add(secret({ value: 'a good value' }), entry)
    expect(await place.use()).toBe('a good value')
    await expect(place.use('other')).rejects.toMatchObject(tampered)
    await place.restart()
    expect(await place.use()).toBe('a good value')
  })
})

test('a finding is in the state of the vault at once where it is met, is recorded once, and goes with its cause', async () => {
  await using place = await Place.make()
  await place.vault.add(secret(), entry)
  const old = await place.copy()
  await place.vault.rotate('token', { value: 'the second value' }, entry)
  await place.vault.look()
  expect(place.vault.state()).toMatchObject({ status: 'healthy', integrity: 'verified' })
  await place.putRows(old.rows)
  await expect(place.use()).rejects.toMatchObject(tampered)
  expect(place.vault.state()).toMatchObject({
    status: 'degraded',
    locked: false,
    integrity: 'failed',
    tampered: ['token'],
    reason: '1 secret is not as the vault stored it last',
    remedy: expect.stringContaining('gatehouse vault delete'),
  })
  await place.vault.look()
  await place.vault.look()
  const recorded = async () => (await place.acts()).filter((act) => act === 'vault.tampered').length
  expect(await recorded()).toBe(1)
  await place.vault.remove('token', entry)
  expect(place.vault.state()).toMatchObject({ status: 'healthy', tampered: [], reason: null })
  expect(await recorded()).toBe(1)
})

test.each(['deleting', 'adding'])(
  'a secret whose row was taken away is named until %s it',
  async (way) => {
    await using place = await Place.make()
    await place.vault.add(secret(), entry)
    await place.storage.secrets.delete('token')
    await place.vault.look()
    expect(place.vault.state()).toMatchObject({ integrity: 'failed', tampered: ['token'] })
    if (way === 'deleting') await place.vault.remove('token', entry)
    else await place.vault.add(secret({ value: 'a good value' }), entry)
    expect(place.vault.state()).toMatchObject({ integrity: 'verified', tampered: [] })
    if (way === 'adding') expect(await place.use()).toBe('a good value')
    else
      await expect(place.vault.remove('token', entry)).rejects.toMatchObject({
        type: 'SecretNotFound',
      })
  },
)

test('everything of a vault that is taken away is found, where no row is left to be named', async () => {
  await using place = await Place.make()
  await place.vault.add(secret(), entry)
  await place.storage.secrets.delete('token')
  await place.storage.meta.set('vault.manifest', '')
  await place.restart()
  expect(place.vault.state()).toMatchObject({
    status: 'degraded',
    integrity: 'failed',
    tampered: [],
    reason: 'the stored state of the vault is an older one, edited or gone',
  })
  expect(await place.acts()).toContain('vault.tampered')
  await place.vault.add(secret({ value: 'a good value' }), entry)
  expect(place.vault.state()).toMatchObject({ status: 'healthy' })
})

test('a change of our own between two reads of a look is no tampering', async () => {
  await using place = await Place.make()
  await place.vault.add(secret(), entry)
  const { secrets } = place.storage
  const list = secrets.list.bind(secrets)
  let changes = 0
  // The state has been read when the rows are.
  Object.assign(secrets, {
    async list() {
      changes += 1
      if (changes <= 2)
        await place.vault.rotate('token', { value: `another value ${changes}` }, entry)
      return list()
    },
  })
  await place.vault.look()
  expect(changes).toBeGreaterThan(2)
  expect(place.vault.state()).toMatchObject({ status: 'healthy', integrity: 'verified' })
  expect(await place.acts()).not.toContain('vault.tampered')
})

test('a state that is taken away makes no new one for what is there', async () => {
  await using place = await Place.make()
  await place.vault.add(secret(), entry)
  await place.storage.meta.set('vault.manifest', '')
  await expect(place.use()).rejects.toMatchObject(tampered)
  await place.restart()
  await expect(place.use()).rejects.toMatchObject(tampered)
})

test('an older lock around the same master key opens nothing', async () => {
  await using place = await Place.make()
  await place.vault.add(secret(), entry)
  await place.vault.relock({ passphrase }, entry)
  const old = await place.copy()
  await place.vault.relock({ passphrase: 'another horse battery', current: passphrase }, entry)
  await place.stop()
  await place.storage.meta.set('vault', old.keyring ?? '')
  await place.start()
  await place.vault.unlock(passphrase, entry)
  await expect(place.use()).rejects.toMatchObject(tampered)
})

test('an older master key under the same passphrase opens nothing, with rows and state as old', async () => {
  await using place = await Place.make()
  await place.vault.add(secret(), entry)
  await place.vault.relock({ passphrase }, entry)
  const old = await place.copy()
  await place.vault.rotateKey(passphrase, entry)
  expect(await place.use()).toBe('the first value')
  await place.stop()
  await place.putBack(old)
  await place.start()
  await place.vault.unlock(passphrase, entry)
  await expect(place.use()).rejects.toMatchObject(tampered)
})

test('a secret that is deleted while the vault is locked stays deleted', async () => {
  await using place = await Place.make()
  await place.vault.add(secret(), entry)
  await place.vault.add(secret({ name: 'other' }), entry)
  await place.vault.relock({ passphrase }, entry)
  const old = await place.copy()
  await place.restart()
  await place.vault.remove('token', entry)
  await place.restart()
  await place.vault.unlock(passphrase, entry)
  expect(await place.use('other')).toBe('the first value')
  await place.putRows(old.rows)
  await expect(place.use()).rejects.toMatchObject(tampered)
  expect(await place.use('other')).toBe('the first value')
})

test('a vault of before there were sealed states is sealed once, as it is', async () => {
  await using place = await Place.make()
  await place.vault.add(secret(), entry)
  const { rows, keyring } = await place.copy()
  // The same rows in a place whose log has never said anything of a vault.
  await using before = new Place(await openQuickStore())
  const parts = { storage: before.storage, ids, clock: new HandClock(), log: silent }
  const directory = join(before.folder, 'audit')
  const auditLog = await openAuditLog({ ...parts, directory, chain: 'main', verifyEveryMs: 0 })
  await auditLog[Symbol.asyncDispose]()
  await before.putRows(rows)
  await before.storage.meta.set('vault', keyring ?? '')
  const { copyFileSync } = await import('node:fs')
  copyFileSync(join(place.folder, 'vault.key'), join(before.folder, 'vault.key'))
  await before.start()
  expect(await before.acts()).toContain('vault.sealed')
  expect(await before.use()).toBe('the first value')
  await before.restart()
  expect((await before.acts()).filter((act) => act === 'vault.sealed')).toHaveLength(1)
})
