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
  const signature = Buffer.concat([keyId(origin, keys.raw), keys.sign(Buffer.from(text))])
  return { ...checkpoint, note: `${text}\n— ${origin} ${signature.toString('base64')}\n` }
}

const notes = /^([^\n]+)\n(\d{1,16})\n([A-Za-z0-9+/]{43}=)\n\n((?:— \S+ [A-Za-z0-9+/=]+\n)+)/gm

/** Finds the checkpoints in a text that this key signed; torn, foreign or altered ones are passed over. */
export const readCheckpoints = (text: string, verifier: Verifier): Checkpoint[] => {
  const found: Checkpoint[] = []
  for (const match of text.matchAll(notes)) {
    const [note, origin = '', size = '', root = '', lines = ''] = match
    const signed = Buffer.from(`${origin}\n${size}\n${root}\n`)
    const id = keyId(origin, verifier.raw)
    const ours = lines.split('\n').some((line) => {
      const [, name, encoded = ''] = line.split(' ')
      const bytes = Buffer.from(encoded, 'base64')
      return (
        name === origin &&
        bytes.subarray(0, 4).equals(id) &&
        verifier.verify(signed, bytes.subarray(4))
      )
    })
    if (!ours) continue
    found.push({
      origin,
      size: Number(size),
      root: Buffer.from(root, 'base64').toString('hex'),
      note,
    })
  }
  return found
}
