import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { findBreaches } from './check-layers.mjs'
import { root } from './lib/run.mjs'

const table = JSON.parse(readFileSync(path.join(root, 'docs/architecture/layers.json'), 'utf8'))
const server = 'packages/server/src'
const breaches = (file, text) => findBreaches(table, [{ file: `${server}/${file}`, text }])

test.each([
  ['domain/limits.ts', "import { hash } from 'node:crypto'"],
  ['domain/limits.ts', "import type { Clock } from '../ports/clock.ts'"],
  ['app/invoke.ts', "import { openSqlite } from '../storage/sqlite/open.ts'"],
  ['app/invoke.ts', "import {\n  a,\n  b,\n} from '../capabilities/standard.ts'"],
  ['capabilities/filesystem/read.ts', "import { x } from '../git/status.ts'"],
  ['capabilities/filesystem/read.ts', "import { invoke } from '../../app/invoke.ts'"],
  ['storage/sqlite/open.ts', "export { x } from '../postgres/open.ts'"],
  ['files/walk.ts', "import { x } from '../audit/chain.ts'"],
  ['transport/rpc/serve.ts', "import { openSqlite } from '../../storage/sqlite/open.ts'"],
  ['transport/rpc/serve.ts', "import { x } from '../mcp/serve.ts'"],
  ['transport/rpc/serve.ts', "import type { Storage } from '../../ports/storage.ts'"],
  ['transport/gateway/x.ts', "import type { Storage } from '../../ports/storage.ts'"],
  ['transport/rpc/serve.ts', "const m = await import('../../storage/sqlite/open.ts')"],
  ['config/load.ts', "import '../compose.ts'"],
  ['nowhere/x.ts', ''],
  ['app/cellar/x.ts', ''],
  ['app/agents/x.ts', "import { x } from '../approvals/grants.ts'"],
  ['app/gate/x.ts', "import type { X } from '../app.ts'"],
])('refuses in %s: %s', (file, text) => {
  expect(breaches(file, text)).toHaveLength(1)
})

test.each([
  ['domain/limits.ts', "import { z } from '@gatehouse/contract'"],
  ['app/invoke.ts', "import { x } from './op.ts'\nimport { y } from '../ports/clock.ts'"],
  [
    'capabilities/filesystem/read.ts',
    "import { x } from './paths.ts'\nimport y from '../define.ts'",
  ],
  ['app/approvals/x.ts', "import { x } from '../gate/invoke-run.ts'"],
  ['app/create-app.ts', "import { x } from './gate/gate.ts'\nimport type { App } from './app.ts'"],
  ['capabilities/standard.ts', "import { read } from './filesystem/read.ts'"],
  ['storage/sqlite/open.ts', "import { x } from '../sql/stores.ts'\nimport fs from 'node:fs'"],
  [
    'transport/rpc/serve.ts',
    "import { x } from '../http/body.ts'\nimport type { App } from '../../app/app.ts'",
  ],
  ['transport/rpc/serve.ts', "import type { Log } from '../../ports/log.ts'"],
  ['compose.ts', "import { x } from './storage/sqlite/open.ts'"],
  ['domain/limits.ts', "// import { x } from 'node:fs'\n/* from 'node:fs' */"],
])('allows in %s: %s', (file, text) => {
  expect(breaches(file, text)).toEqual([])
})

test('the dashboard is made of the contract, the client and libraries of browsers', () => {
  const file = 'packages/dashboard/src/pages/x.tsx'
  const inPage = (text) => findBreaches(table, [{ file, text }])
  expect(inPage("import { createClient } from '@gatehouse/rest-client'")).toEqual([])
  expect(inPage("import { useState } from 'react'")).toEqual([])
  for (const name of ['node:fs', 'gatehouse-client', '@gatehouse/server'])
    expect(inPage(`import x from '${name}'`)).toHaveLength(1)
})

test.each([
  ['app/approvals/decide-approval.ts', 'await capability.run(ctx, args)'],
  ['app/gate/invoke-capability.ts', 'await capability.run(ctx, args)'],
  ['app/invoke-anything.ts', 'await capability.run(ctx, args)'],
  ['app/approvals/decide-approval.ts', 'const { run } = capability'],
  ['app/approvals/decide-approval.ts', 'const later = capability.run'],
  ['transport/mcp/serve.ts', "outcome.capability['run'](ctx, args)"],
  ['capabilities/filesystem/read.ts', 'return list.run(ctx, args)'],
  ['policy/x.ts', "import type { Capability } from '../ports/capability.ts'\nc.run(a, b)"],
])('keeps the one gate: %s may not contain %s', (file, text) => {
  expect(breaches(file, text)).toEqual([`${server}/${file} may run a capability`])
})

test('lets the gate run a capability, and the engines their statements', () => {
  expect(breaches('app/gate/invoke-run.ts', 'await capability.run(ctx, args)')).toEqual([])
  expect(breaches('storage/sqlite/open.ts', 'statement.run(1)')).toEqual([])
  // The name of a capability runs nothing.
  expect(breaches('capabilities/process/run.ts', "name: 'process.run',")).toEqual([])
})
