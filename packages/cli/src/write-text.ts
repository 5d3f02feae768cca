import type { BufferedWrite } from '@gatehouse/contract'
import { escapeText } from './escape-text.ts'
import type { NextStep } from './next-step.ts'
import { shownTimes } from './times.ts'

/** How a write stands, in a sentence. */
export function writeText(write: BufferedWrite, next: NextStep): string {
  const { id, operation, service, agent, status, execute_at, error } = write
  const what = `${operation} of ${escapeText(agent)} at ${escapeText(service)}`
  switch (status) {
    case 'buffered':
      return `${what} runs at ${shownTimes(execute_at)}. Cancel it: ${next(`proxy cancel ${id}`)}`
    case 'executing':
      return `${what} runs now.`
    case 'executed':
      return write.rollback_status === 'ready'
        ? `${what} ran. Undo it: ${next(`proxy rollback ${write.rollback_id}`)}`
        : `${what} ran. ${write.undo_note}`
    case 'cancelled':
      return `${what} is cancelled and does not run.`
    case 'failed':
      return `${what} failed: ${escapeText(error?.message ?? 'for no known reason')}${
        write.dead_letter
          ? `\nLook whether it is there, then: ${next(`proxy retry ${id}`)}, or ${next(`proxy discard ${id}`)}`
          : ''
      }`
  }
}
