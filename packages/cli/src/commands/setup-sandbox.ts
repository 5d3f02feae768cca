import { asNextStep } from '../as-next-step.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { exitCodes } from '../exit-codes.ts'

export const setupSandbox = defineCommand({
  name: 'setup sandbox',
  summary: 'Test the sandbox for programs and show what to install or allow',
  examples: ['gatehouse setup sandbox', 'gatehouse setup sandbox --json'],
  withoutData: 'temporary',
  run: ({ api }) => api.probeSandbox(),
  text: ({ usable, backend, detail, remedy }, { next }) =>
    [
      usable
        ? `Programs run in the sandbox "${backend}": ${escapeText(detail)}.`
        : `Programs do not run: ${escapeText(detail)}.`,
      ...(remedy === null ? [] : ['', escapeText(asNextStep(remedy, next))]),
    ].join('\n'),
  exitCode: ({ usable }) => (usable ? exitCodes.done : exitCodes.failed),
})
