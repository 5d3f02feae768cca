import type { Integrity } from '@gatehouse/contract'
import { describeEntry } from '@gatehouse/contract/describe-call'
import { red } from '../colour.ts'
import { counted } from '../counted.ts'
import { defineCommand, type View } from '../define.ts'
import { notListedLines } from '../not-listed-text.ts'
import { periodOf, periodOptions } from '../period.ts'
import { renderTable } from '../table.ts'

const verifiedText = ({ verified_through, logs }: Integrity): string => {
  const log = logs ? `The log of ${logs.own}` : 'The log'
  const through =
    verified_through < 0 ? 'is empty' : `is verified through entry ${verified_through}`
  const rest = logs
    ? `; nothing is wrong with the other ${logs.others === 1 ? 'one' : logs.others}`
    : ''
  return `${log} ${through}${rest}.`
}

const verdict = (page: Integrity, { coloured, next }: View): string => {
  if (page.integrity === 'verified') return verifiedText(page)
  if (page.integrity === 'incomplete') {
    const logs = (page.unchecked ?? []).map(({ log }) => log).join(', ')
    return red(
      `NOT CHECKED: the log of ${logs}. The others are verified. See: ${next('audit verify')}`,
      coloured,
    )
  }
  return red(
    `THE LOG IS NOT VERIFIED: ${page.kind ?? 'damaged'}, ${page.first_bad_id ? `first at ${page.first_bad_id}` : (page.detail ?? '')}. See: ${next('audit verify')}`,
    coloured,
  )
}

export const auditQuery = defineCommand({
  name: 'audit query',
  summary: 'Show entries of the audit log, newest first',
  options: {
    agent: { value: 'NAME', about: 'only this agent' },
    capability: { value: 'NAME', about: 'a capability, or a group as in filesystem.*' },
    ...periodOptions,
    result: {
      value: 'RESULT',
      choices: ['success', 'error', 'denied', 'pending', 'rejected'],
      about: 'how it ended',
    },
    decision: {
      value: 'TIER',
      choices: ['autonomous', 'approval_required', 'blocked', 'none'],
      about: 'the tier that policy applied; none where no policy was asked',
    },
    session: { value: 'ID', about: 'only this session' },
    'as-of': {
      value: 'TEXT',
      about: 'as_of of an earlier answer (--json): further pages of the same entries',
    },
    limit: { value: 'N', integer: true, about: 'at most this many (100, up to 1000)' },
    offset: { value: 'N', integer: true, about: 'skip this many' },
  },
  examples: [
    'gatehouse audit query --agent mailbot --since 24h',
    'gatehouse audit query --capability "filesystem.*" --result denied --json',
  ],
  run({ api }, { since, until, decision, 'as-of': as_of, ...filters }) {
    return api.queryAudit({
      ...Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined)),
      ...periodOf({ since, until }),
      policy_decision: decision,
      as_of,
    })
  },
  text: (page, view) =>
    [
      renderTable(
        [
          { title: 'TIME', time: (entry) => entry.timestamp },
          { title: 'ID', value: (entry) => entry.id },
          { title: 'AGENT', value: (entry) => entry.agent || '-' },
          {
            title: 'WHAT',
            value: (entry) => `${entry.capability} ${describeEntry(entry)}`.trimEnd(),
            below: true,
          },
          { title: 'RESULT', value: (entry) => entry.result },
          { title: 'POLICY', value: (entry) => entry.policy_decision, drop: true },
          { title: 'BY', value: (entry) => entry.actor, cut: true, drop: true },
        ],
        page.entries,
        view,
      ),
      `${page.entries.length} of ${counted(page.total, 'entry', 'entries')}.`,
      ...notListedLines(page.not_listed, view),
      verdict(page, view),
    ].join('\n'),
})
