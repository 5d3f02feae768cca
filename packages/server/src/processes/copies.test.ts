import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { ProcessSite } from '../ports/processes.ts'
import { makeCopies } from './copies.ts'

const copyBeside = async (names: number) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-copies-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const workspace = join(folder, 'workspace')
  mkdirSync(workspace)
  const entries = Array.from({ length: names }, (_, i) => ({ name: `f${i}` }))
  const site = {
    workspace,
    mounts: [],
    files: { list: async () => ({ entries, withheld: 0 }), resolve: (path: string) => path },
  } as unknown as ProcessSite
  const code = { path: join(workspace, 'run.sh'), bytes: Buffer.from('true') } as never
  return { folder, copies: makeCopies(site, [code], { folder, inside: null }) }
}

test('an approved program finds everything that stands beside it', async () => {
  const { copies } = await copyBeside(40)
  await using made = await copies
  expect(readdirSync(join(made.target, '0'))).toHaveLength(41)
})

test('a program beside more names than can be offered is refused, and nothing is left of its copy', async () => {
  const { copies, folder } = await copyBeside(2_001)
  await expect(copies).rejects.toMatchObject({ type: 'QuotaExceeded' })
  expect(readdirSync(folder)).toEqual(['workspace'])
})
