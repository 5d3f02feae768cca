import type { Question, QuestionField } from '@gatehouse/contract'
import { bold, red } from './colour.ts'
import type { View } from './define.ts'
import { escapeLines, escapeText, mixedScriptWords } from './escape-text.ts'
import type { NextStep } from './next-step.ts'
import { renderFields } from './table.ts'
import { shownTimes } from './times.ts'

const indented = (text: string): string =>
  text
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${line}`))
    .join('\n')

const fieldText = (field: QuestionField): string => {
  const { name, title, description, type, required, secret, limits, choices } = field
  const facts = [
    type,
    ...(required ? ['required'] : []),
    ...(secret ? ['not kept in the log'] : []),
    ...(limits === null ? [] : [limits]),
    ...(field.default === undefined ? [] : [`${JSON.stringify(field.default)} if not given`]),
  ]
  const said = [title, description].filter((text) => text !== null).join('. ')
  return [
    `${name} (${facts.join(', ')})${said === '' ? '' : `: "${said}"`}`,
    ...(choices ?? []).map(({ value, label }) =>
      label === value ? `  ${value}` : `  ${value}: "${label}"`,
    ),
  ]
    .map(escapeText)
    .join('\n')
}

const callsText = ({ agent, capability, other_calls }: Question): string => {
  const others =
    other_calls === 0 ? '' : `, or one of ${other_calls} more that it runs: it does not say which`
  return `${capability} of ${agent}${others}`
}

/** Everything that a person answers to: the words are the server's, and nothing of them is hidden. */
export function questionCard(question: Question, view: View): string {
  const { id, upstream, kind, message, url, fields, asked_at, expires_at } = question
  const { coloured } = view
  const warnings = [message, url ?? '']
    .flatMap(mixedScriptWords)
    .map(({ word, scripts }) => `Look twice: "${word}" mixes letters of ${scripts.join(' and ')}.`)
  return [
    renderFields(
      [
        ['Question', id],
        ['Server', upstream],
        ['Call', callsText(question)],
        ['Asked', shownTimes(asked_at)],
        ['Expires', shownTimes(expires_at)],
      ],
      view,
    ),
    `${bold('In the words of the server', coloured)}\n${indented(escapeLines(message))}`,
    ...(kind === 'url'
      ? [
          `${bold('It asks you to open', coloured)}\n  ${escapeText(url ?? '')}`,
          `The address is the server's: ${escapeText(new URL(url ?? '').host)}. Nothing has opened it.`,
        ]
      : []),
    ...(fields.length > 0
      ? [
          `${bold('It asks for', coloured)}\n${fields.map((field) => indented(fieldText(field))).join('\n')}`,
        ]
      : []),
    ...warnings.map((warning) => red(warning, coloured)),
  ].join('\n\n')
}

/** The same in a line, for whoever looks at something else. */
export const questionLine = ({ id, upstream }: Question, next: NextStep): string =>
  `${upstream} asks a person: ${next(`upstream answer ${id}`)}`
