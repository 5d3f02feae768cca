import { hookSpecs } from '../clients/client-hooks.ts'
import { counted } from '../counted.ts'
import type { View } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { leftText, unreadLines } from './list-found.ts'
import type { Prepared } from './prepare-import.ts'
import type { Imported } from './run-import.ts'
import type { Undone } from './undo-import.ts'

/** The one question for all; null where nothing is left to be done. */
export function questionText({ choice, ready }: Prepared): string | null {
  if (ready === null) return choice.candidates.length > 0 ? 'Import them?' : null
  const { tried, known } = ready
  const names = [...tried.map(({ order }) => order.name), ...known.map((one) => one.known ?? '')]
  if (names.length === 0) return null
  const all = [...tried.map(({ candidate }) => candidate), ...known]
  const files = new Set(all.flatMap(({ from }) => from.map(({ config }) => config.file)))
  return escapeText(
    `Put ${names.join(', ')} behind the gate, and out of ${[...files].join(', ')}? Each call asks a person, unless policy says otherwise.`,
  )
}

export function importedText(result: Imported, { next }: View): string {
  const { imported, left, files, unread, served } = result
  const lines = imported.map(({ upstream, tools, added, from }) => {
    const places = from.map(({ client, server }) => `${server} of ${client}`).join(', ')
    const offers = added ? `${counted(tools, 'tool')} offered` : 'it was there already'
    return escapeText(`${upstream} is behind the gate: ${offers} (${places}).`)
  })
  const changes = files.map(({ file, connected }) =>
    escapeText(`Changed: ${file}${connected ? ', which is connected now' : ''}`),
  )
  if (lines.length === 0) lines.push('Nothing was imported.')
  const rules = imported
    .filter(({ added }) => added)
    .map(({ upstream }) => `  ${next(`upstream tiers ${upstream} --suggest`)}`)
  const unhooked = files.filter(({ client, connected }) => connected && client in hookSpecs)
  const then =
    files.length === 0
      ? []
      : [
          ...(served ? [] : [`No server runs yet. Start it: ${next('serve')}`]),
          ...(rules.length > 0
            ? [
                'Each call of these tools asks a person. Rules for them, to read and change:',
                ...rules,
              ]
            : []),
          ...unhooked.map(
            ({ client }) =>
              `The own tools of ${client} still bypass the gate. Its hooks: ${next(`connect ${client}`)}`,
          ),
          `Undo: ${next('import --undo')}`,
        ]
  return [...lines, ...changes, ...leftText(left), ...unreadLines(unread), ...then].join('\n')
}

const interruptedText = {
  import: 'An import was interrupted.',
  undo: 'The undo of an import was interrupted.',
} as const

export const undoneText = ({ dry_run, interrupted, files, removed }: Undone): string =>
  [
    ...(interrupted === null ? [] : [interruptedText[interrupted]]),
    ...files.map(({ file, restored }) =>
      restored
        ? `${file} ${dry_run ? 'would be' : 'is'} as it was before.`
        : `${file} has changed since: only its servers ${dry_run ? 'would be' : 'were'} put back.`,
    ),
    ...(removed.length === 0
      ? []
      : [`${dry_run ? 'To be taken' : 'Taken'} from behind the gate: ${removed.join(', ')}.`]),
  ]
    .map(escapeText)
    .join('\n')
