import type { RetentionStatus } from '@gatehouse/contract'
import { counted } from './counted.ts'
import type { View } from './define.ts'
import { removedText, uncheckedFields } from './integrity-text.ts'
import { renderFields } from './table.ts'
import { shownTimes } from './times.ts'

const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`

const rule = ({ max_age_days: days, max_bytes: bytes }: RetentionStatus): string => {
  const rules = [
    ...(days === null ? [] : [`for ${counted(days, 'day')}`]),
    ...(bytes === null ? [] : [`up to ${megabytes(bytes)}`]),
  ]
  return rules.length === 0 ? 'for ever' : rules.join(', and ')
}

/** How long entries stay, what is due and what holds it back. */
export const retentionText = (status: RetentionStatus, view: View): string =>
  renderFields(
    [
      ['Kept', rule(status)],
      ['Now', `${counted(status.entries, 'entry', 'entries')}, ${megabytes(status.bytes)}`],
      ['Oldest', status.oldest === null ? null : shownTimes(status.oldest)],
      ['Removed', status.removed === undefined ? null : removedText(status.removed)],
      [
        'Due',
        status.due_entries === 0 ? 'nothing' : counted(status.due_entries, 'entry', 'entries'),
      ],
      ['May go now', status.due_entries === 0 ? null : status.removable_entries],
      ['Held back', status.held_by],
      [
        'First at',
        status.exported_to.length > 0
          ? status.exported_to.join(', ')
          : 'no target: entries are removed without a copy of them',
      ],
      ...(status.left_out ?? []).flatMap((one) => uncheckedFields('Left out', one, view.next)),
    ],
    view,
  )
