import { hash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { GatehouseError } from '@gatehouse/contract'
import { parseGlob } from '../../domain/glob.ts'
import type { CapabilityContext } from '../../ports/capability.ts'
import type { Files, Fingerprint } from '../../ports/files.ts'
import { diffOf } from '../text-diff.ts'
import { filesBelow } from './files-below.ts'
import { Regex } from './regex.ts'
import { decode } from './text.ts'

const fileBytesMax = 4 * 1024 * 1024
const allBytesMax = 64 * 1024 * 1024
const filesMax = 1_000
const diffCharsMax = 256 * 1024

type Seeing = { readonly files: Files; readonly signal: AbortSignal }

type Wanted = {
  readonly path?: string | undefined
  readonly root?: string | undefined
  readonly include_glob?: string | undefined
  readonly pattern: string
  readonly replace: string
  readonly regex: boolean
  readonly expected_replacements?: number | undefined
  readonly replace_all: boolean
}

export type Edit = {
  readonly path: string
  readonly replacements: number
  readonly before: string
  readonly after: string
  readonly sha256Before: string
  readonly sha256After: string
}

type Replace = (text: string) => Promise<{ readonly text: string; readonly count: number }>

const replaceLiteral =
  (pattern: string, replacement: string): Replace =>
  async (text) => {
    const parts = text.split(pattern)
    return { count: parts.length - 1, text: parts.join(replacement) }
  }

const editFile = async (files: Files, path: string, replace: Replace): Promise<Edit | null> => {
  const { bytes, size_bytes, truncated } = await files.read(path, { bytesMax: fileBytesMax })
  if (truncated) {
    throw new GatehouseError('FileTooLarge', { path, size_bytes, limit_bytes: fileBytesMax })
  }
  const before = decode(bytes, 'utf-8', path)
  const { text: after, count } = await replace(before)
  if (count === 0) return null
  const sha256Before = hash('sha256', bytes)
  return {
    path,
    replacements: count,
    before,
    after,
    sha256Before,
    sha256After: hash('sha256', after),
  }
}

/** Files below the folder that are no text or too large, and those that policy keeps from the call. */
type Found = {
  readonly edits: readonly Edit[]
  readonly skipped: number
  readonly withheld: number
}

const editBelow = async (
  ctx: Seeing,
  root: string,
  includeGlob: string,
  replace: Replace,
): Promise<Found> => {
  const glob = parseGlob(includeGlob)
  const edits: Edit[] = []
  let skipped = 0
  let bytes = 0
  const below = filesBelow(ctx, root)
  for await (const file of below) {
    if (file.type !== 'file' || !glob.matches(file.relative)) continue
    try {
      const edit = await editFile(ctx.files, file.path, replace)
      if (!edit) continue
      edits.push(edit)
      bytes += edit.before.length + edit.after.length
    } catch (error) {
      const type = error instanceof GatehouseError ? error.type : null
      if (type !== 'InvalidEncoding' && type !== 'FileTooLarge') throw error
      skipped++
    }
    if (edits.length > filesMax || bytes > allBytesMax) {
      const what = `files or ${allBytesMax} bytes in one edit; narrow include_glob, so`
      throw new GatehouseError('QuotaExceeded', { limit: filesMax, what })
    }
    await setImmediate()
  }
  // A search that did not see everything would change some files and forget others.
  if (below.cut) throw new GatehouseError('QuotaExceeded', { limit: 200_000, what: 'entries' })
  return { edits, skipped, withheld: below.withheld }
}

/** Finds every place that would change. Nothing is written until all of it is known and as expected. */
export const planEdits = async (ctx: Seeing, wanted: Wanted): Promise<Found> => {
  using regex = wanted.regex ? new Regex(wanted.pattern) : null
  const replace: Replace = regex
    ? (text) => regex.replaceAll(text, wanted.replace, ctx.signal)
    : replaceLiteral(wanted.pattern, wanted.replace)
  const { path, root = '.', include_glob = '**' } = wanted
  let plan: Found
  if (path === undefined) plan = await editBelow(ctx, root, include_glob, replace)
  else {
    const edit = await editFile(ctx.files, path, replace)
    plan = {
      edits: edit ? [{ ...edit, path: ctx.files.resolve(path) }] : [],
      skipped: 0,
      withheld: 0,
    }
  }
  const found = plan.edits.reduce((sum, { replacements }) => sum + replacements, 0)
  const expected = wanted.replace_all ? found || 'at least 1' : (wanted.expected_replacements ?? 1)
  if (found !== expected) throw new GatehouseError('EditMismatch', { expected, found })
  return plan
}

type Shown = Readonly<Record<string, Fingerprint>>

/** Prints of the files that a person agreed to see changed; null where nobody had to. */
export const shownFiles = ({ resolved }: Pick<CapabilityContext, 'resolved'>): Shown | null =>
  (resolved?.['files'] ?? null) as Shown | null

/** Raises `ApprovalStale` where a person agreed to the change of other files, or of other content in them. */
export const assertShown = (shown: Shown, edits: readonly Edit[]): void => {
  const changed = edits.find(({ path, sha256Before }) => shown[path]?.['sha256'] !== sha256Before)
  if (!changed && edits.length === Object.keys(shown).length) return
  const what = changed?.path ?? 'a file that it would change'
  throw new GatehouseError('ApprovalStale', {
    detail: `${what} has changed since it was asked for`,
  })
}

/** Each file changes whole and only if it is still what was planned with. */
export const applyEdits = async (
  { files }: Seeing,
  edits: readonly Edit[],
  shown: Shown | null,
): Promise<void> => {
  const done: string[] = []
  for (const { path, after, sha256Before } of edits) {
    try {
      const how = { createParents: false, ifSha256: sha256Before, bound: shown?.[path] }
      await files.write(path, Buffer.from(after), how)
      done.push(path)
    } catch (error) {
      if (done.length === 0 || !(error instanceof GatehouseError)) throw error
      const changed = { action: 'check', description: `Already changed: ${done.join(', ')}.` }
      throw new GatehouseError(error.type, error.facts, {
        cause: error,
        recovery: [changed, ...error.recovery],
      })
    }
  }
}

const summary = ({ path, replacements, sha256Before, sha256After }: Edit): string =>
  `--- ${path}: sha256 ${sha256Before}\n+++ ${path}: sha256 ${sha256After}, ${replacements} replacements\n`

/** Files that no longer fit are named with their digests instead, so that none is left out. */
export const diffOfEdits = (
  edits: readonly Edit[],
): { readonly diff: string; readonly truncated: boolean } => {
  let diff = ''
  let truncated = false
  for (const edit of edits) {
    const whole: string | null = truncated ? null : diffOf(edit.path, edit.before, edit.after)
    truncated ||= whole === null || diff.length + whole.length > diffCharsMax
    diff += truncated ? summary(edit) : whole
  }
  return { diff, truncated }
}
