import { hash } from 'node:crypto'
import type { Keys, Verifier } from './keys.ts'

/** A signed statement: the tree of the first `size` entries has this root. */
export type Checkpoint = {
  readonly origin: string
  readonly size: number
  /** In hex. */
  readonly root: string
  /** The signed note as it stands in the file. */
  readonly note: string
}

const ed25519 = 1

/** First four bytes of SHA-256(name ‖ "\n" ‖ type ‖ key), as signed notes have it. */
const keyId = (name: string, raw: Buffer): Buffer =>
  hash(
    'sha256',
    Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(ed25519), raw]),
    'buffer',
  ).subarray(0, 4)

/** The form in which witnesses and other tools take a public key. */
export const verifierKey = (name: string, raw: Buffer): string =>
  `${name}+${keyId(name, raw).toString('hex')}+${Buffer.concat([Buffer.of(ed25519), raw]).toString('base64')}`

/** A C2SP tlog-checkpoint as a signed note, without extension lines. The key has the origin's name. */
export const signCheckpoint = (checkpoint: Omit<Checkpoint, 'note'>, keys: Keys): Checkpoint => {
  const { origin, size, root } = checkpoint
  const text = `${origin}\n${size}\n${Buffer.from(root, 'hex').toString('base64')}\n`
  return { ...checkpoint, note: signNote(origin, text, keys) }
}

/** A text as a signed note: each of its lines ends. */
export const signNote = (name: string, text: string, keys: Keys): string => {
  const signature = Buffer.concat([keyId(name, keys.raw), keys.sign(Buffer.from(text))])
  return `${text}\n— ${name} ${signature.toString('base64')}\n`
}

/** Whether one of the lines below a text is the signature of this key under that name. */
export const isNoteSigned = (
  name: string,
  text: string,
  lines: string,
  verifier: Verifier,
): boolean => {
  const [signed, id] = [Buffer.from(text), keyId(name, verifier.raw)]
  return lines.split('\n').some((line) => {
    const [, signer, encoded = ''] = line.split(' ')
    const bytes = Buffer.from(encoded, 'base64')
    return (
      signer === name &&
      bytes.subarray(0, 4).equals(id) &&
      verifier.verify(signed, bytes.subarray(4))
    )
  })
}

const notes = /^([^\n]+)\n(\d{1,16})\n([A-Za-z0-9+/]{43}=)\n\n((?:— \S+ [A-Za-z0-9+/=]+\n)+)/gm

/** Text of a file of checkpoints that is no checkpoint of this key. */
export type DamagedNote = { readonly at: number; readonly text: string }

export type Notes = {
  readonly checkpoints: readonly Checkpoint[]
  readonly damaged: readonly DamagedNote[]
}

const originPrefix = 'gatehouse/audit/'
const rootLength = 44
const signatureLength = 92

/**
 * Whether a text is the beginning of a note, as a crash leaves it. Bytes that changed leave the length of a note as it
 * was, so that they are never taken for one.
 */
const isTorn = (text: string): boolean => {
  const lines = text.split('\n')
  const [origin = '', size = '', root = '', blank = '', line = ''] = lines
  const complete = lines.length - 1
  if (!origin.startsWith(originPrefix) && !(complete === 0 && originPrefix.startsWith(origin)))
    return false
  if (!/^\d{0,16}$/.test(size) || !/^[A-Za-z0-9+/]{0,43}=?$/.test(root)) return false
  if (complete > 2 && root.length !== rootLength) return false
  return complete <= 4 && blank === '' && isTornSignature(line, `— ${origin} `)
}

const isTornSignature = (line: string, name: string): boolean => {
  // The dash is three bytes, of which a crash may have left one or two.
  if (line === '\uFFFD' || name.startsWith(line)) return true
  const signature = line.slice(name.length)
  const isShort = signature.length < signatureLength
  return line.startsWith(name) && isShort && /^[A-Za-z0-9+/]*$/.test(signature)
}

/** Text between two notes that is neither the space between them nor what a crash left of one. */
const damageIn = (text: string, at: number): DamagedNote[] => {
  const found = text.replace(/^[\n\0]+|[\n\0]+$/g, '')
  return found === '' || isTorn(found) ? [] : [{ at: at + text.indexOf(found), text: found }]
}

/** A text of its own: a part of another one would keep all of that in memory. */
const detached = (text: string): string => Buffer.from(text).toString()

const checkpointOf = ([note, origin = '', size = '', root = '']: RegExpExecArray): Checkpoint => ({
  ...{ origin: detached(origin), size: Number(size), note: detached(note) },
  root: Buffer.from(root, 'base64').toString('hex'),
})

const signedBy = (verifier: Verifier, match: RegExpExecArray): Checkpoint | null => {
  const [, origin = '', size = '', root = '', lines = ''] = match
  const ours = isNoteSigned(origin, `${origin}\n${size}\n${root}\n`, lines, verifier)
  return ours ? checkpointOf(match) : null
}

/**
 * Checkpoints in a text that this key signed, and what else is in it: altered ones, or those of another key. Without a
 * verifier the text is known to be as it was when its signatures were checked.
 */
export const readNotes = (text: string, verifier: Verifier | null): Notes => {
  const checkpoints: Checkpoint[] = []
  const damaged: DamagedNote[] = []
  let end = 0
  // A crash may have left off no more than the end of the line.
  for (const match of `${text}\n`.matchAll(notes)) {
    const checkpoint = verifier ? signedBy(verifier, match) : checkpointOf(match)
    if (!checkpoint) continue
    damaged.push(...damageIn(text.slice(end, match.index), end))
    checkpoints.push(checkpoint)
    end = match.index + match[0].length
  }
  damaged.push(...damageIn(text.slice(end), end))
  return { checkpoints, damaged }
}

/** Whether a note is whole and of another chain: nodes may share a file for the copies of their checkpoints. */
const isForeign = (match: RegExpExecArray, chain: string): boolean => {
  const [, origin = '', , , lines = ''] = match
  const ours = `${originPrefix}${chain}`
  if (!origin.startsWith(originPrefix) || origin === ours || origin.startsWith(`${ours}/`))
    return false
  return lines.split('\n').every((line) => line === '' || line.startsWith(`— ${origin} `))
}

/** Damage in a file in which whole notes of other chains are none. */
export const damageBeside = (damaged: readonly DamagedNote[], chain: string): DamagedNote[] =>
  damaged.flatMap(({ at, text }) => {
    const found: DamagedNote[] = []
    let end = 0
    for (const match of `${text}\n`.matchAll(notes)) {
      if (!isForeign(match, chain)) continue
      found.push(...damageIn(text.slice(end, match.index), at + end))
      end = match.index + match[0].length
    }
    return [...found, ...damageIn(text.slice(end), at + end)]
  })

/** Finds the checkpoints in a text that this key signed; torn, foreign or altered ones are passed over. */
export const readCheckpoints = (text: string, verifier: Verifier): readonly Checkpoint[] =>
  readNotes(text, verifier).checkpoints
