import { asNextStep } from '../as-next-step.ts'
import { paintStatus } from '../colour.ts'
import { defineCommand } from '../define.ts'
import { checks } from '../doctor/checks.ts'
import { type Finding, runChecks, type Surroundings } from '../doctor/run-checks.ts'
import { escapeText } from '../escape-text.ts'
import { exitCodes } from '../exit-codes.ts'
import type { NextStep } from '../next-step.ts'

const words = { ok: 'ok', warning: 'warn', failed: 'FAIL' } as const

const withNextSteps = <T extends Finding>(finding: T, next: NextStep): T => ({
  ...finding,
  detail: asNextStep(finding.detail, next),
  ...(finding.fix === undefined ? {} : { fix: asNextStep(finding.fix, next) }),
})

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'Find what keeps the server from working, and how to fix it',
  examples: ['gatehouse doctor', 'gatehouse doctor --json'],
  async run({ io, api, places, dataDir, isServed, server, next }) {
    const found = await isServed().then(
      async (served): Promise<Surroundings> =>
        served ? { state: 'running', run: await server() } : { state: 'stopped' },
      (error: unknown): Surroundings => ({ state: 'unknown', error }),
    )
    const looked = found.state === 'unknown' ? places.dirs[0] : await dataDir()
    const place = { env: io.env, platform: process.platform, folder: process.cwd() }
    const report = await runChecks(checks, { api, dataDir: looked, found, place })
    return { ...report, checks: report.checks.map((check) => withNextSteps(check, next)) }
  },
  text: ({ checks }, { coloured }) =>
    checks
      .flatMap(({ status, name, detail, fix }) => [
        `${paintStatus(words[status].padEnd(4), coloured)}  ${escapeText(`${name}: ${detail}`)}`,
        ...(fix === undefined ? [] : [`      fix: ${escapeText(fix)}`]),
      ])
      .join('\n'),
  exitCode({ ok, running }) {
    if (!running) return exitCodes.notReachable
    return ok ? exitCodes.done : exitCodes.failed
  },
})
