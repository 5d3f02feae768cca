import type { ModelHeader } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import { gradeFit } from './fit.ts'
import { mirrored } from './mirror.ts'

const mebi = 1024 * 1024
const header: ModelHeader = {
  architecture: 'llama',
  name: null,
  parameters: 1_100_000_000,
  weights_bytes: 619 * mebi,
  context_length: 1_024,
  embedding_length: 2_048,
  layers: 22,
  kv_bytes_per_token: 22 * 4 * 64 * 2 * 2,
  fully_checked: true,
}

test('predicts weights, context, the process and a tenth of the weights', () => {
  const { needs_bytes, context_tokens, basis } = gradeFit(1, header, 8_192 * mebi)
  expect(Math.round(needs_bytes / mebi)).toBe(845)
  expect({ context_tokens, basis }).toEqual({ context_tokens: 1_024, basis: 'header' })
})

test.each([
  [0.7, 'fits'],
  [0.71, 'tight'],
  [0.95, 'tight'],
  [0.96, 'may_not_fit'],
  [5, 'may_not_fit'],
] as const)('at %s of the free memory says %s', (part, grade) => {
  const { needs_bytes } = gradeFit(1, header, mebi)
  expect(gradeFit(1, header, Math.ceil(needs_bytes / part)).grade).toBe(grade)
})

test('without a header goes by the size, and says so', () => {
  const fit = gradeFit(491_400_032, null, 8_192 * mebi)
  expect(fit).toMatchObject({ grade: 'fits', basis: 'size' })
  expect(fit.needs_bytes).toBeGreaterThan(491_400_032)
  expect(gradeFit(1, null, 0).grade).toBe('may_not_fit')
})

test('a mirror takes the place of its host, with path and query, and of no other', () => {
  const mirrors = new Map([['models.example', 'https://mirror.example/m']])
  expect(mirrored('https://models.example/a/b.gguf?v=1', mirrors)).toBe(
    'https://mirror.example/m/a/b.gguf?v=1',
  )
  const elsewhere = 'https://models.example.evil/a/b.gguf'
  expect(mirrored(elsewhere, mirrors)).toBe(elsewhere)
})
