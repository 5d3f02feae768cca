import type { Keys, Verifier } from './keys.ts'
import { isNoteSigned, signNote } from './note.ts'

/** Signed statement of a process: the tree over the heads of so many logs has this root. */
export type RootNote = {
  /** Of the process that signed it. */
  readonly chain: string
  /** Number of the logs. */
  readonly logs: number
  /** In hex. */
  readonly root: string
  /** Entries that the signer's own log had. */
  readonly size: number
  readonly note: string
}

const prefix = 'gatehouse/heads/'
const form =
  /^(gatehouse\/heads\/([A-Za-z0-9._-]{1,64})\n(\d{1,6})\n([A-Za-z0-9+/]{43}=)\n(\d{1,16})\n)\n((?:— \S+ [A-Za-z0-9+/=]+\n)+)/gm

/**
 * A C2SP checkpoint as a signed note, whose one extension line is the size of the signer's log: no reader of checkpoints of a
 * log takes it for one.
 */
export const signRoot = (
  { chain, logs, root, size }: Omit<RootNote, 'note'>,
  keys: Keys,
): RootNote => {
  const name = `${prefix}${chain}`
  const text = `${name}\n${logs}\n${Buffer.from(root, 'hex').toString('base64')}\n${size}\n`
  return { chain, logs, root, size, note: signNote(name, text, keys) }
}

/** Roots in a text that the key of their process signed; what else is in it is passed over. */
export const readRoots = (
  text: string,
  keyOf: (chain: string) => Verifier | null,
): readonly RootNote[] =>
  [...`${text}\n`.matchAll(form)].flatMap(
    ([note, signed = '', chain = '', logs, root = '', size, lines = '']) => {
      const key = keyOf(chain)
      if (!key || !isNoteSigned(`${prefix}${chain}`, signed, lines, key)) return []
      const hex = Buffer.from(root, 'base64').toString('hex')
      return [{ chain, logs: Number(logs), root: hex, size: Number(size), note }]
    },
  )
