import { CliError, usageError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'
import { exitCodes } from '../exit-codes.ts'
import { acknowledgeLine, integrityText } from '../integrity-text.ts'

export const auditAcknowledge = defineCommand({
  name: 'audit acknowledge',
  summary: 'Accept a failed verification once its cause is known, with a reason',
  options: { reason: { value: 'TEXT', about: 'the cause, for the log (required)' } },
  examples: ['gatehouse audit acknowledge --reason "the disk lost data, restored from a backup"'],
  async look({ api, json, note, views }, { reason }) {
    if (!reason?.trim()) throw usageError('Say why: gatehouse audit acknowledge --reason TEXT.')
    if (json) return { reason }
    const found = await api.verifyAudit()
    await note(`${integrityText(found, views.stderr)}\n`)
    if (found.found_by !== undefined)
      throw new CliError(
        'Conflict',
        exitCodes.failed,
        `This finding is that of ${found.found_by}: ${acknowledgeLine(found, views.stderr.next)}.`,
      )
    return { reason }
  },
  question: () => 'Accept this? Verification does not report it from then on.',
  run: ({ api }, _given, body) => api.acknowledgeAudit(body),
  text: (result, view) =>
    [
      integrityText(result, view),
      ...(result.integrity === 'failed'
        ? [`Next step: ${acknowledgeLine(result, view.next)}`]
        : []),
    ].join('\n'),
  exitCode: ({ integrity }) => (integrity === 'verified' ? exitCodes.done : exitCodes.failed),
})
