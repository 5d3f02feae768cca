import { expect, test } from 'vitest'
import { GatehouseError } from './errors.ts'

test('fills the facts into the sentence and keeps them', () => {
  const error = new GatehouseError('FileNotFound', { path: '/srv/a' })
  expect(error.message).toBe('There is no file at /srv/a.')
  expect(error.facts).toEqual({ path: '/srv/a' })
  expect(error.recovery[0]?.action).toBe('filesystem.list')
})
