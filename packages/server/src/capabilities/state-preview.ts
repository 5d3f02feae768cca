import { GatehouseError, type Preview } from '@gatehouse/contract'
import type { CapabilityContext, PreviewContext, StateFound } from '../ports/capability.ts'
import { diffBytesMax, diffOf } from './text-diff.ts'
import { jsonText, previewOrNote, textPreview } from './text-preview.ts'

/** Owner of the values, as people call it. */
type Kind = 'shared' | 'own'
type Values = PreviewContext['state']

type Change = {
  readonly key: string
  readonly expected_version?: number | undefined
  readonly ttl_seconds?: number | undefined
}

const find = async (values: Values, key: string): Promise<StateFound | null> => {
  try {
    return await values.get(key)
  } catch (error) {
    if (error instanceof GatehouseError && error.type === 'StateNotFound') return null
    throw error
  }
}

/** An approval is for replacing the version that was shown. */
export const versionBound = async (values: Values, key: string) => ({
  version: (await find(values, key))?.version ?? 0,
})

/** Version that a change is for: the one that the agent names, else the one that an approver was shown. */
export const versionMeant = (
  { resolved }: Pick<CapabilityContext, 'resolved'>,
  { expected_version }: Pick<Change, 'expected_version'>,
): number | undefined => expected_version ?? (resolved?.['version'] as number | undefined)

const nowAt = (found: StateFound | null): string =>
  found
    ? `It is at version ${found.version}, stored by ${found.updated_by} at ${found.updated_at}.`
    : 'There is no such value now.'

const conflict = (
  found: StateFound | null,
  { expected_version: expected }: Change,
): string | false => {
  if (expected === undefined || expected === (found?.version ?? 0)) return false
  return `The call expects ${expected === 0 ? 'no value' : `version ${expected}`}, so it is refused as things stand.`
}

const tooLong = 'Both values are too long to be compared here.'

const compared = (name: string, before: StateFound | null, after: string | null): Preview => {
  const old = before ? `${jsonText(before.value)}\n` : ''
  const next = after ?? ''
  const text =
    old.length + next.length > diffBytesMax
      ? `${tooLong} Before: ${old.length} characters. After: ${next.length} characters.`
      : (diffOf(name, old, next, before === null) ?? tooLong)
  return { kind: 'diff', path: name, text }
}

const withLines = (lines: readonly (string | false)[], shown: Preview): Preview =>
  shown.kind === 'diff'
    ? { ...shown, text: [...lines.filter((line) => line !== false), shown.text].join('\n') }
    : shown

/** How an approver sees that a value is stored: what stands there now, and what would. */
export const settingPreview = (
  kind: Kind,
  values: Values,
  change: Change & { readonly value?: unknown },
): Promise<Preview> => {
  const name = `${kind} value ${change.key}`
  return previewOrNote(`Store the ${name}.`, async () => {
    const before = await find(values, change.key)
    const after = `${jsonText(change.value)}\n`
    const same = before !== null && after === `${jsonText(before.value)}\n`
    const { ttl_seconds } = change
    const lines = [
      `${before ? 'Replace' : 'Create'} the ${name}. ${nowAt(before)}`,
      conflict(before, change),
      ttl_seconds !== undefined && `It is deleted again after ${ttl_seconds} s.`,
    ]
    if (same) return textPreview(...lines, 'The value stays the same.')
    return withLines(lines, compared(name, before, after))
  })
}

export const deletingPreview = (kind: Kind, values: Values, change: Change): Promise<Preview> => {
  const name = `${kind} value ${change.key}`
  return previewOrNote(`Delete the ${name}.`, async () => {
    const before = await find(values, change.key)
    const lines = [`Delete the ${name}. ${nowAt(before)}`, conflict(before, change)]
    return before ? withLines(lines, compared(name, before, null)) : textPreview(...lines)
  })
}
