import { CliError, usageError } from './cli-error.ts'
import { exitCodes } from './exit-codes.ts'
import type { Io } from './io.ts'
import { readInputFile } from './read-input-file.ts'

const backspaces: ReadonlySet<string> = new Set(['\b', '\u007f'])

/** One line from the keyboard that nobody sees. */
export async function typedUnseen({ stdin, stderr }: Io, question: string): Promise<string> {
  const ended = new AbortController()
  const characters: string[] = []
  await stderr.write(question)
  try {
    reading: for await (const { text } of stdin.keys(ended.signal)) {
      // An arrow or a function key is no part of a secret.
      if (text.startsWith('\u001b')) continue
      for (const key of text) {
        if (key === '\r' || key === '\n') break reading
        if (key === '\u0003' || key === '\u0004')
          throw new CliError('Cancelled', exitCodes.failed, 'Nothing was read.')
        if (backspaces.has(key)) characters.pop()
        else characters.push(key)
      }
    }
  } finally {
    ended.abort()
    await stderr.write('\n')
  }
  return characters.join('')
}

/** Content of a file or a pipe, without the line break that editors and `echo` put at its end. */
const withoutLastBreak = (text: string): string => text.replace(/\r?\n$/, '')

/**
 * A secret from a file, from the input, or typed without being shown; never an argument, which other users
 * of the machine can see. `what` is for the question and for the refusal of nothing.
 */
export async function readSecret(io: Io, file: string | undefined, what: string): Promise<string> {
  const asks = file === undefined && io.stdin.isTTY
  const text = asks
    ? await typedUnseen(io, `${what} (it is not shown): `)
    : withoutLastBreak(await readInputFile(file ?? '-', io))
  if (text === '') throw usageError(`There is no ${what.toLowerCase()}: send it as the input.`)
  return text
}

/** The first lines of the input, or as many typed ones. */
export async function readSecretLines(io: Io, questions: readonly string[]): Promise<string[]> {
  const lines: string[] = []
  if (io.stdin.isTTY)
    for (const question of questions)
      lines.push(await typedUnseen(io, `${question} (it is not shown): `))
  else lines.push(...(await io.stdin.readAll()).split(/\r?\n/).slice(0, questions.length))
  const missing = questions.find((_, i) => !lines[i])
  if (missing)
    throw usageError(`There is no ${missing.toLowerCase()}: send each on a line of its own.`)
  return lines
}
