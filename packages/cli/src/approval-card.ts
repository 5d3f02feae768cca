import type { Approval } from '@gatehouse/contract'
import { describeCall } from '@gatehouse/contract/describe-call'
import { bold, red } from './colour.ts'
import type { View } from './define.ts'
import { escapeLines, escapeText, jsonText, mixedScriptWords } from './escape-text.ts'
import { renderFields } from './table.ts'
import { shownTimes } from './times.ts'

/** Call and object, in a line. */
export const callText = (call: {
  readonly capability: string
  readonly arguments: Readonly<Record<string, unknown>>
}): string => `${call.capability} ${describeCall(call.capability, call.arguments)}`.trimEnd()

const indented = (text: string): string =>
  text
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${line}`))
    .join('\n')

function previewText(preview: NonNullable<Approval['preview']>): string {
  switch (preview.kind) {
    case 'command':
      return escapeLines(preview.text)
    case 'diff':
      return [preview.path ? escapeText(preview.path) : '', escapeLines(preview.text)]
        .filter((part) => part !== '')
        .join('\n')
    case 'url':
      return [
        `${escapeText(preview.method)} ${escapeText(preview.url)}`,
        preview.text ? `\n${escapeLines(preview.text)}` : '',
      ].join('')
    case 'mail': {
      const headers = Object.entries(preview.headers).map(
        ([name, value]) => `${escapeText(name)}: ${escapeText(value)}`,
      )
      return `${headers.join('\n')}\n\n${escapeLines(preview.text)}`
    }
  }
}

/** Every text in the arguments, keys included. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(textsOf)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [key, ...textsOf(inner)])
}

function warningsOf(approval: Approval): string[] {
  const words = textsOf(approval.effective_arguments).flatMap(mixedScriptWords)
  return words.map(
    ({ word, scripts }) => `Look twice: "${word}" mixes letters of ${scripts.join(' and ')}.`,
  )
}

const ruleText = ({ rule, reason }: Approval): string => {
  const where = rule ? `${rule.file}:${rule.line} (${rule.layer}, ${rule.match})` : 'none'
  return reason ? `${where}: ${reason}` : where
}

/** Where a person changed the arguments: the other of the two requests. */
const editFields = ({ id, edit }: Approval): [string, string][] => {
  if (!edit) return []
  return edit.request === id
    ? [['In place of', edit.original]]
    : [['Changed', `what ran is ${edit.request}`]]
}

/** Consequences of the call, and how to undo it. */
const consequenceFields = ({ consequences }: Approval): [string, string][] => {
  if (!consequences) return []
  const { side_effects, held_seconds, undo, sandboxed } = consequences
  const fields: [string, string | null][] = [
    ['Effects', side_effects.map(({ what }) => what).join('; ') || null],
    [
      'Held',
      held_seconds === null ? null : `for ${held_seconds} s; it can be cancelled until then`,
    ],
    ['Undo', undo ?? (side_effects.length > 0 ? "can't be undone" : null)],
    ['Sandbox', sandboxed === false ? 'not sandboxed' : null],
  ]
  return fields.flatMap(([name, value]) => (value === null ? [] : [[name, value]]))
}

const decisionFields = (approval: Approval): [string, string][] => {
  if (approval.status === 'pending') return []
  const by = approval.decided_by ? ` by ${approval.decided_by}` : ''
  const at = approval.decided_at ? `, ${shownTimes(approval.decided_at)}` : ''
  return [
    ['Decision', `${approval.status}${by}${at}`],
    ...(approval.decision_reason
      ? [['Because', approval.decision_reason] as [string, string]]
      : []),
    ['Execution', approval.execution.state],
    ...editFields(approval),
  ]
}

/** Arguments that run; and what the agent sent, where that is not the same. */
const argumentsText = (
  { arguments: sent, effective_arguments: runs }: Approval,
  { coloured }: View,
): string[] => {
  const section = (title: string, text: string) => `${bold(title, coloured)}\n${indented(text)}`
  const [sentText, runsText] = [jsonText(sent), jsonText(runs)]
  return sentText === runsText
    ? [section('Arguments', runsText)]
    : [section('Arguments that will run', runsText), section('As sent', sentText)]
}

/** Changes since the call was made, and what is left to do; null where there are none. */
export const staleText = ({ stale }: Approval): string | null =>
  stale === null ? null : `${stale}; it cannot be approved: reject it or let the agent ask again`

/**
 * Approval card: everything that a person decides on, nothing cut, nothing hidden.
 * @SECURITY The digest that is sent with a decision is the one on this card; golden.test.ts.
 */
export function approvalCard(approval: Approval, view: View): string {
  const { coloured } = view
  const critical = approval.critical ? ' (critical)' : ''
  const stale = staleText(approval)
  return [
    renderFields(
      [
        ['Approval', approval.id],
        ['Agent', approval.agent],
        ['Capability', `${approval.capability}${critical}`],
        ['Asked', shownTimes(approval.requested_at)],
        ['Expires', shownTimes(approval.expires_at)],
        ['Rule', ruleText(approval)],
        ...(approval.agent_reason === null
          ? []
          : [['Agent says', `"${approval.agent_reason}"`] as [string, string]]),
        ['Digest', approval.digest],
        ...(stale === null ? [] : [['Stale', stale] as [string, string]]),
        ...consequenceFields(approval),
        ...decisionFields(approval),
      ],
      view,
    ),
    ...(approval.preview
      ? [`${bold('Call that will run', coloured)}\n${indented(previewText(approval.preview))}`]
      : []),
    ...argumentsText(approval, view),
    ...warningsOf(approval).map((warning) => red(warning, coloured)),
  ].join('\n\n')
}

/** The same in a line. */
export const approvalLine = (approval: Approval): string => {
  const by = approval.decided_by ? ` by ${escapeText(approval.decided_by)}` : ''
  const stale = staleText(approval)
  const more = stale === null ? '' : `  stale: ${escapeText(stale)}`
  const outcome = approval.execution.state === 'waiting' ? '' : `  ${approval.execution.state}`
  const who = escapeText(approval.agent)
  return `${approval.id}  ${approval.status}${by}${outcome}  ${who} ${escapeText(callText(approval))}${more}`
}
