import type { AuditEntry } from '@gatehouse/contract'
import { auditText as text } from '../../messages/audit.ts'
import { Badge, type BadgeTone } from '../../ui/badge.tsx'

const tones: Readonly<Record<AuditEntry['result'], BadgeTone>> = {
  success: 'good',
  error: 'bad',
  denied: 'bad',
  pending: 'neutral',
  rejected: 'warn',
}

export const EntryResult = ({
  entry: { result },
}: {
  readonly entry: Pick<AuditEntry, 'result'>
}) => <Badge tone={tones[result]}>{text.result[result]}</Badge>
