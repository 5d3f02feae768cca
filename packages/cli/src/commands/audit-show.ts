import { describeEntry } from '@gatehouse/contract/describe-call'
import { defineCommand } from '../define.ts'
import { jsonText } from '../escape-text.ts'
import { renderFields } from '../table.ts'
import { shownTimes } from '../times.ts'

export const auditShow = defineCommand({
  name: 'audit show',
  summary: 'Show one entry of the audit log with its arguments, rule and outcome',
  args: { id: 'the entry, as `audit query` or `watch` shows it' },
  examples: ['gatehouse audit show aud-01jqz4xk2m8v5w9r3t6y0b7n1c'],
  run: ({ api }, { id }) => api.showAuditEntry({ id }),
  text(entry, view) {
    const { rule, error, detail } = entry
    const object = describeEntry(entry)
    const fields: (readonly [string, string | number | null])[] = [
      ['Entry', `${entry.id} (${entry.chain} ${entry.seq})`],
      ['Time', shownTimes(entry.timestamp)],
      ['Agent', entry.agent || null],
      [entry.kind === 'call' ? 'Capability' : 'Act', entry.capability],
      ['Object', object || null],
      ['Result', entry.result],
      ...(error ? [['Error', `${error.message} (${error.type})`] as const] : []),
      ['Policy', entry.policy_decision],
      ...(rule
        ? [['Rule', `${rule.file}:${rule.line} (${rule.layer}, ${rule.match})`] as const]
        : []),
      ['By', entry.actor],
      ...(entry.duration_ms === null ? [] : [['Took', `${entry.duration_ms} ms`] as const]),
      ...(entry.approval_id ? [['Approval', entry.approval_id] as const] : []),
      ...(entry.intent_id ? [['Intent', entry.intent_id] as const] : []),
      ...(entry.session_id ? [['Session', entry.session_id] as const] : []),
      ['Request', entry.request_id],
      ['Hash', entry.hash],
    ]
    const indented = (value: unknown) => jsonText(value).replaceAll(/^/gm, '  ')
    return [
      renderFields(fields, view),
      `Arguments\n${indented(entry.arguments)}`,
      ...(detail ? [`Detail\n${indented(detail)}`] : []),
    ].join('\n\n')
  },
})
