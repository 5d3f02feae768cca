import { describe, expect, test } from 'vitest'
import type { StoredSecret } from '../ports/secret-store.ts'
import { openValue, rewrap, sealValue } from './envelope.ts'
import { newRoot, openRoot, parseKeyring, sealRoot } from './keyring.ts'
import { newKey, seal, unseal } from './seal.ts'

const value = 'CANARY-SEC-0123456789'
const root = newRoot()

const secretOf = (over: Partial<StoredSecret> = {}): StoredSecret => {
  const facts = {
    id: 'sec-1',
    name: 'token',
    version: 1,
    capabilities: ['git.*'],
    hosts: ['git.example.org'],
    agents: ['coder'],
    ...over,
  }
  return {
    description: '',
    created_ms: 0,
    rotated_ms: 0,
    scoped_ms: 0,
    uses: 0,
    last_use: null,
    rotation_request: null,
    ...facts,
    ...sealValue(root, facts, value),
  }
}

const tampered = { type: 'VaultTampered' }

describe('sealing', () => {
  test('gives back what was sealed, and never the same twice', () => {
    const key = newKey()
    const sealed = seal(key, Buffer.from(value), 'bound')
    expect(unseal(key, sealed, 'bound')?.toString()).toBe(value)
    expect(seal(key, Buffer.from(value), 'bound')).not.toBe(sealed)
  })

  test('refuses every flipped bit, every cut and every other spelling', () => {
    const key = newKey()
    const sealed = Buffer.from(seal(key, Buffer.from(value), 'bound'), 'base64')
    for (let at = 0; at < sealed.length; at += 1)
      for (let bit = 0; bit < 8; bit += 1) {
        const changed = Buffer.from(sealed)
        changed[at] = (changed[at] as number) ^ (1 << bit)
        expect(unseal(key, changed.toString('base64'), 'bound')).toBeNull()
      }
    for (let length = 0; length < sealed.length; length += 1)
      expect(unseal(key, sealed.subarray(0, length).toString('base64'), 'bound')).toBeNull()
    const text = sealed.toString('base64')
    for (const other of [`${text}\n`, text.replace(/=*$/, ''), ` ${text}`, `${text}=`])
      if (other !== text) expect(unseal(key, other, 'bound')).toBeNull()
  })

  test('refuses another key and other bounds', () => {
    const key = newKey()
    const sealed = seal(key, Buffer.from(value), 'bound')
    expect(unseal(newKey(), sealed, 'bound')).toBeNull()
    expect(unseal(key, sealed, 'Bound')).toBeNull()
  })
})

describe('a stored secret', () => {
  test('opens as it was stored', () => {
    expect(openValue(root, secretOf())).toBe(value)
  })

  test.each([
    ['another id', { id: 'sec-2' }],
    ['another name', { name: 'other' }],
    ['an older version', { version: 0 }],
    ['one more agent', { agents: ['coder', 'mailbot'] }],
    ['every agent', { agents: ['*'] }],
    ['another host', { hosts: ['evil.example'] }],
    ['no host', { hosts: [] }],
    ['one more capability', { capabilities: ['git.*', 'network.http_request'] }],
    ['lists that changed places', { agents: ['git.example.org'], hosts: ['coder'] }],
    ['another master key named', { root_id: 'other' }],
  ])('does not open with %s', (_, change) => {
    expect(() => openValue(root, { ...secretOf(), ...change })).toThrow(
      expect.objectContaining(tampered),
    )
  })

  test('does not open with the value or the key of another row', () => {
    const [mine, theirs] = [secretOf(), secretOf({ id: 'sec-2', name: 'other' })]
    const older = secretOf({ version: 2 })
    for (const { sealed_value, wrapped_key } of [theirs, older]) {
      expect(() => openValue(root, { ...mine, sealed_value })).toThrow(
        expect.objectContaining(tampered),
      )
      expect(() => openValue(root, { ...mine, wrapped_key })).toThrow(
        expect.objectContaining(tampered),
      )
      expect(() => openValue(root, { ...mine, sealed_value, wrapped_key })).toThrow(
        expect.objectContaining(tampered),
      )
    }
  })

  test('does not open in another installation, or with another master key of the same id', () => {
    const stranger = { ...newRoot(), id: root.id }
    expect(() => openValue(stranger, secretOf())).toThrow(expect.objectContaining(tampered))
    const moved = { ...root, install: 'another' }
    expect(() => openValue(moved, secretOf())).toThrow(expect.objectContaining(tampered))
  })

  test('opens under a new master key, and no longer under the old one', () => {
    const next = newRoot(root.install)
    const moved = rewrap(root, next, secretOf())
    expect(openValue(next, moved)).toBe(value)
    expect(() => openValue(root, moved)).toThrow(expect.objectContaining(tampered))
  })
})

describe('the master key', () => {
  const lock = { mode: 'key_file', key: newKey(), key_id: 'k1' } as const
  const keyring = sealRoot(root, lock)

  test('opens with its key and is the same', () => {
    expect(openRoot(keyring, lock.key)?.key.equals(root.key)).toBe(true)
    expect(parseKeyring(JSON.stringify(keyring))).toEqual(keyring)
  })

  test.each([
    ['another installation', { install: 'other' }],
    ['another way to open it', { mode: 'passphrase' as const }],
    ['another key named', { key_id: 'k2' }],
    ['another id', { root_id: 'other' }],
    [
      'a passphrase beside it',
      {
        kdf: { memory_kib: 1, passes: 1, lanes: 1, salt: 's', check: 'c' },
      },
    ],
  ])('does not open with %s', (_, change) => {
    expect(openRoot({ ...keyring, ...change }, lock.key)).toBeNull()
  })

  test.each(['', 'null', '[]', '{}', '{"v":2}', '{"v":1,"mode":"passphrase"}'])(
    'is not made of %s',
    (text) => {
      expect(parseKeyring(text)).toBeNull()
    },
  )
})
