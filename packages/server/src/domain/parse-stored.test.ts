import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { parseStored } from './parse-stored.ts'

test('names the place of what cannot be read, and reads the rest', () => {
  expect(parseStored('{"a":[1]}', 'state.value_json')).toEqual({ a: [1] })
  expect(() => parseStored('{"a":[1', 'state.value_json')).toThrow(
    expect.objectContaining({
      type: 'StoreDamaged',
      message: 'The store is damaged: state.value_json cannot be read.',
    }),
  )
})

test('is how use cases and stores read JSON, so that damage is never an error without a name', () => {
  const source = fileURLToPath(new URL('..', import.meta.url))
  const files = ['app', 'storage'].flatMap((folder) =>
    readdirSync(join(source, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !/\.test\.ts$|testing/.test(name))
      .map((name) => join(folder, name)),
  )
  expect(files.length).toBeGreaterThan(200)
  const own = files.filter((name) =>
    readFileSync(join(source, name), 'utf8').includes('JSON.parse('),
  )
  // What an upstream server answered is text of its own, not of the store.
  expect(own).toEqual(['app/upstreams/features.ts'])
})
