import { scriptModel } from '@gatehouse/testkit'
import { describe, expect, test } from 'vitest'
import { readGgufHeader } from './gguf-header.ts'

const whole = scriptModel()
const reasonOf = (bytes: Uint8Array, fileBytes = bytes.length): string | null => {
  const reading = readGgufHeader(bytes, fileBytes)
  return reading.kind === 'refused' ? reading.reason : null
}
const u32 = (key: string, value: number) => ({ key, type: 'u32', value }) as const
const changed = (key: string, value: Parameters<typeof u32>[1] | null) =>
  scriptModel({ change: { [key]: value === null ? null : u32(key, value) } })
const from = (bytes: Uint8Array): Buffer => Buffer.from(bytes)

test('tells what a model is and what a token of it costs', () => {
  expect(readGgufHeader(whole, whole.length)).toEqual({
    kind: 'accepted',
    header: {
      architecture: 'llama',
      name: 'gatehouse-script',
      parameters: 115_008,
      weights_bytes: 123_136,
      context_length: 2_048,
      embedding_length: 64,
      layers: 2,
      // layers × heads of keys and values × their width × key and value × two bytes
      kv_bytes_per_token: 2 * 2 * 16 * 2 * 2,
      fully_checked: true,
    },
  })
})

test('says how much more it needs at least, so that nobody asks in vain', () => {
  for (let given = 4; given < 10_000; ) {
    const reading = readGgufHeader(whole.subarray(0, given), whole.length)
    if (reading.kind === 'accepted') return
    if (reading.kind !== 'incomplete') throw new Error(JSON.stringify(reading))
    expect(reading.atLeast).toBeGreaterThan(given)
    expect(readGgufHeader(whole.subarray(0, reading.atLeast - 1), whole.length).kind).toBe(
      'incomplete',
    )
    given = reading.atLeast
  }
  throw new Error('it was never satisfied')
})

test('needs the header alone, and says when it has not all of it', () => {
  for (const length of [4, 24, 100, 5_000])
    expect(readGgufHeader(whole.subarray(0, length), whole.length)).toMatchObject({
      kind: 'incomplete',
    })
  expect(readGgufHeader(whole.subarray(0, 10_000), whole.length).kind).toBe('accepted')
  expect(reasonOf(whole.subarray(0, 5_000))).toBe('it ends inside its header')
})

// Each of these aborts an engine that sees it.
describe('refuses what engines abort on:', () => {
  test.each([
    ['no feed_forward_length', changed('llama.feed_forward_length', null)],
    ['no head_count', changed('llama.attention.head_count', null)],
    ['block_count 0', changed('llama.block_count', 0)],
    ['block_count 4e9', changed('llama.block_count', 4_000_000_000)],
    ['head_count 0', changed('llama.attention.head_count', 0)],
    ['head_count_kv 0', changed('llama.attention.head_count_kv', 0)],
    ['no tokens', scriptModel({ change: { 'tokenizer.ggml.tokens': null } })],
    [
      'an empty list of tokens',
      scriptModel({
        change: {
          'tokenizer.ggml.tokens': { key: 'tokenizer.ggml.tokens', type: 'texts', value: [] },
        },
      }),
    ],
  ])('%s', (_what, bytes) => {
    expect(reasonOf(bytes)).toMatch(/llama\.|tokenizer\./)
  })
})

test('refuses a list of tokens that holds one twice: engines abort on that, too', () => {
  const value = Array.from({ length: 320 }, (_, i) => `t${i % 319}`)
  const tokens = { key: 'tokenizer.ggml.tokens', type: 'texts', value } as const
  expect(reasonOf(scriptModel({ change: { [tokens.key]: tokens } }))).toBe(
    'the value of "tokenizer.ggml.tokens" holds the same element twice, the second at 319',
  )
})

