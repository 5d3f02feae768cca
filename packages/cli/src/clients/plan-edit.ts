import { readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import {
  type ConfigFile,
  readConfigFile,
  removeConfigFile,
  textOf,
  writeConfigFile,
} from './config-file.ts'
import { type Backup, type KeptFile, sha256 } from './connection.ts'

/** A change of one file, with what is known of an earlier one. */
export type Edit = {
  readonly file: ConfigFile
  readonly before: string
  readonly after: string
  /** Whether something of ours was in it. */
  readonly had: boolean
  readonly known: KeptFile | null
  /** Where the bytes of before are kept. */
  readonly backup: string
}

export type Change = { readonly after: string; readonly had: boolean }

export async function planEdit(
  name: string,
  newMode: number,
  { known, backup }: Pick<Edit, 'known' | 'backup'>,
  change: (path: string, text: string) => Promise<Change>,
): Promise<Edit> {
  const file = await readConfigFile(name, newMode)
  const before = textOf(file)
  return { file, before, known, backup, ...(await change(file.path, before)) }
}

const isAsWritten = ({ file, known }: Pick<Edit, 'file' | 'known'>): boolean =>
  known !== null && file.bytes !== null && known.written === sha256(file.bytes)

/** Parts of a change to keep: the state before the first of several stays what is brought back. */
export async function keptOf(edit: Edit): Promise<{ kept: KeptFile; backup: Backup }> {
  const { file, before, after, had, known, backup } = edit
  if (known !== null && before === after)
    return { kept: known, backup: { path: backup, bytes: null } }
  const isChained = known !== null && isAsWritten(edit)
  const made = await stat(dirname(file.path)).then(
    () => null,
    () => dirname(file.path),
  )
  const kept = {
    file: file.path,
    // A file that had something of ours before is not brought back with it.
    written: had && !isChained ? '' : sha256(after),
    existed: isChained ? known.existed : file.bytes !== null,
    folder: isChained ? known.folder : made,
  }
  return { kept, backup: { path: backup, bytes: isChained ? null : file.bytes } }
}

export async function makeEdit({ file, before, after }: Edit): Promise<void> {
  if (before !== after) await writeConfigFile(file, after)
}

/** Undo of one file: to the bytes of before, if nothing else has changed since; else without what is ours. */
export type Undo = {
  readonly file: ConfigFile
  readonly before: string
  readonly after: Buffer
  readonly isAsWritten: boolean
  /** Whether it is then as it was before we came, or as somebody else made it since. */
  readonly isRestored: boolean
  readonly known: KeptFile | null
  readonly backup: string
}

/** Whether the bytes are those of before: of a file that was there, or of none. */
async function isOriginal(
  bytes: Buffer | null,
  { existed }: KeptFile,
  backup: string,
): Promise<boolean> {
  const original = existed ? await readFile(backup).catch(() => null) : null
  return bytes === null ? !existed : original !== null && original.equals(bytes)
}

export async function planUndo(
  name: string,
  { known, backup }: Pick<Edit, 'known' | 'backup'>,
  withoutOurs: (path: string, text: string) => Promise<string>,
): Promise<Undo> {
  const file = await readConfigFile(name, 0o600)
  const before = textOf(file)
  const undo = { file, before, known, backup }
  if (isAsWritten({ file, known })) {
    const after = known?.existed ? await readFile(backup) : Buffer.alloc(0)
    return { ...undo, after, isAsWritten: true, isRestored: true }
  }
  const after = Buffer.from(await withoutOurs(file.path, before))
  const left = file.bytes === null && after.length === 0 ? null : after
  const isRestored =
    known === null ? after.toString() === before : await isOriginal(left, known, backup)
  return { ...undo, after, isAsWritten: false, isRestored }
}

export async function undoEdit({ file, before, after, known, isAsWritten }: Undo): Promise<void> {
  if (isAsWritten && !known?.existed) await removeConfigFile(file, known?.folder ?? null)
  else if (after.toString() !== before) await writeConfigFile(file, after)
}
