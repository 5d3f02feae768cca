import { GatehouseError } from '@gatehouse/contract'
import type { ModelFile } from '../ports/models.ts'
import type { OutboundResponse } from '../ports/outbound.ts'

/** Where the bytes of an answer go: after those that are here, or in place of all of them. */
export type Verdict = 'append' | 'restart' | 'ask_without_range'

type Answer = Pick<OutboundResponse, 'status' | 'headers' | 'url'>

const rangeForm = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/

const sizeMismatch = ({ id, size_bytes }: ModelFile, detail: string): never => {
  throw new GatehouseError('ModelSizeMismatch', { id, size_bytes, detail })
}

export const hostOf = (url: string): string => new URL(url).host

/** An answer that may be another one a little later. */
export const passing = (url: string, detail: string): GatehouseError =>
  new GatehouseError('ResponseRefused', { host: hostOf(url), detail })

function judgeStatus({ status, url }: Answer, { id }: ModelFile): never {
  if (status === 408 || status === 429 || status >= 500) throw passing(url, `it answered ${status}`)
  const detail = `${hostOf(url)} answered ${status}`
  throw new GatehouseError('ModelSourceFailed', { id, detail })
}

/** A part must begin where it was asked to, of a file of the size that the entry promises. */
function judgePart({ headers }: Answer, file: ModelFile, from: number): Verdict {
  const range = rangeForm.exec(headers['content-range'] ?? '')
  if (range?.[3] !== undefined && range[3] !== '*' && Number(range[3]) !== file.size_bytes)
    return sizeMismatch(file, `the source says ${range[3]}`)
  const [first, last] = [Number(range?.[1]), Number(range?.[2])]
  const isSound = range !== null && first === from && last >= first && last < file.size_bytes
  return isSound ? 'append' : 'ask_without_range'
}

/** Verdict on an answer to a request for the file from byte `from` on. Raises what is wrong with it. */
export function judgeAnswer(answer: Answer, file: ModelFile, from: number): Verdict {
  const { status, headers } = answer
  if (status === 206) return judgePart(answer, file, from)
  if (status === 416 && from > 0) return 'ask_without_range'
  if (status !== 200) return judgeStatus(answer, file)
  const length = headers['content-length']
  if (length !== undefined && Number(length) !== file.size_bytes)
    return sizeMismatch(file, `the source announces ${length.slice(0, 20)}`)
  return from > 0 ? 'restart' : 'append'
}
