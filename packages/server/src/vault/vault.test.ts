import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AddSecret } from '@gatehouse/contract'
import { openQuickStore } from '@gatehouse/testkit/quick-store'
import { makeTemporaryFolder } from '@gatehouse/testkit/temporary-folder'
import { describe, expect, test } from 'vitest'
import { openAuditLog } from '../log/audit-log.ts'
import { HandClock, silent } from '../log/testing.ts'
import { createIds } from '../platform/ids.ts'
import type { StoredSecret } from '../ports/secret-store.ts'
import type { SecretUse } from '../ports/secrets.ts'
import type { Storage } from '../ports/storage.ts'
import { systemEntry } from './entries.ts'
import { openVault } from './open-vault.ts'
import { Scrubber } from './scrub/scrubber.ts'

const ids = createIds()
const entry = systemEntry(ids)
const value = 'CANARY-SEC-0123456789'
const kdf = { memory_kib: 64, passes: 1, lanes: 1 }

/** A vault on a store that lives on when it is closed and opened again, as after a restart. */
class Place implements AsyncDisposable {
  readonly clock = new HandClock()
  readonly folder = mkdtempSync(join(tmpdir(), 'gatehouse-vault-'))
  readonly keyFile = join(this.folder, 'vault.key')
  readonly storage: Storage
  readonly #auditLog: Awaited<ReturnType<typeof openAuditLog>>

  constructor(storage: Storage, auditLog: Awaited<ReturnType<typeof openAuditLog>>) {
    this.storage = storage
    this.#auditLog = auditLog
  }

  static async make(): Promise<Place> {
    const storage = await openQuickStore()
    const directory = makeTemporaryFolder()
    const auditLog = await openAuditLog({
      storage,
      directory,
      chain: 'test',
      ids,
      clock: new HandClock(),
      log: silent,
    })
    return new Place(storage, auditLog)
  }

  open(over: { keyFile?: string } = {}) {
    return openVault({
      storage: this.storage,
      auditLog: this.#auditLog,
      clock: this.clock,
      ids,
      log: silent,
      scrubber: new Scrubber(),
      keyFile: this.keyFile,
      kdf,
      ...over,
    })
  }

  async entries() {
    const { entries } = await this.#auditLog.query({ limit: 1000, offset: 0 })
    return entries
  }

