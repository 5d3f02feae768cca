import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import type { Report } from '../packages/cli/src/selftest/report.ts'
import { runSelftest } from '../packages/cli/src/selftest/run-selftest.ts'
import { bin, Installation } from './support/server.ts'

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-selftest-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

test('the quick form holds for this build, and says so as JSON and as a page', {
  timeout: 1_800_000,
}, async () => {
  const page = join(newFolder(), 'report.html')
  const gate = new Installation(newFolder())
  const { code, stdout, stderr } = await gate.cli(['selftest', '--quick', '--json', '--html', page])
  const report = JSON.parse(stdout) as Report
  const failed = report.sections.flatMap(({ findings }) =>
    findings.filter(({ verdict }) => verdict === 'fails'),
  )
  expect({ failed, code, stderr }).toEqual({ failed: [], code: 0, stderr: '' })
  expect(report.sections.map(({ section }) => section)).toEqual([
    ...['kills', 'tampering', 'attacks', 'limits', 'disk', 'sandbox', 'speed'],
  ])
  for (const { findings } of report.sections) expect(findings.length).toBeGreaterThan(0)
  const html = readFileSync(page, 'utf8')
  expect(html).toContain('Everything that was tried holds')
  expect(html).toContain('no acknowledged call is missing after 2 kills')
})

/** Makes the service lie: a finding of the log never leaves it. */
const lying = `import http from 'node:http'
for (const name of ['write', 'end']) {
  const real = http.ServerResponse.prototype[name]
  http.ServerResponse.prototype[name] = function (chunk, ...rest) {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return real.call(this, chunk, ...rest)
    const text = Buffer.from(chunk).toString('latin1')
    return real.call(this, Buffer.from(text.replace('"integrity":"failed"', '"integrity":"fooled"'), 'latin1'), ...rest)
  }
}
`

test('a service that does not tell of changes to its log fails, and nothing else does', async () => {
  const file = join(newFolder(), 'lying.mjs')
  writeFileSync(file, lying)
  const report = await runSelftest({
    program: {
      command: [process.execPath, bin],
      environment: { ...process.env, NODE_OPTIONS: `--import=${pathToFileURL(file).href}` },
    },
    ...{ version: 'broken', size: 'quick', names: ['tampering', 'limits'] },
    signal: new AbortController().signal,
    progress: () => undefined,
  })
  expect(report.verdict).toBe('fails')
  const [tampering, limits] = report.sections
  expect(tampering?.findings[0]).toMatchObject({
    verdict: 'fails',
    detail: expect.stringMatching(/^25 of 25: a bit of an entry at entry \d+: fooled/),
  })
  expect(limits?.findings.map(({ verdict }) => verdict)).toEqual(['holds', 'holds'])
})
