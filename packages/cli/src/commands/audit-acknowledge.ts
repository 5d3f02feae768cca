import { usageError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'
import { exitCodes } from '../exit-codes.ts'
import { integrityText } from '../integrity-text.ts'

export const auditAcknowledge = defineCommand({
  name: 'audit acknowledge',
  summary: 'Accept a failed verification once its cause is known, with a reason',
  options: { reason: { value: 'TEXT', about: 'the cause, for the log (required)' } },
  examples: ['gatehouse audit acknowledge --reason "the disk lost data, restored from a backup"'],
  async look({ api, json, note, views }, { reason }) {
    if (!reason?.trim()) throw usageError('Say why: gatehouse audit acknowledge --reason TEXT.')
    if (!json) await note(`${integrityText(await api.verifyAudit(), views.stderr)}\n`)
    return { reason }
  },
  question: () => 'Accept this? Verification does not report it from then on.',
  run: ({ api }, _given, body) => api.acknowledgeAudit(body),
  text: integrityText,
  exitCode: ({ integrity }) => (integrity === 'verified' ? exitCodes.done : exitCodes.failed),
})
