import { paintStatus } from '../colour.ts'
import { defineCommand } from '../define.ts'
import { checks } from '../doctor/checks.ts'
import { runChecks } from '../doctor/run-checks.ts'
import { escapeText } from '../escape-text.ts'
import { exitCodes } from '../exit-codes.ts'

const words = { ok: 'ok', warning: 'warn', failed: 'FAIL' } as const

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'Find what keeps the server from working, and how to fix it',
  examples: ['gatehouse doctor', 'gatehouse doctor --json'],
  run: ({ api, dataDir }) => runChecks(checks, { api, dataDir }),
  text: ({ checks }, { coloured }) =>
    checks
      .flatMap(({ status, name, detail, fix }) => [
        `${paintStatus(words[status].padEnd(4), coloured)}  ${escapeText(`${name}: ${detail}`)}`,
        ...(fix === undefined ? [] : [`      fix: ${escapeText(fix)}`]),
      ])
      .join('\n'),
  exitCode: ({ ok }) => (ok ? exitCodes.done : exitCodes.failed),
})
