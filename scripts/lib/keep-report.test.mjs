import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { keepReport } from './keep-report.mjs'

test('the report of a selftest is kept with the options that made it, and a run without one changes nothing', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-proof-'))
  try {
    const options = ['--quick', '--only', 'disk']
    expect(await keepReport(options, folder)).toBe(0)
    const read = () => readFile(path.join(folder, 'report.json'), 'utf8')
    const kept = await read()
    expect(JSON.parse(kept)).toMatchObject({ options, size: 'quick', verdict: 'holds' })
    expect(await keepReport(['--no-such-option'], folder)).not.toBe(0)
    expect(await read()).toBe(kept)
  } finally {
    await rm(folder, { recursive: true })
  }
})
