import { errorTable, GatehouseError, type Preview } from '@gatehouse/contract'
import { describeCall } from '@gatehouse/contract/describe-call'

const charsMax = 120_000

/** Sentences about what will happen, a line each; false lines are left out. */
export const textPreview = (...lines: readonly (string | false)[]): Preview => {
  const text = lines.filter((line) => line !== false).join('\n')
  if (text.length <= charsMax) return { kind: 'command', text }
  const cut = text.slice(0, charsMax).replace(/[\ud800-\udbff]$/, '')
  return { kind: 'command', text: `${cut}\n… cut here; the arguments show all that is sent.` }
}

const internalError = -32603
const mistakes: readonly number[] = [400, 403, 404]

/** A call that names what is missing or forbidden is answered at once, and no person is asked about it. */
const isAnswered = ({ type }: GatehouseError): boolean => {
  const { http, rpc } = errorTable[type]
  return rpc === internalError || type === 'Cancelled' || (rpc === null && mistakes.includes(http))
}

/**
 * Details that were looked up for a call, or a note where they cannot be: a person may decide all the same,
 * as the call runs under every check of its own.
 */
export const previewOrNote = async (
  what: string,
  find: () => Promise<Preview>,
): Promise<Preview> => {
  try {
    return await find()
  } catch (error) {
    if (!(error instanceof GatehouseError) || isAnswered(error)) throw error
    return textPreview(what, `No details can be shown now: ${error.message}`)
  }
}

export const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`

/** A call that another one is about, in one line. */
export const callText = (capability: string, args: Readonly<Record<string, unknown>>): string =>
  `${capability} ${describeCall(capability, args)}`.trimEnd()

export const jsonText = (value: unknown): string => JSON.stringify(value, null, 2)
