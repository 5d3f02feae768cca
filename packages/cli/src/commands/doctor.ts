import { defineCommand } from '../define.ts'
import { checks } from '../doctor/checks.ts'
import { runChecks } from '../doctor/run-checks.ts'
import { escapeText } from '../escape-text.ts'
import { exitCodes } from '../exit-codes.ts'

const marks = { ok: 'ok  ', warning: 'warn', failed: 'FAIL' } as const

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'Look for what keeps the server from working, and name the fix',
  examples: ['gatehouse doctor', 'gatehouse doctor --json'],
  run: ({ api, dataDir }) => runChecks(checks, { api, dataDir }),
  text: ({ checks }) =>
    checks
      .flatMap(({ status, name, detail, fix }) => [
        `${marks[status]}  ${escapeText(`${name}: ${detail}`)}`,
        ...(fix === undefined ? [] : [`      fix: ${escapeText(fix)}`]),
      ])
      .join('\n'),
  exitCode: ({ ok }) => (ok ? exitCodes.done : exitCodes.failed),
})
