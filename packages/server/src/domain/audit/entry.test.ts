import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonical } from './canonical.ts'
import { createLinker, emptyLog, genesis, leafOf } from './chain.ts'
import { columnFault } from './columns.ts'
import { bodyOf, type EntryDraft, entryAt, entryOf, plainDraft, rowOf, sealEntry } from './entry.ts'
import type { Digests, Hashing } from './hashing.ts'
import { createTree } from './merkle.ts'
import { copiedFields } from './row.ts'
import { createRangeVerifier, goneText, type HashedEntry } from './verify-range.ts'

const sha256 = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex')
const digests: Digests = { sha256, hmac: (text) => sha256(`key${text}`) }
const hashing: Hashing = {
  sha256,
  room: (bytes) => Buffer.alloc(bytes),
  writeHex: (into, hex, at) => void (into as Buffer).write(hex, at, 'hex'),
  writeText: (into, text, at) => (into as Buffer).write(text, at),
}
const place = {
  id: 'aud-00000000000000000000000000',
  timestamp: '2026-01-01T00:00:00.000Z',
  chain: 'main',
}
const draft = (change: Partial<EntryDraft> = {}): EntryDraft => ({
  kind: 'call',
  agent: 'mailbot',
  capability: 'filesystem.read',
  arguments: { path: 'a' },
  result: 'success',
  policy_decision: 'autonomous',
  actor: 'agent:mailbot',
  session_id: null,
  request_id: 'req-1',
  rule: null,
  duration_ms: 2,
  approval_id: null,
  intent_id: null,
  error: null,
  detail: null,
  ...change,
})
const seal = (change: Partial<EntryDraft> = {}) => sealEntry(draft(change), place, digests)

test('pins the bytes of an entry, its chain hash and its leaf', () => {
  const body = bodyOf(seal(), 0)
  expect(body).toBe(
    '{"actor":"agent:mailbot","agent":"mailbot","approval_id":null,"arguments":{"path":"a"},' +
      '"capability":"filesystem.read","chain":"main","detail":null,"duration_ms":2,"error":null,' +
      '"id":"aud-00000000000000000000000000","intent_id":null,"kind":"call",' +
      '"policy_decision":"autonomous","request_id":"req-1","result":"success","rule":null,' +
      '"seq":0,"session_id":null,"timestamp":"2026-01-01T00:00:00.000Z"}',
  )
  const linker = createLinker(hashing)
  expect(linker.link(genesis, 0, body)).toBe(
    'c20fc4caba830ed5c432fb214281de8a58e0b7f43d35c8a91d20603962d188c3',
  )
  expect(linker.leaf()).toBe('17b95595ea0b5dae86bab5564f8319cbbe4136284de04dcb2525aea6992284c1')
  linker.link('f'.repeat(64), 5, 'ü')
  expect(linker.leaf()).toBe('b658a3434e85a93bb905234af49dd7cfdbc44e9919fadc8b7d6a3dc3a7a8b104')
  expect(leafOf(linker, 2 ** 40, 'ü')).toBe(
    'cceccad7312d0ba7fa7696d581ca297cb24bb90798acb25c3c44014e8f66daa2',
  )
})

const values = fc.jsonValue({ maxDepth: 3 })
const drafts = fc.record({
  agent: fc.string({ unit: 'binary' }),
  capability: fc.string(),
  actor: fc.string(),
  request_id: fc.string(),
  duration_ms: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
  session_id: fc.option(fc.string()),
  approval_id: fc.option(fc.string()),
  intent_id: fc.option(fc.string()),
  arguments: fc.dictionary(fc.string(), values),
  detail: fc.option(fc.dictionary(fc.string(), values)),
  error: fc.option(fc.record({ type: fc.string(), message: fc.string() })),
})

test('the body is the canonical JSON of the entry without its hash, whatever is in it', () => {
  fc.assert(
    fc.property(drafts, fc.maxSafeNat(), (change, seq) => {
      const sealed = seal(change)
      const body = bodyOf(sealed, seq)
      const { hash: _none, ...fields } = sealed.fields
      expect(body).toBe(canonical({ ...fields, seq }))
      const row = rowOf(sealed, seq, genesis, body)
      expect(columnFault(row)).toBe(null)
      const { hash, ...shown } = entryOf(row)
      expect(canonical(shown)).toBe(body)
      expect(hash).toBe(`sha256:${genesis}`)
    }),
    { numRuns: 400 },
  )
})

test('names any column that says something else than the body', () => {
  fc.assert(
    fc.property(drafts, fc.string(), (change, other) => {
      const sealed = seal(change)
      const row = rowOf(sealed, 7, genesis, bodyOf(sealed, 7))
      for (const name of copiedFields)
        if (row[name] !== other) expect(columnFault({ ...row, [name]: other })).toBe(name)
      expect(columnFault({ ...row, body: `${row.body} ` })).toBe(null)
      expect(columnFault({ ...row, body: row.body.slice(1) })).toBe('body')
    }),
    { numRuns: 60 },
  )
})

