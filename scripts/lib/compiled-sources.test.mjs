import { existsSync } from 'node:fs'
import path from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import { GatehouseError as fromSource } from '../../packages/contract/src/errors.ts'
import { compiledOf } from './compiled-sources.mjs'
import { root } from './run.mjs'

test.each([
  ['packages/server/src/log/writer.ts', 'packages/server/dist/log/writer.js'],
  ['packages/server/src/log/audit-log.test.ts', null],
  ['packages/server/test/rest/kit.ts', null],
  ['packages/server/src/capabilities/filesystem/regex-thread.mjs', null],
  ['test/support/server.ts', null],
])('%s is compiled to %s', (file, compiled) => {
  expect(compiledOf(path.join(root, file))).toBe(compiled && path.join(root, compiled))
  expect(existsSync(path.join(root, file))).toBe(true)
})

test('a file outside of the repository is left alone', () => {
  expect(compiledOf('/packages/server/src/log/writer.ts')).toBeNull()
})

test('a test that imports a source gets what the packages have', () => {
  expect(fromSource).toBe(GatehouseError)
})
