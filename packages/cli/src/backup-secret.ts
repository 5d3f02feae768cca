import { readFile } from 'node:fs/promises'
import { CliError, usageError } from './cli-error.ts'
import { exitCodes } from './exit-codes.ts'
import type { Io } from './io.ts'
import { readInputFile } from './read-input-file.ts'

const passphraseMin = 12

export const secretOptions = {
  'passphrase-file': { value: 'FILE', about: 'its first line is the passphrase (- for the input)' },
  'key-file': {
    value: 'FILE',
    about: 'a key of 32 bytes, raw or as 64 hexadecimal digits',
  },
} as const

type Given = {
  readonly 'passphrase-file': string | undefined
  readonly 'key-file': string | undefined
}

/** The passphrase, or the key in hexadecimal. */
export type GivenSecret = { readonly passphrase: string } | { readonly key: string }

async function readKey(file: string): Promise<string> {
  let bytes: Buffer
  try {
    bytes = await readFile(file)
  } catch (cause) {
    throw new CliError('FileNotReadable', exitCodes.failed, `${file} cannot be read.`, { cause })
  }
  const text = bytes.toString('latin1').trim().toLowerCase()
  if (/^[0-9a-f]{64}$/.test(text)) return text
  if (bytes.length === 32) return bytes.toString('hex')
  throw usageError(`${file} has no key in it: create one with head -c 32 /dev/urandom > ${file}`)
}

/** Secret of a backup; never an argument, which other users of the machine can see. */
export async function readBackupSecret(io: Io, given: Given): Promise<GivenSecret> {
  const { 'passphrase-file': passphraseFile, 'key-file': keyFile } = given
  if (passphraseFile !== undefined && keyFile !== undefined)
    throw usageError('Give either --passphrase-file or --key-file.')
  if (keyFile !== undefined) return { key: await readKey(keyFile) }
  if (passphraseFile === undefined && io.stdin.isTTY)
    await io.stderr.write('Type the passphrase, Enter, and Ctrl-D (it is shown):\n')
  const [passphrase = ''] = (await readInputFile(passphraseFile ?? '-', io)).split(/\r?\n/, 1)
  if (passphrase.length < passphraseMin)
    throw usageError(`A passphrase has at least ${passphraseMin} characters, in one line.`)
  return { passphrase }
}