test.each([1, 5_000, 20_000])('hashes the whole of a body of %d long characters', (count) => {
  const body = '€'.repeat(count)
  const bytes = Buffer.alloc(12)
  bytes.writeUInt32BE(7, 4)
  bytes.writeUInt32BE(count * 3, 8)
  const rest = Buffer.concat([bytes, Buffer.from(body)])
  const linker = createLinker(hashing)
  linker.link(genesis, 0, 'short')
  expect(linker.link('f'.repeat(64), 7, body)).toBe(
    sha256(Buffer.concat([Buffer.from('gatehouse-audit-v1\0'), Buffer.alloc(32, 255), rest])),
  )
  expect(linker.leaf()).toBe(sha256(Buffer.concat([Buffer.alloc(1), rest])))
})

test('arguments that imitate the entry around them do not cover a changed column', () => {
  const forged = { capability: 'email.send', chain: 'main', detail: null }
  const sealed = seal({ arguments: { 'x","capability': forged, y: forged } })
  const row = rowOf(sealed, 0, genesis, bodyOf(sealed, 0))
  expect(columnFault(row)).toBe(null)
  expect(columnFault({ ...row, capability: 'email.send' })).toBe('capability')
  const agent = 'mailbot","approval_id":null,"arguments":{"x\\",\\"capability":{}'
  expect(columnFault({ ...row, agent })).toBe('agent')
})

test('keeps 4 KiB of a large value, with the hash and length of all of it', () => {
  const content = 'ü'.repeat(4_000)
  const { fields } = seal({ arguments: { content, path: 'a', lines: Array(3_000).fill(7) } })
  expect(fields.arguments).toMatchObject({
    content: { $cut: 'ü'.repeat(2_048), sha256: sha256(content), size_bytes: 8_000 },
    path: 'a',
    lines: { size_bytes: 6_001, sha256: sha256(JSON.stringify(Array(3_000).fill(7))) },
  })
  const fits = seal({ arguments: { content: 'x'.repeat(4_096) } })
  expect(fits.fields.arguments).toEqual({ content: 'x'.repeat(4_096) })
})

test('keeps the beginning of very many arguments', () => {
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i]))
  const { fields, before } = seal({ arguments: many })
  expect(fields.arguments).toMatchObject({ size_bytes: canonical(many).length })
  expect(before.length).toBeLessThan(6_000)
})

test('keeps an argument called __proto__ as an argument', () => {
  const { fields, before } = seal({ arguments: JSON.parse('{"__proto__":{"a":1}}') })
  expect(Object.keys(fields.arguments)).toEqual(['__proto__'])
  expect(before).toContain('"arguments":{"__proto__":{"a":1}}')
})

test('a value that imitates a shortened one is shortened itself', () => {
  const { fields } = seal({ arguments: { a: { $cut: '', sha256: '', size_bytes: 1 } } })
  expect(fields.arguments['a']).toMatchObject({ $cut: '{"$cut":"","sha256":"","size_bytes":1}' })
})

test('puts a keyed hash in place of a named argument, whatever its type', () => {
  const { fields, before } = seal({
    arguments: { pin: 1234, pins: [1234] },
    redact: ['pin', 'pins'],
  })
  expect(fields.arguments).toEqual({
    pin: `hmac-sha256:${digests.hmac('1234')}`,
    pins: `hmac-sha256:${digests.hmac('[1234]')}`,
  })
  expect(before).not.toContain('1234')
})

test('a secret argument stays one where all of them are shortened', () => {
  const pin = `hmac-sha256:${digests.hmac('1234')}`
  const redact = ['pin']
  const imitating = seal({ arguments: { $cut: '', pin: 1234 }, redact })
  expect(imitating.fields.arguments).toMatchObject({ $cut: `{"$cut":"","pin":"${pin}"}` })
  const parts = Object.fromEntries(
    Array.from({ length: 20 }, (_, i) => [`z${i}`, 'x'.repeat(4_000)]),
  )
  const large = seal({ arguments: { pin: 1234, ...parts }, redact })
  expect(large.fields.arguments['$cut']).toContain(`{"pin":"${pin}","z0":"x`)
  expect(imitating.before + large.before).not.toContain('1234')
})

test('64 KiB of arguments are kept whole, and one byte more in part', () => {
  const parts = Object.fromEntries(
    Array.from({ length: 16 }, (_, i) => [`k${10 + i}`, 'x'.repeat(4_085)]),
  )
  const more = 65_536 - canonical({ ...parts, last: '' }).length
  const whole = { ...parts, last: 'x'.repeat(more) }
  expect(seal({ arguments: whole }).fields.arguments).toEqual(whole)
  const { fields } = seal({ arguments: { ...parts, last: 'x'.repeat(more + 1) } })
  expect(fields.arguments).toMatchObject({ size_bytes: 65_537 })
})