  /** Everything there is on disk or in the store, as text. */
  async everything(): Promise<string> {
    const rows = await this.storage.secrets.list()
    const meta = await this.storage.meta.get('vault')
    const key = existsSync(this.keyFile) ? readFileSync(this.keyFile, 'utf8') : ''
    return JSON.stringify([rows, meta, await this.entries()]) + key
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#auditLog[Symbol.asyncDispose]()
    await this.storage[Symbol.asyncDispose]()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

const secret = (over: Partial<AddSecret> = {}): AddSecret => ({
  name: 'token',
  value,
  description: 'for tests',
  capabilities: ['git.*'],
  hosts: ['git.example.org'],
  agents: ['coder'],
  ...over,
})
const use = (over: Partial<SecretUse> = {}): SecretUse => ({
  name: 'token',
  agent: 'coder',
  capability: 'git.push',
  host: 'git.example.org',
  ...over,
})
const reveal = async (given: string) => given

describe('using a secret', () => {
  test('hands the value to the work that its scope allows, and records it first', async () => {
    await using place = await Place.make()
    const { secrets, vault } = await place.open()
    await vault.add(secret(), entry)
    const seen = await secrets.use(use({ request_id: 'req-1' }), async (given) => ({
      given,
      entries: await place.entries(),
    }))
    expect(seen.given).toBe(value)
    expect(seen.entries[0]).toMatchObject({
      capability: 'secret.used',
      actor: 'agent:coder',
      agent: 'coder',
      request_id: 'req-1',
      arguments: { name: 'token', capability: 'git.push', host: 'git.example.org' },
    })
    expect(await vault.show('token')).toMatchObject({
      uses: 1,
      last_use: { agent: 'coder', capability: 'git.push', host: 'git.example.org' },
    })
  })

  test('says the same of what is not there and of what is not allowed, and logs which', async () => {
    await using place = await Place.make()
    const { secrets, vault } = await place.open()
    await vault.add(secret({ agents: ['mailbot'] }), entry)
    await vault.add(secret({ name: 'revoked' }), entry)
    await vault.remove('revoked', entry)
    const failures = await Promise.all(
      ['token', 'revoked', 'absent'].map((name) =>
        secrets.use(use({ name }), reveal).then(
          () => null,
          (error: Error & { type: string; facts: object; recovery: object }) => ({
            type: error.type,
            message: error.message.replaceAll(name, 'NAME'),
            recovery: error.recovery,
          }),
        ),
      ),
    )
    expect(failures[0]).toMatchObject({ type: 'SecretNotAllowed' })
    expect(new Set(failures.map((failure) => JSON.stringify(failure))).size).toBe(1)
    const refused = (await place.entries()).filter(
      ({ capability }) => capability === 'secret.refused',
    )
    expect(refused.map(({ result }) => result)).toEqual(['denied', 'denied', 'denied'])
    const reasonFor = (name: string) =>
      refused.find((found) => found.arguments['name'] === name)?.detail?.['reason']
    expect(['token', 'revoked', 'absent'].map(reasonFor)).toEqual([
      'its agents are mailbot',
      'there is no such secret',
      'there is no such secret',
    ])
  })

  test('calls no work where it is refused or locked', async () => {
    await using place = await Place.make()
    const { secrets, vault } = await place.open()
    await vault.add(secret(), entry)
    let calls = 0
    const work = async () => void (calls += 1)
    await expect(secrets.use(use({ agent: 'mailbot' }), work)).rejects.toMatchObject({
      type: 'SecretNotAllowed',
    })
    await vault.lock(entry)
    await expect(secrets.use(use(), work)).rejects.toMatchObject({ type: 'VaultLocked' })
    await vault.unlock(null, entry)
    await secrets.use(use(), work)
    expect(calls).toBe(1)
  })

  test('lists for an agent what it may use, and nothing else', async () => {
    await using place = await Place.make()
    const { secrets, vault } = await place.open()
    await vault.add(secret(), entry)
    await vault.add(secret({ name: 'theirs', agents: ['mailbot'] }), entry)
    await secrets.keepForService('mail', 'the password of a mailbox')
    expect(await secrets.listFor('coder')).toEqual([
      {
        name: 'token',
        description: 'for tests',
        capabilities: ['git.*'],
        hosts: ['git.example.org'],
      },
    ])
  })

  test('blacks out what was used, by its name, also in other work', async () => {
    await using place = await Place.make()
    const { secrets, vault } = await place.open()
    await vault.add(secret(), entry)
    expect(secrets.scrub(`a ${value} b`)).toContain(value)
    await secrets.use(use(), reveal)
    expect(secrets.scrub(`a ${value} b`)).toBe('a [secret:token] b')
  })

  test('uses the new value when it changes in the middle', async () => {
    await using place = await Place.make()
    const { secrets, vault } = await place.open()
    await vault.add(secret(), entry)
    const find = place.storage.secrets.find
    let once = true
    place.storage.secrets.find = async (name) => {
      const found = await find(name)
      if (once) {
        once = false
        await vault.rotate('token', { value: 'the value after that' }, entry)
      }
      return found
    }
    expect(await secrets.use(use(), reveal)).toBe('the value after that')
  })
})

describe('secrets of the service', () => {
  test('are kept, replaced and forgotten, and reach no agent', async () => {
    await using place = await Place.make()
    const { secrets, vault } = await place.open()
    await secrets.keepForService('mail', 'first password')
    await secrets.keepForService('mail', 'second password')
    const own = use({ agent: null, capability: 'service:mail', host: 'imap.example.org:993' })
    for (const name of ['mail', 'service:mail'])
      expect(await secrets.use({ ...own, name }, reveal)).toBe('second password')
    await expect(
      secrets.use(use({ name: 'service:mail', capability: 'service:mail' }), reveal),
    ).rejects.toMatchObject({ type: 'SecretNotAllowed' })
    expect((await vault.list()).map(({ name, kind, version }) => [name, kind, version])).toEqual([
      ['service:mail', 'service', 2],
    ])
    await secrets.forgetForService('mail')
    await secrets.forgetForService('mail')
    expect(await vault.list()).toEqual([])
  })
})

describe('managing', () => {
  test.each([
    ['a short one', '1234567'],
    ['one character again and again', 'aaaaaaaaaaaa'],
    ['a long one', 'ab'.repeat(40_000)],
    ['half a character', 'valid but for \ud800'],
  ])('refuses %s', async (_, given) => {
    await using place = await Place.make()
    const { secrets, vault } = await place.open()
    const refused = { type: 'SecretRefused' }
    await expect(vault.add(secret({ value: given }), entry)).rejects.toMatchObject(refused)
    await vault.add(secret(), entry)
    await expect(vault.rotate('token', { value: given }, entry)).rejects.toMatchObject(refused)
    await expect(secrets.keepForService('x', given)).rejects.toMatchObject(refused)
    expect(JSON.stringify(await place.entries())).not.toContain(given)
  })

  test('keeps nothing readable, and nothing at all of an old value', async () => {
    await using place = await Place.make()
    const { secrets, vault } = await place.open()
    await vault.add(secret(), entry)
    const before = (await place.storage.secrets.find('token')) as StoredSecret
    await secrets.use(use(), reveal)
    await vault.rotate('token', { value: 'CANARY-NEW-0123456789' }, entry)
    await vault.change('token', { hosts: ['other.example.org'] }, entry)
    const all = await place.everything()
    for (const word of [value, 'CANARY-NEW'])
      for (const text of [word, Buffer.from(word).toString('base64').slice(0, 12)])
        expect(all).not.toContain(text)
    for (const part of [before.sealed_value, before.wrapped_key]) expect(all).not.toContain(part)
    expect(await secrets.use(use({ host: 'other.example.org' }), reveal)).toBe(
      'CANARY-NEW-0123456789',
    )
    await expect(secrets.use(use(), reveal)).rejects.toMatchObject({ type: 'SecretNotAllowed' })
  })

  test('writes down each change with the scope before and after, by whoever made it', async () => {
    await using place = await Place.make()
    const { vault } = await place.open()
    await vault.add(secret(), entry)
    await vault.change('token', { agents: [] }, entry)
    await vault.rotate('token', { value: 'another value' }, entry)
    await vault.remove('token', entry)
    await vault.lock(entry)
    await vault.unlock(null, entry)
    const seen = (await place.entries()).toReversed()
    expect(seen.map(({ capability }) => capability)).toEqual([
      'vault.created',
      'secret.added',
      'secret.changed',
      'secret.rotated',
      'secret.deleted',
      'vault.locked',
      'vault.unlocked',
    ])
    expect(seen[2]?.detail).toMatchObject({ before: { agents: ['coder'] }, after: { agents: [] } })
  })

  test('refuses a name twice, and names that are not there', async () => {
    await using place = await Place.make()
    const { vault } = await place.open()
    await vault.add(secret(), entry)
    await expect(vault.add(secret(), entry)).rejects.toMatchObject({ type: 'SecretExists' })
    const absent = { type: 'SecretNotFound' }
    await expect(vault.rotate('other', { value }, entry)).rejects.toMatchObject(absent)
    await expect(vault.change('other', {}, entry)).rejects.toMatchObject(absent)
    await expect(vault.remove('other', entry)).rejects.toMatchObject(absent)
    await expect(vault.show('other')).rejects.toMatchObject(absent)
  })

  test('keeps a thousand and no more', async () => {
    await using place = await Place.make()
    const { vault } = await place.open()
    await vault.add(secret(), entry)
    const stored = (await place.storage.secrets.find('token')) as StoredSecret
    for (let n = 1; n < 1_000; n += 1)
      await place.storage.secrets.insert({ ...stored, id: `sec-${n}`, name: `other_${n}` })
    await expect(vault.add(secret({ name: 'last' }), entry)).rejects.toMatchObject({
      type: 'QuotaExceeded',
    })
    await vault.remove('other_1', entry)
    await vault.add(secret({ name: 'last' }), entry)
  })

  test('answers whether a use would be let through, and uses nothing', async () => {
    await using place = await Place.make()
    const { vault } = await place.open()
    await vault.add(secret(), entry)
    const wanted = {
      name: 'token',
      agent: 'coder',
      capability: 'git.push',
      host: 'git.example.org',
    }
    expect(await vault.check(wanted)).toMatchObject({ allowed: true })
    expect(await vault.check({ ...wanted, agent: 'mailbot' })).toMatchObject({
      allowed: false,
      reason: 'its agents are coder',
    })
    expect(await vault.show('token')).toMatchObject({ uses: 0, last_use: null })
  })

  test('notes who asks for a new value, until there is one', async () => {
    await using place = await Place.make()
    const { vault } = await place.open()
    await vault.add(secret(), entry)
    const wish = { name: 'token', reason: 'it is refused' }
    for (const asked of [
      { ...wish, agent: 'mailbot' },
      { ...wish, agent: 'coder', name: 'other' },
    ])
      await expect(vault.requestRotation(asked)).rejects.toMatchObject({ type: 'SecretNotAllowed' })
    await vault.requestRotation({ ...wish, agent: 'coder' })
    expect((await vault.show('token')).rotation_request).toMatchObject({ agent: 'coder' })
    await vault.rotate('token', { value: 'another value' }, entry)
    expect((await vault.show('token')).rotation_request).toBeNull()
  })
})

describe('the lock', () => {
  test('opens by the key file at each start, and by no other', async () => {
    await using place = await Place.make()
    const first = await place.open()
    await first.vault.add(secret(), entry)
    first[Symbol.dispose]()
    const again = await place.open()
    expect(await again.secrets.use(use(), reveal)).toBe(value)
    const stranger = await place.open({ keyFile: join(place.folder, 'other.key') })
    expect(stranger.vault.state()).toMatchObject({
      locked: true,
      reason: expect.stringContaining('there is no'),
    })
    expect(existsSync(join(place.folder, 'other.key'))).toBe(false)
  })

  test('stays locked while others can read the key file, and opens once they cannot', async () => {
    await using place = await Place.make()
    await (await place.open()).vault.add(secret(), entry)
    chmodSync(place.keyFile, 0o644)
    const { vault, secrets } = await place.open()
    expect(vault.state()).toMatchObject({
      locked: true,
      remedy: expect.stringContaining('chmod 600'),
    })
    await expect(vault.unlock(null, entry)).rejects.toMatchObject({ type: 'VaultLocked' })
    chmodSync(place.keyFile, 0o600)
    await vault.unlock(null, entry)
    expect(await secrets.use(use(), reveal)).toBe(value)
  })

  test('says what is wrong with a damaged master key, and harms nothing else', async () => {
    await using place = await Place.make()
    await place.open()
    const stored = (await place.storage.meta.get('vault')) as string
    for (const text of [
      'no json',
      stored.replace(/"root":"./, '"root":"#'),
      JSON.stringify({ ...JSON.parse(stored), mode: 'passphrase', kdf: null }),
    ]) {
      await place.storage.meta.set('vault', text)
      expect((await place.open()).vault.state()).toMatchObject({ locked: true })
    }
    await place.storage.meta.set('vault', stored)
    expect((await place.open()).vault.state()).toMatchObject({ locked: false })
  })

  test('goes from a key file to a passphrase, to another, and back', async () => {
    await using place = await Place.make()
    const first = await place.open()
    await first.vault.add(secret(), entry)
    await first.vault.relock({ passphrase: 'correct horse battery' }, entry)
    expect(existsSync(place.keyFile)).toBe(false)
    expect(await first.secrets.use(use(), reveal)).toBe(value)

    const second = await place.open()
    expect(second.vault.state()).toMatchObject({ locked: true, mode: 'passphrase' })
    await expect(second.vault.unlock('wrong horse battery', entry)).rejects.toMatchObject({
      type: 'WrongPassphrase',
    })
    await second.vault.unlock('correct horse battery', entry)
    const next = { passphrase: 'another horse battery' }
    await expect(second.vault.relock(next, entry)).rejects.toMatchObject({ type: 'VaultConflict' })
    await expect(
      second.vault.relock({ ...next, current: 'wrong horse battery' }, entry),
    ).rejects.toMatchObject({ type: 'WrongPassphrase' })
    await second.vault.relock({ ...next, current: 'correct horse battery' }, entry)

    const third = await place.open()
    await expect(third.vault.unlock('correct horse battery', entry)).rejects.toMatchObject({
      type: 'WrongPassphrase',
    })
    await third.vault.unlock('another horse battery', entry)
    await third.vault.relock({ passphrase: null, current: 'another horse battery' }, entry)
    const fourth = await place.open()
    expect(fourth.vault.state()).toMatchObject({ locked: false, mode: 'key_file' })
    expect(await fourth.secrets.use(use(), reveal)).toBe(value)
    expect(await place.everything()).not.toContain('horse battery')
  })

  test('refuses a short passphrase, and any change while it is locked', async () => {
    await using place = await Place.make()
    const { vault } = await place.open()
    await expect(vault.relock({ passphrase: 'short' }, entry)).rejects.toMatchObject({
      type: 'WeakPassword',
    })
    await vault.lock(entry)
    const locked = { type: 'VaultLocked' }
    await expect(vault.relock({ passphrase: 'long enough now' }, entry)).rejects.toMatchObject(
      locked,
    )
    await expect(vault.rotateKey(null, entry)).rejects.toMatchObject(locked)
    await expect(vault.add(secret(), entry)).rejects.toMatchObject(locked)
  })

  test('takes five wrong passphrases a minute, and logs each', async () => {
    await using place = await Place.make()
    const first = await place.open()
    await first.vault.relock({ passphrase: 'correct horse battery' }, entry)
    const { vault } = await place.open()
    for (let n = 0; n < 5; n += 1)
      await expect(vault.unlock(`wrong ${n}`, entry)).rejects.toMatchObject({
        type: 'WrongPassphrase',
      })
    await expect(vault.unlock('correct horse battery', entry)).rejects.toMatchObject({
      type: 'TooManyLogins',
    })
    const failed = (await place.entries()).filter(({ capability }) => capability.endsWith('failed'))
    expect(failed).toHaveLength(5)
    place.clock.move(60_001)
    await vault.unlock('correct horse battery', entry)
    expect(vault.state().locked).toBe(false)
  })

  test('gets a new master key, and no old key opens anything any more', async () => {
    await using place = await Place.make()
    const first = await place.open()
    for (const name of ['a1', 'a2', 'a3']) await first.vault.add(secret({ name }), entry)
    const [oldKeyring, oldFile] = [
      (await place.storage.meta.get('vault')) as string,
      readFileSync(place.keyFile, 'utf8'),
    ]
    expect(await first.vault.rotateKey(null, entry)).toBe(3)
    expect(readFileSync(place.keyFile, 'utf8')).not.toBe(oldFile)
    expect(readFileSync(place.keyFile, 'utf8').trim().split('\n')).toHaveLength(1)
    expect(await first.secrets.use(use({ name: 'a2' }), reveal)).toBe(value)
    const again = await place.open()
    expect(await again.secrets.use(use({ name: 'a3' }), reveal)).toBe(value)
    await place.storage.meta.set('vault', oldKeyring)
    const { writeFileSync } = await import('node:fs')
    writeFileSync(place.keyFile, oldFile)
    const old = await place.open()
    expect(old.vault.state().locked).toBe(false)
    await expect(old.secrets.use(use({ name: 'a1' }), reveal)).rejects.toMatchObject({
      type: 'VaultTampered',
    })
  })

  test('outlives a crash in the middle of a new master key', async () => {
    await using place = await Place.make()
    const first = await place.open()
    await first.vault.add(secret(), entry)
    const replace = place.storage.transaction
    place.storage.transaction = () => Promise.reject(new Error('the power is gone'))
    const rotated = first.vault.rotateKey(null, entry)
    await expect(rotated).rejects.toBeDefined()
    place.storage.transaction = replace
    expect(readFileSync(place.keyFile, 'utf8').trim().split('\n')).toHaveLength(2)
    const again = await place.open()
    expect(await again.secrets.use(use(), reveal)).toBe(value)
  })

  test('follows a new master key that another node made with the same key file', async () => {
    await using place = await Place.make()
    const [here, there] = [await place.open(), await place.open()]
    await here.vault.add(secret(), entry)
    await here.vault.rotateKey(null, entry)
    expect(await there.secrets.use(use(), reveal)).toBe(value)
    await there.vault.add(secret({ name: 'second' }), entry)
    expect(await here.secrets.use(use({ name: 'second' }), reveal)).toBe(value)
  })
})

describe('rows changed behind its back', () => {
  test('are refused: scopes, values and keys that changed places', async () => {
    await using place = await Place.make()
    const { secrets, vault } = await place.open()
    await vault.add(secret(), entry)
    await vault.add(secret({ name: 'other', value: 'the other value', agents: ['mailbot'] }), entry)
    const mine = (await place.storage.secrets.find('token')) as StoredSecret
    const theirs = (await place.storage.secrets.find('other')) as StoredSecret
    for (const change of [
      { agents: ['coder', 'mailbot'] },
      { hosts: ['git.example.org', 'evil.example'] },
      { capabilities: ['git.*', 'network.http_request'] },
      { sealed_value: theirs.sealed_value },
      { wrapped_key: theirs.wrapped_key },
      { sealed_value: theirs.sealed_value, wrapped_key: theirs.wrapped_key },
    ]) {
      await place.storage.secrets.replace(mine, { ...mine, ...change })
      await expect(secrets.use(use(), reveal)).rejects.toMatchObject({ type: 'VaultTampered' })
      await place.storage.secrets.replace(mine, mine)
      expect(await secrets.use(use(), reveal)).toBe(value)
    }
  })
})
