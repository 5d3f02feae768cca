import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadSettings } from './load.ts'

let dataDir: string
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'gatehouse-config-'))
})
afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

const load = (yaml: string, environment: Record<string, string> = {}) => {
  writeFileSync(join(dataDir, 'gatehouse.yaml'), yaml)
  return loadSettings({ 'data-dir': dataDir }, environment)
}

test('has no catalog and no mirrors unless told', () => {
  expect(load('')).toMatchObject({
    'catalog.url': null,
    'catalog.refresh': 86_400_000,
    'models.mirrors': new Map(),
  })
})

test('takes them from the file, and a variable before the file', () => {
  const yaml = `catalog: { url: "https://a.example/m.json", refresh: 1h }
models: { mirrors: ["HuggingFace.co=https://mirror.example/hf/", "b.example:8443=https://c.example"] }`
  const mirrors = new Map([
    ['huggingface.co', 'https://mirror.example/hf'],
    ['b.example:8443', 'https://c.example'],
  ])
  expect(load(yaml)).toMatchObject({
    'catalog.url': 'https://a.example/m.json',
    'catalog.refresh': 3_600_000,
    'models.mirrors': mirrors,
  })
  expect(load(yaml, { GATEHOUSE_CATALOG_URL: 'https://d.example/m.json' })['catalog.url']).toBe(
    'https://d.example/m.json',
  )
})

test.each([
  ['catalog: { url: "http://a.example/m.json" }', 'catalog.url must begin with https://'],
  ['catalog: { url: "a.example/m.json" }', 'catalog.url must be an address'],
  ['catalog: { url: "https://u:p@a.example/m.json" }', 'catalog.url must hold no password'],
  ['catalog: { refresh: 10s }', 'catalog.refresh must lie between'],
  ['catalog: { uri: "https://a.example" }', 'there is no setting catalog.uri'],
  ['models: { mirrors: ["huggingface.co"] }', 'models.mirrors must hold host=https://'],
  ['models: { mirrors: ["=https://b.example"] }', 'models.mirrors must hold host=https://'],
  ['models: { mirrors: ["a/b=https://b.example"] }', 'models.mirrors must hold host=https://'],
  [
    'models: { mirrors: ["a.example=http://b.example"] }',
    'the mirror of a.example must begin with https://',
  ],
  ['models: { mirrors: ["a.example=b"] }', 'the mirror of a.example must be an address'],
  ['models: { mirrors: ["a.example=https://b.example?x=1"] }', 'no query or fragment'],
  [
    'models: { mirrors: ["a.example=https://b.example", "A.example=https://c.example"] }',
    'two mirrors of a.example',
  ],
])('refuses %s at its place', (yaml, message) => {
  expect(() => load(yaml)).toThrow(message)
  expect(() => load(yaml)).toThrow('gatehouse.yaml')
})