test('an endless name is cut, so that an unknown capability can be recorded', () => {
  const { fields } = seal({ capability: `${'x'.repeat(511)}🙂${'y'.repeat(1e6)}` })
  expect(fields.capability).toBe(`${'x'.repeat(511)}…`)
  const early = `🙂${'x'.repeat(510)}`
  expect(seal({ capability: `${early}more` }).fields.capability).toBe(`${early}…`)
})

test('keeps the details beside a call, in what is hashed and in what is read', () => {
  const { fields, before } = seal({ detail: { b: [1], a: 'x' } })
  expect(fields.detail).toEqual({ a: 'x', b: [1] })
  expect(before).toContain('"detail":{"a":"x","b":[1]},')
  const none = seal({ detail: null })
  expect([none.fields.detail, none.before.includes('"detail":null,')]).toEqual([null, true])
})

test('says nothing where nothing is said', () => {
  const said = { capability: 'agent.pause', actor: 'user:ana', request_id: 'req-1' }
  expect(plainDraft({ ...said, detail: { a: 1 } })).toEqual({
    ...said,
    kind: 'act',
    agent: '',
    arguments: {},
    result: 'success',
    policy_decision: 'none',
    session_id: null,
    rule: null,
    duration_ms: null,
    approval_id: null,
    intent_id: null,
    error: null,
    detail: { a: 1 },
  })
})

test('the caller gets its entry with the place that it was given', () => {
  expect(entryAt(seal(), 7, genesis)).toMatchObject({ seq: 7, hash: `sha256:${genesis}` })
})

test('an entry that cannot be read is shown by its columns, and as damaged', () => {
  const row = rowOf(seal(), 7, genesis, '{')
  const shown = entryOf({ ...row, policy_decision: null })
  expect(shown).toMatchObject({
    agent: 'mailbot',
    policy_decision: 'none',
    actor: '',
    arguments: {},
    request_id: '',
    rule: null,
    error: null,
    detail: { damaged: 'The stored entry cannot be read.', bytes: 1 },
    hash: `sha256:${genesis}`,
  })
  expect(shown).not.toHaveProperty('body')
  expect(entryOf(row).policy_decision).toBe('autonomous')
})

test('an entry of the first versions, where no policy was asked, says so', () => {
  const body = bodyOf(seal(), 0).replace('"policy_decision":"autonomous"', '"policy_decision":null')
  expect(entryOf(rowOf(seal(), 0, genesis, body)).policy_decision).toBe('none')
})

test('a rule that changes after one entry is another one in the next', () => {
  const rule = { id: 'a', effect: 'allow' }
  const text = () => seal({ rule: rule as unknown as EntryDraft['rule'] }).before
  expect(text()).toContain('"rule":{"effect":"allow","id":"a"}')
  rule.id = 'b'
  expect(text()).toContain('"rule":{"effect":"allow","id":"b"}')
  Object.freeze(rule)
  expect([text(), text()]).toEqual(Array(2).fill(expect.stringContaining('"id":"b"')))
})

test('a long sentence and a long name are cut, one at the limit is not', () => {
  const message = (text: string) => seal({ error: { type: 'X', message: text } }).fields.error
  expect(message('x'.repeat(4_096))?.message).toBe('x'.repeat(4_096))
  expect(message('x'.repeat(4_097))?.message).toBe(`${'x'.repeat(4_096)}…`)
  expect(message('ü'.repeat(2_049))?.message).toBe(`${'ü'.repeat(2_048)}…`)
  expect(seal({ agent: 'x'.repeat(512) }).fields.agent).toBe('x'.repeat(512))
  const { fields } = seal({ arguments: { $cut: 'a' } })
  expect(fields.arguments).toEqual({
    $cut: '{"$cut":"a"}',
    sha256: sha256('{"$cut":"a"}'),
    size_bytes: 12,
  })
})

/** Entries of a sound log: each follows the hash of the one before. */
const logOf = (bodies: readonly string[]): HashedEntry[] => {
  const linker = createLinker(hashing)
  let hash = genesis
  return bodies.map((body, seq) => ({ seq, body, hash: (hash = linker.link(hash, seq, body)) }))
}
const sound = logOf([0, 1, 2, 3, 4].map((seq) => `{"id":"e${seq}","seq":${seq}}`))
const renumbered = (entries: readonly HashedEntry[]) =>
  entries.map((entry, seq) => ({ ...entry, seq }))
const [e0, e1, e2, e3, e4] = sound as [
  HashedEntry,
  HashedEntry,
  HashedEntry,
  HashedEntry,
  HashedEntry,
]

