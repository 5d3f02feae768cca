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

test('an engine may idle ten minutes and chooses its cores unless told', () => {
  expect(load('')).toMatchObject({ 'engine.idle': 600_000, 'engine.threads': 0 })
  expect(load('engine: { idle: 30s, threads: 3 }')).toMatchObject({
    'engine.idle': 30_000,
    'engine.threads': 3,
  })
  const environment = { GATEHOUSE_ENGINE_THREADS: '1' }
  expect(load('engine: { threads: 3 }', environment)['engine.threads']).toBe(1)
  expect(() => load('engine: { idle: 1ms }')).toThrow('engine.idle must lie between')
  expect(() => load('engine: { threads: -1 }')).toThrow('engine.threads')
})