describe('refuses', () => {
  const at = (offset: number, write: (bytes: Buffer) => void): [Buffer, number] => {
    const bytes = from(whole)
    write(bytes)
    return [bytes, offset]
  }
  test.each([
    ['another magic', at(0, (b) => b.write('GGML', 0)), 'does not begin'],
    ['an unknown version', at(4, (b) => b.writeUInt32LE(9, 4)), 'GGUF version 9'],
    ['no tensors', at(8, (b) => b.writeBigUInt64LE(0n, 8)), '0 tensors'],
    ['more tensors than any', at(8, (b) => b.writeBigUInt64LE(1n << 40n, 8)), 'tensors'],
    ['a number beyond all bounds', at(8, (b) => b.writeBigUInt64LE((1n << 64n) - 1n, 8)), 'bounds'],
    ['more values than any', at(16, (b) => b.writeBigUInt64LE(100_000n, 16)), 'values'],
    ['a key of 2^40 bytes', at(24, (b) => b.writeBigUInt64LE(1n << 40n, 24)), 'a key has'],
  ])('%s', (_what, [bytes], reason) => {
    expect(reasonOf(bytes)).toContain(reason)
  })

  test('tensors that end beyond the file', () => {
    expect(reasonOf(whole, whole.length - 40)).toMatch(/tensor ".*" ends at byte \d+, beyond/)
  })

  test('a type of tensor that it does not know, by its number', () => {
    const bytes = from(whole)
    const name = bytes.indexOf('token_embd.weight')
    bytes.writeUInt32LE(77, name + 'token_embd.weight'.length + 4 + 16)
    expect(reasonOf(bytes)).toBe('tensor "token_embd.weight" has the unknown type 77')
  })

  test('tensors that lie over one another, or off their alignment', () => {
    const offsetAt =
      from(whole).indexOf('output_norm.weight') + 'output_norm.weight'.length + 4 + 8 + 4
    const over = from(whole)
    over.writeBigUInt64LE(0n, offsetAt)
    expect(reasonOf(over)).toMatch(/overlaps another/)
    const off = from(whole)
    off.writeBigUInt64LE(off.readBigUInt64LE(offsetAt) + 1n, offsetAt)
    expect(reasonOf(off)).toMatch(/not aligned/)
  })

  test('the same key, or the same tensor, twice', () => {
    const bytes = from(whole)
    bytes.write('llama.context_lengtX', bytes.indexOf('llama.context_length'))
    expect(readGgufHeader(bytes, bytes.length).kind).toBe('refused')
    const twice = from(whole)
    twice.write('blk.0.attn_k.weight', twice.indexOf('blk.0.attn_q.weight'))
    expect(reasonOf(twice)).toBe('there are two tensors "blk.0.attn_k.weight"')
  })
})

test('looks at the form alone of an architecture that it does not know, and says so', () => {
  const bytes = scriptModel({
    change: {
      'general.architecture': { key: 'general.architecture', type: 'text', value: 'mamba' },
    },
  })
  expect(readGgufHeader(bytes, bytes.length)).toMatchObject({
    kind: 'accepted',
    header: { architecture: 'mamba', fully_checked: false, kv_bytes_per_token: null },
  })
})

test('takes every mode and type that the writer makes', () => {
  for (const type of ['F32', 'F16', 'Q8_0', 'Q4_0'] as const)
    for (const mode of ['script', 'random'] as const) {
      const bytes = scriptModel({ type, mode, layers: 1 })
      expect(readGgufHeader(bytes, bytes.length).kind).toBe('accepted')
    }
})

test('never throws at a damaged header, however it is damaged', () => {
  const rounds = process.env['GATEHOUSE_FULL'] === '1' ? 20_000 : 2_000
  const header = whole.subarray(0, 9_200)
  let state = 12_345
  const random = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const counts = { accepted: 0, refused: 0, incomplete: 0 }
  for (let round = 0; round < rounds; round += 1) {
    const bytes = from(header)
    for (let i = 0; i < 3; i += 1) bytes[random(bytes.length)] = random(256)
    counts[readGgufHeader(bytes, whole.length).kind] += 1
  }
  // Both happen, so that the run says something.
  expect(counts.refused + counts.incomplete).toBeGreaterThan(rounds * 0.3)
  expect(counts.accepted).toBeGreaterThan(rounds * 0.1)
})

test('never throws at a file that is cut off anywhere', () => {
  for (let length = 0; length < 9_300; length += 7)
    expect(readGgufHeader(whole.subarray(0, length), length).kind).toBe('refused')
})
