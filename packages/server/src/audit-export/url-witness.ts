import { GatehouseError } from '@gatehouse/contract'
import type { Outbound } from '../ports/outbound.ts'
import type { Credential } from './credential.ts'
import type { WitnessTarget } from './target.ts'

const timeoutMs = 30_000
const answerBytesMax = 65_536

/** A server that is sent the newest checkpoint, and the newest root over all logs, as a signed note each. */
export const urlWitness = (
  url: string,
  credential: Credential | null,
  outbound: Pick<Outbound, 'request'>,
): WitnessTarget => {
  const post = async (note: string, signal: AbortSignal): Promise<void> => {
    const token = await credential?.value()
    await using response = await outbound.request(
      {
        ...{ url, method: 'POST', body: Buffer.from(note) },
        headers: {
          'content-type': 'text/plain; charset=utf-8',
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        ...{ timeout_ms: timeoutMs, redirects_max: 0, https_only: url.startsWith('https:') },
        body_bytes_max: answerBytesMax,
      },
      signal,
    )
    const { status } = response
    if (status >= 200 && status < 300) return
    if (status === 401 || status === 403) credential?.forget()
    throw new GatehouseError('ExportFailed', { detail: `${new URL(url).host} answered ${status}` })
  }
  return {
    takes: 'checkpoints',
    async witness(notes, signal) {
      for (const kind of ['all logs', 'log'] as const) {
        const last = notes.findLast(({ of }) => of === kind)
        if (last) await post(last.note, signal)
      }
    },
  }
}
