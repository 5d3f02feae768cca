import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { errorTable, GatehouseError } from './errors.ts'

test('fills the facts into the sentence and keeps them', () => {
  const error = new GatehouseError('FileNotFound', { path: '/srv/a' })
  expect(error.message).toBe('There is no file at /srv/a.')
  expect(error.facts).toEqual({ path: '/srv/a' })
  expect(error.recovery[0]?.action).toBe('filesystem.list')
})

test('has each type in one file only, so that none replaces another', async () => {
  const folder = new URL('./errors/', import.meta.url)
  const files = readdirSync(folder).filter((name) => name.endsWith('-errors.ts'))
  const parts = await Promise.all(
    files.map(async (name) => Object.values(await import(new URL(name, folder).href))),
  )
  const types = parts.flat().flatMap((part) => Object.keys(part as object))
  expect(types.toSorted()).toEqual(Object.keys(errorTable).toSorted())
})

test.each(Object.entries(errorTable))(
  '%s says what to do next',
  (_type, { say, recovery, people }) => {
    expect(say).toMatch(/[.}]$/)
    expect(recovery.length).toBeGreaterThan(0)
    for (const { action, description } of [...recovery, ...people]) {
      expect(action).toMatch(/^\S.{1,60}$/)
      expect(description).toMatch(/^[A-Z].{15,}\.$/s)
    }
  },
)
