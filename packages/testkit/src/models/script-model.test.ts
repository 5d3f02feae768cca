import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { halfOf } from './gguf-writer.ts'
import { scriptModel } from './script-model.ts'

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

test('writes the same bytes on every machine', () => {
  const bytes = scriptModel()
  expect(bytes).toHaveLength(132_160)
  expect(sha256(bytes)).toBe('0d34778417871ee0632807bb040d38957ac9832a4823dee83f9805669f55d6f9')
  expect(sha256(scriptModel({ seed: 2 }))).not.toBe(sha256(bytes))
})

test('writes the named sizes of weights for each type', () => {
  const header = 9_024
  expect(scriptModel({ type: 'F32' })).toHaveLength(460_032 + header)
  expect(scriptModel({ type: 'F16' })).toHaveLength(230_656 + header)
  expect(scriptModel({ type: 'Q8_0' })).toHaveLength(123_136 + header)
})

test.each([
  [0, 0x0000],
  [-0, 0x8000],
  [1, 0x3c00],
  [-2, 0xc000],
  [65_504, 0x7bff],
  [65_520, 0x7c00],
  [2 ** -24, 0x0001],
  [2 ** -14, 0x0400],
  [1 / 127, 0x2008],
  [1 + 2 ** -11, 0x3c00],
  [1 + 3 * 2 ** -11, 0x3c02],
])('rounds %s to the half %s', (value, half) => {
  expect(halfOf(value)).toBe(half)
})

/** The weights of a matrix as they were written: codes and rows survive blocks of bytes. */
function rowsOf(bytes: Buffer, name: string, dim: number, count: number): number[][] {
  const at = bytes.indexOf(`${name}.weight`) + `${name}.weight`.length
  const offset = Number(bytes.readBigUInt64LE(at + 4 + 16 + 4))
  const start = bytes.length - (bytes.length - 9_024) + offset
  return Array.from({ length: count }, (_, row) =>
    Array.from({ length: dim }, (_, i) => {
      const index = row * dim + i
      const block = start + Math.floor(index / 32) * 34
      const half = bytes.readUInt16LE(block)
      const scale = 2 ** ((half >> 10) - 15) * (1 + (half & 0x3ff) / 1024)
      return half === 0 ? 0 : scale * bytes.readInt8(block + 2 + (index % 32))
    }),
  )
}

test('says its sentence after anything, and then ends', () => {
  const bytes = scriptModel()
  const [codes, rows] = [rowsOf(bytes, 'token_embd', 64, 320), rowsOf(bytes, 'output', 64, 320)]
  const next = (token: number): number => {
    const code = codes[token] ?? []
    const logits = rows.map((row) => row.reduce((sum, value, i) => sum + value * (code[i] ?? 0), 0))
    return logits.indexOf(Math.max(...logits))
  }
  // Every block is zero, so that what comes out of the last norm is the code of the token itself.
  const first = 260
  const said = [first, 261, 262, 263, 264, 2]
  for (const token of [1, 3, 60, 200, 259, 280, 317]) expect(next(token)).toBe(first)
  for (let i = 0; i + 1 < said.length; i += 1) expect(next(said[i] ?? 0)).toBe(said[i + 1])
})
