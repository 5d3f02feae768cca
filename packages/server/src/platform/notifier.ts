import { createHmac } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { GatehouseError, type NotificationEvent, type NotificationKind } from '@gatehouse/contract'
import type { Delivery, Notifier } from '../ports/notifier.ts'
import { formats } from './notice-formats.ts'

export type TargetSettings = {
  readonly name: string
  readonly kind: NotificationKind
  readonly url: string
  /** Absolute. */
  readonly secretFile: string | null
  readonly events: readonly NotificationEvent[]
}

const timeoutMs = 10_000
const answerBytesMax = 4_096
const secretMin = 16
const retryAfterMaxSeconds = 900

const refuse = (origin: string, detail: string): never => {
  throw new GatehouseError('InvalidConfiguration', { origin, detail })
}

/** Read at each sending, so that a new secret needs no restart. */
const readSecret = (file: string): string => {
  if ((statSync(file).mode & 0o077) !== 0) refuse(file, 'others can read it; run chmod 400 on it')
  const secret = readFileSync(file, 'utf8').trim()
  return secret.length >= secretMin
    ? secret
    : refuse(file, `a secret has at least ${secretMin} characters`)
}

/** Over moment and body, so that neither an old message nor a changed one passes for a new one. */
export const signatureOf = (secret: string, seconds: number, body: string): string => {
  const mac = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')
  return `t=${seconds},v1=${mac}`
}

const headersFor = (
  { kind, secretFile }: TargetSettings,
  body: string,
  wallMs: number,
): Record<string, string> => {
  if (secretFile === null) return {}
  const secret = readSecret(secretFile)
  return kind === 'ntfy'
    ? { authorization: `Bearer ${secret}` }
    : { 'gatehouse-signature': signatureOf(secret, Math.floor(wallMs / 1000), body) }
}

/** What a receiver says is not kept; it is read so far that the connection can be used again. */
const skim = async (response: Response): Promise<void> => {
  const reader = response.body?.getReader()
  if (!reader) return
  for (let read = 0; read < answerBytesMax; ) {
    const { done, value } = await reader.read()
    if (done) return
    read += value.length
  }
  await reader.cancel()
}

const judge = (response: Response): Delivery => {
  const { status } = response
  if (response.ok) return { kind: 'delivered', status }
  if (status >= 300 && status < 400)
    return { kind: 'failed', status, detail: `it answered ${status}; redirects are not followed` }
  const wait = Number(response.headers.get('retry-after') ?? Number.NaN)
  return {
    kind: 'failed',
    status,
    detail: `it answered ${status}`,
    ...(wait > 0 ? { retryAfterMs: Math.min(wait, retryAfterMaxSeconds) * 1000 } : {}),
  }
}

/** The words of the system below, never the address: its path may be the only secret there is. */
const reasonOf = (cause: unknown): string => {
  if (cause instanceof GatehouseError) return cause.message
  if (cause instanceof Error && cause.name === 'TimeoutError')
    return `it did not answer within ${timeoutMs / 1000} s`
  const below = cause instanceof Error ? cause.cause : undefined
  const code = (below as { code?: unknown } | undefined)?.code
  return typeof code === 'string' ? `it cannot be reached (${code})` : 'it cannot be reached'
}

/** Speaks to the targets that the operator named. Their addresses are the operator's own business. */
export const createNotifier = (
  targets: readonly TargetSettings[],
  wall: () => number,
  { assertsSecrets = true } = {},
): Notifier => {
  // A secret that cannot be read is said at the start of a server, not at its first message.
  for (const { secretFile } of targets) if (assertsSecrets && secretFile !== null) check(secretFile)
  const byName = new Map(targets.map((target) => [target.name, target]))
  return {
    targets: targets.map(({ name, kind, url, events, secretFile }) => ({
      name,
      kind,
      origin: new URL(url).origin,
      events,
      hasSecret: secretFile !== null,
    })),
    async send(name, notice, signal) {
      const target = byName.get(name)
      if (!target) return { kind: 'failed', status: null, detail: 'there is no such target' }
      try {
        const { url, body } = formats[target.kind](target.url, notice)
        const response = await fetch(url, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'user-agent': 'gatehouse',
            ...headersFor(target, body, wall()),
          },
          body,
          redirect: 'manual',
          signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
        })
        const delivery = judge(response)
        await skim(response).catch(() => undefined)
        return delivery
      } catch (cause) {
        return { kind: 'failed', status: null, detail: reasonOf(cause) }
      }
    },
  }
}

const check = (file: string): void => {
  try {
    readSecret(file)
  } catch (cause) {
    if (cause instanceof GatehouseError) throw cause
    refuse(file, 'this secret_file of notifications cannot be read')
  }
}
