import { expect, test } from 'vitest'
import { errorTable, GatehouseError } from './errors.ts'

test('fills the facts into the sentence and keeps them', () => {
  const error = new GatehouseError('FileNotFound', { path: '/srv/a' })
  expect(error.message).toBe('There is no file at /srv/a.')
  expect(error.facts).toEqual({ path: '/srv/a' })
  expect(error.recovery[0]?.action).toBe('filesystem.list')
})

test.each(Object.entries(errorTable))('%s says what to do next', (_type, { say, recovery }) => {
  expect(say).toMatch(/[.}]$/)
  expect(recovery.length).toBeGreaterThan(0)
  for (const { action, description } of recovery) {
    expect(action).toMatch(/^\S.{1,60}$/)
    expect(description).toMatch(/^[A-Z].{15,}\.$/s)
  }
})
