import { open } from 'node:fs/promises'
import type { CatalogProblem } from '@gatehouse/contract'
import { CliError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Io } from '../io.ts'

/** One byte more than a catalog may have is enough to say so. */
const readMax = 1_048_577

async function bytesOf(file: string, io: Io): Promise<Uint8Array> {
  if (file === '-') return Buffer.from(await io.stdin.readAll())
  try {
    await using handle = await open(file)
    const bytes = Buffer.alloc(readMax)
    let length = 0
    for (;;) {
      const { bytesRead } = await handle.read(bytes, length, readMax - length, length)
      if (bytesRead === 0) return bytes.subarray(0, length)
      length += bytesRead
    }
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT'
    const why = missing ? 'does not exist' : 'cannot be read'
    throw new CliError('FileNotReadable', exitCodes.failed, `${file} ${why}.`, { cause })
  }
}

const effects = {
  structural: 'the whole file is refused',
  value: 'this entry is dropped',
  notice: 'ignored',
} as const

const problemLine = ({ kind, index, id, field, reason }: CatalogProblem): string => {
  const entry = index === null ? [] : [`entry ${index}${id === null ? '' : ` (${id})`}`]
  return `${kind}: ${[...entry, ...(field === null ? [] : [field])].join(': ')}${entry.length > 0 || field !== null ? ' ' : ''}${reason} [${effects[kind]}]`
}

const outcomes = {
  loads: 'Every entry loads.',
  loads_partly: 'The entries without a problem load; the others are dropped.',
  refused: 'THE FILE IS REFUSED: none of its entries loads.',
} as const

export const catalogValidate = defineCommand({
  name: 'catalog validate',
  summary: 'Check a catalog of models, without a server',
  args: { file: 'the file, or - for the input' },
  examples: [
    'gatehouse catalog validate catalog/models.json',
    'gatehouse catalog validate catalog/models.json --json',
  ],
  async run({ io }, { file }) {
    const bytes = await bytesOf(file, io)
    const { validateCatalog } = await import('@gatehouse/server/domain/models/validate-catalog')
    const { builtInModels } = await import('@gatehouse/server/domain/models/built-in')
    return validateCatalog(file, bytes, builtInModels)
  },
  text: ({ problems, outcome, loaded }) =>
    [
      ...problems.map((problem) => escapeText(problemLine(problem))),
      `${outcomes[outcome]} ${loaded.length} would be offered.`,
    ].join('\n'),
  exitCode: ({ valid }) => (valid ? exitCodes.done : exitCodes.failed),
})
