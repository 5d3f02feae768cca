import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { dataFormat } from '../domain/data-format.ts'
import { isInstalled } from './is-installed.ts'
import { recordedStore, recordStore } from './store-record.ts'

const folder = (files: Record<string, string> = {}): string => {
  const made = mkdtempSync(join(tmpdir(), 'gatehouse-data-'))
  onTestFinished(() => rmSync(made, { recursive: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(made, name), text)
  return made
}

const sqlite = { engine: 'sqlite', origin: 'default' } as const
const postgres = { engine: 'postgres', origin: '--database-url' } as const

test('a directory remembers its store, and a new one belongs to none', () => {
  const data = folder()
  expect(isInstalled(data)).toBe(false)
  expect(recordedStore(data, postgres)).toBeNull()
  recordStore(data, { engine: 'postgres', store_id: 'store-1', version: '1.0.0' })
  expect(isInstalled(data)).toBe(true)
  expect(recordedStore(data, postgres)).toBe('store-1')
})

test.each([
  ['a record of PostgreSQL', { 'store.json': '{"format":1,"engine":"postgres","store_id":"x"}' }],
  ['use before there were records, without a database', { audit: '' }],
])('%s refuses SQLite, says what to set, and writes nothing', (_, files) => {
  const data = folder(files)
  const before = readdirSync(data)
  expect(() => recordedStore(data, sqlite)).toThrow(/PostgreSQL, and no database_url is set/)
  expect(readdirSync(data)).toEqual(before)
})

test.each([
  ['a record of SQLite', { 'store.json': '{"format":1,"engine":"sqlite","store_id":"x"}' }],
  ['a database of before there were records', { 'gatehouse.db': 'SQLite format 3' }],
])('%s refuses PostgreSQL and names the flag that asked for it', (_, files) => {
  const data = folder(files)
  expect(() => recordedStore(data, postgres)).toThrow(
    /is SQLite, and --database-url names PostgreSQL/,
  )
})

test('a database that is gone is not replaced by an empty one', () => {
  const data = folder({ 'store.json': '{"format":1,"engine":"sqlite","store_id":"x"}' })
  expect(() => recordedStore(data, sqlite)).toThrow('gatehouse.db is gone')
})

test('data of a newer program is refused by name of its version', () => {
  const format = dataFormat + 1
  const newer = JSON.stringify({ format, engine: 'a kind of tomorrow', version: '9.1.0' })
  const data = folder({ 'store.json': newer })
  expect(() => recordedStore(data, sqlite)).toThrow(/written by Gatehouse 9\.1\.0/)
})

test('a damaged record is refused rather than replaced', () => {
  for (const text of ['', '{', 'null', '{"format":1}'])
    expect(() => recordedStore(folder({ 'store.json': text }), sqlite)).toThrow('is damaged')
})