const faults: Record<string, [HashedEntry[], object]> = {
  'another text': [
    [e0, { ...e1, body: '{"id":"e9","seq":1}' }, e2],
    { kind: 'modified', seq: 1, id: 'e9', detail: 'the hash does not fit the entry' },
  ],
  'a text that cannot be read': [
    [e0, { ...e1, body: '{' }, e2],
    { kind: 'modified', seq: 1, id: null, detail: 'the entry cannot be read' },
  ],
  'another text at the end': [
    [e0, { ...e1, body: '{"id":1,"seq":1}' }],
    { kind: 'modified', seq: 1, id: null },
  ],
  'a seq twice': [
    [e0, e1, { ...e1, body: '{"id":"e9","seq":1}' }],
    { kind: 'inserted', seq: 1, id: 'e9', detail: 'seq 1 is there twice' },
  ],
  "two at each other's place": [
    [e0, e2, e1],
    { kind: 'reordered', seq: 1, id: 'e2', detail: 'this entry belongs to seq 2' },
  ],
  'one gone': [
    [e0, e2, e3],
    { kind: 'missing', seq: 1, id: 'e2', detail: '1 entry is gone before e2' },
  ],
  'two gone': [
    [e0, e3, e4],
    { kind: 'missing', seq: 1, id: 'e3', detail: '2 entries are gone before e3' },
  ],
  'one gone, the others renumbered': [
    renumbered([e0, e2, e3]),
    { kind: 'missing', seq: 1, id: 'e2', detail: '1 entry is gone before this one' },
  ],
  'the last but one gone, the last renumbered': [
    renumbered([e0, e1, e4]),
    { kind: 'missing', seq: 2, id: 'e4', detail: '2 entries are gone before this one' },
  ],
  'two exchanged and renumbered': [
    renumbered([e0, e2, e1, e3]),
    { kind: 'reordered', seq: 1, id: 'e2', detail: 'this entry belongs to seq 2' },
  ],
  'one put in, the others renumbered': [
    renumbered([e0, { ...e1, body: '{"id":"e9","seq":1}' }, e1, e2]),
    {
      kind: 'inserted',
      seq: 1,
      detail: 'this entry was put in, and those after it were renumbered',
    },
  ],
  'a copy put in': [
    renumbered([e0, e1, e0, e2]),
    { kind: 'inserted', seq: 2, id: 'e0', detail: 'a copy of the entry at seq 0' },
  ],
}

test.each(Object.entries(faults))('names %s, with its place', (_name, [entries, fault]) => {
  const verifier = createRangeVerifier(hashing, emptyLog, { tree: false })
  expect(verifier.take(entries)).toMatchObject(fault)
})

test('takes the entries of a sound log in any parts, and says where it stands', () => {
  const leaves: string[] = []
  const verifier = createRangeVerifier(hashing, emptyLog, {
    tree: true,
    leaf: (leaf) => leaves.push(leaf),
  })
  expect([
    verifier.take([]),
    verifier.take(sound.slice(0, 2)),
    verifier.take(sound.slice(2)),
  ]).toEqual([null, null, null])
  const tree = createTree(hashing)
  for (const leaf of leaves) tree.push(leaf)
  expect(verifier.root()).toBe(tree.root())
  expect(leaves).toEqual(sound.map(({ seq, body }) => leafOf(createLinker(hashing), seq, body)))
  expect(verifier.state()).toEqual({ size: 5, head: e4.hash, peaks: tree.peaks() })
})

test('goes on from a known state, without a tree too', () => {
  const from = { size: 2, head: e1.hash, peaks: ['p'] }
  const verifier = createRangeVerifier(hashing, from, { tree: false })
  expect(verifier.take(sound.slice(2))).toBe(null)
  expect(verifier.state()).toEqual({ size: 5, head: e4.hash, peaks: ['p'] })
  expect(() => verifier.root()).toThrow('keeps no tree')
})

test('keeps a tree without telling of leaves, and tells of leaves without a tree', () => {
  const tree = createRangeVerifier(hashing, emptyLog, { tree: true })
  const leaves: string[] = []
  const leaf = (one: string) => leaves.push(one)
  const telling = createRangeVerifier(hashing, emptyLog, { tree: false, leaf })
  expect([tree.take(sound), telling.take(sound)]).toEqual([null, null])
  const other = createTree(hashing)
  for (const one of leaves) other.push(one)
  expect([leaves.length, tree.root()]).toEqual([5, other.root()])
})

test('looks at the entries around those that it takes', () => {
  const verifier = createRangeVerifier(hashing, emptyLog, { tree: false })
  const moved = [e1, e0]
  expect(verifier.take(moved.slice(0, 1), moved)).toMatchObject({ kind: 'reordered', seq: 0 })
  expect(goneText(2)).toBe('2 entries are gone')
})
