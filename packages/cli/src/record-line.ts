import type { Approval, BufferedWrite } from '@gatehouse/contract'
import { approvalLine } from './approval-card.ts'
import { jsonText } from './escape-text.ts'
import { writeText } from './write-text.ts'

type Fields = Readonly<Record<string, unknown>>

const hasTexts = (record: Fields, ...names: readonly string[]): boolean =>
  names.every((name) => typeof record[name] === 'string')

/** A record of any kind in a line, for somebody who came too late to change it. */
export function recordLine(record: unknown): string {
  if (typeof record !== 'object' || record === null || Array.isArray(record))
    return jsonText(record, 0)
  const fields = record as Fields
  if (hasTexts(fields, 'id', 'agent', 'capability', 'status'))
    return approvalLine(record as Approval)
  if (hasTexts(fields, 'id', 'operation', 'service', 'agent', 'status', 'execute_at'))
    return writeText(record as BufferedWrite, (words) => `gatehouse ${words}`).split('\n')[0] ?? ''
  if (hasTexts(fields, 'agent', 'key') && typeof fields['version'] === 'number')
    return `${String(fields['key'])} of ${String(fields['agent'])} is at version ${fields['version']}`
  return jsonText(record, 0)
}
