import { createHmac } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { GatehouseError, type NotificationEvent, type NotificationKind } from '@gatehouse/contract'
import type { Delivery, Notice, Notifier } from '../ports/notifier.ts'
import { formats, type PostKind } from './notice-formats.ts'

export type TargetSettings = {
  readonly name: string
  readonly kind: NotificationKind
  readonly url: string
  /** Absolute. */
  readonly secretFile: string | null
  readonly events: readonly NotificationEvent[]
  /** Set for mail. */
  readonly mail?: {
    readonly from: string
    readonly to: readonly string[]
    readonly user: string | null
  }
}

const timeoutMs = 10_000
const answerBytesMax = 4_096
const secretMin = 16
const retryAfterMaxSeconds = 900

const refuse = (origin: string, detail: string): never => {
  throw new GatehouseError('InvalidConfiguration', { origin, detail })
}

/** Read at each sending, so that a new secret needs no restart. */
const readSecret = (file: string, lengthMin = secretMin): string => {
  if ((statSync(file).mode & 0o077) !== 0) refuse(file, 'others can read it; run chmod 400 on it')
  const secret = readFileSync(file, 'utf8').trim()
  return secret.length >= lengthMin
    ? secret
    : refuse(file, `a secret has at least ${lengthMin} characters`)
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

/** An answer of a receiver is not kept; it is read so far that the connection can be used again. */
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

const post = async (
  target: TargetSettings,
  kind: PostKind,
  notice: Notice,
  wallMs: number,
  signal: AbortSignal,
): Promise<Delivery> => {
  const { url, body } = formats[kind](target.url, notice)
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'gatehouse',
      ...headersFor(target, body, wallMs),
    },
    body,
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  })
  const delivery = judge(response)
  await skim(response).catch(() => undefined)
  return delivery
}

const mail = async (target: TargetSettings, notice: Notice): Promise<Delivery> => {
  const { url, secretFile, mail: to } = target
  if (!to) return { kind: 'failed', status: null, detail: 'it names no receiver' }
  // Loaded with the first mail: most installations send none.
  const { sendMail } = await import('./notice-mail.ts')
  const password = secretFile === null ? null : readSecret(secretFile, 1)
  return sendMail({ url, ...to }, password, notice, timeoutMs)
}

/** Scheme and host: addresses of other schemes have no origin of their own. */
const originOf = ({ protocol, host }: URL): string => `${protocol}//${host}`

/** Speaks to the targets that the operator named. Their addresses are the operator's own business. */
export const createNotifier = (
  targets: readonly TargetSettings[],
  wall: () => number,
  { assertsSecrets = true } = {},
): Notifier => {
  // A secret that cannot be read is said at the start of a server, not at its first message.
  for (const { secretFile, kind } of targets)
    if (assertsSecrets && secretFile !== null) check(secretFile, kind === 'mail' ? 1 : secretMin)
  const byName = new Map(targets.map((target) => [target.name, target]))
  return {
    targets: targets.map(({ name, kind, url, events, secretFile }) => ({
      name,
      kind,
      origin: originOf(new URL(url)),
      events,
      hasSecret: secretFile !== null,
    })),
    async send(name, notice, signal) {
      const target = byName.get(name)
      if (!target) return { kind: 'failed', status: null, detail: 'there is no such target' }
      try {
        return await (target.kind === 'mail'
          ? mail(target, notice)
          : post(target, target.kind, notice, wall(), signal))
      } catch (cause) {
        return { kind: 'failed', status: null, detail: reasonOf(cause) }
      }
    },
  }
}

const check = (file: string, lengthMin: number): void => {
  try {
    readSecret(file, lengthMin)
  } catch (cause) {
    if (cause instanceof GatehouseError) throw cause
    refuse(file, 'this secret_file of notifications cannot be read')
  }
}
