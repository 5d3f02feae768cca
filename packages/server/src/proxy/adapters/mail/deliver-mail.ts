import { Readable } from 'node:stream'
import type SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { SMTPConnectionSendInfo } from 'nodemailer/lib/smtp-connection'
import type { ServiceConnection, WriteReason } from '../../../ports/service-adapter.ts'
import { describeFailure, saidText } from './describe-failure.ts'
import { type MailTimeouts, tlsOptions } from './open-imap.ts'
import { type Endpoint, type MailSettings, smtpEndpoint } from './settings.ts'

export type Envelope = { readonly from: string; readonly to: readonly string[] }

/** Outcome of a mail at the server that was to take it. */
export type DeliveryOutcome =
  | {
      readonly kind: 'taken'
      readonly response: string
      /** Recipients that the server refused while it took the mail for others. */
      readonly refused: readonly string[]
    }
  | { readonly kind: 'not_taken'; readonly reason: WriteReason; readonly final: boolean }
  | { readonly kind: 'unknown'; readonly reason: WriteReason }

type Delivery = {
  readonly connection: ServiceConnection
  readonly settings: MailSettings
  readonly timeouts: MailTimeouts
  readonly signal: AbortSignal
}

/** One SMTP connection whose steps are promises; an end at any moment fails the step that runs. */
export class SmtpSession implements Disposable {
  readonly #smtp: SMTPConnection
  readonly #leave: () => void
  readonly #signal: AbortSignal
  #fail: (error: unknown) => void = () => {}

  static async open(
    { settings, timeouts, signal }: Omit<Delivery, 'connection'>,
    { host, port, security }: Endpoint,
  ): Promise<SmtpSession> {
    const { default: SMTPConnection } = await import('nodemailer/lib/smtp-connection')
    const smtp = new SMTPConnection({
      host,
      port,
      secure: security === 'tls',
      requireTLS: security === 'starttls',
      ignoreTLS: security === 'plain',
      tls: tlsOptions(settings),
      // The name of this machine is nobody's business.
      name: '[127.0.0.1]',
      connectionTimeout: timeouts.connectMs,
      dnsTimeout: timeouts.connectMs,
      greetingTimeout: timeouts.greetingMs,
      socketTimeout: timeouts.idleMs,
      socketCloseTimeout: 1_000,
      maxResponseSize: 65_536,
      logger: false,
    })
    return new SmtpSession(smtp, signal)
  }

  private constructor(smtp: SMTPConnection, signal: AbortSignal) {
    this.#smtp = smtp
    this.#smtp.on('error', (error: unknown) => this.#fail(error))
    this.#smtp.on('end', () => {
      this.#fail(Object.assign(new Error('closed'), { code: 'ECONNECTION' }))
    })
    this.#signal = signal
    this.#leave = () => this.#smtp.close()
    signal.addEventListener('abort', this.#leave, { once: true })
  }

  #step<T>(run: (done: (error: unknown, value?: T) => void) => void): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      this.#fail = reject
      if (this.#signal.aborted) return reject(this.#signal.reason)
      run((error, value) => (error ? reject(error) : resolve(value)))
    })
  }

  async connect(): Promise<void> {
    await this.#step((done) => this.#smtp.connect(done))
  }

  /** Logs in where the server asks for it. */
  async login(connection: ServiceConnection, endpoint: Endpoint): Promise<'done' | 'not asked'> {
    if (endpoint.user === '' || !this.#smtp.allowsAuth) return 'not asked'
    await connection.secret(endpoint.secret, endpoint.host, async (pass) => {
      const auth = { user: endpoint.user, credentials: { user: endpoint.user, pass } }
      await this.#step((done) => this.#smtp.login(auth, done))
    })
    return 'done'
  }

  async send(envelope: Envelope, body: Readable): Promise<SMTPConnectionSendInfo> {
    const { from, to } = envelope
    const info = await this.#step<SMTPConnectionSendInfo>((done) =>
      this.#smtp.send({ from, to: [...to] }, body, done),
    )
    if (!info) throw new Error('the server answered nothing')
    return info
  }

  [Symbol.dispose](): void {
    this.#signal.removeEventListener('abort', this.#leave)
    this.#fail = () => {}
    this.#smtp.quit()
    this.#smtp.close()
  }
}

const codeOf = (error: unknown): number | null => {
  const code = (error as { readonly responseCode?: unknown } | null)?.responseCode
  return typeof code === 'number' && code >= 400 && code <= 599 ? code : null
}

/**
 * Hands a mail to the server. `unknown` is only what may have been taken: once the first byte of the
 * message has left and no clear answer came back.
 */
export const deliverMail = async (
  delivery: Delivery,
  envelope: Envelope,
  raw: Buffer,
): Promise<DeliveryOutcome> => {
  const { connection, settings } = delivery
  const endpoint = smtpEndpoint(settings, connection.secrets)
  const where = `${endpoint.host}:${endpoint.port}`
  let begun = false
  const body = new Readable({
    read() {
      begun = true
      this.push(raw)
      this.push(null)
    },
  })
  try {
    using session = await SmtpSession.open(delivery, endpoint)
    await session.connect()
    await session.login(connection, endpoint)
    const { response, rejected } = await session.send(envelope, body)
    return { kind: 'taken', response: saidText(response), refused: rejected }
  } catch (error) {
    const code = codeOf(error)
    const said = saidText((error as { readonly response?: unknown } | null)?.response)
    const failure = describeFailure(error, endpoint)
    const isLogin = (error as { readonly code?: unknown } | null)?.code === 'EAUTH'
    if (code !== null && !isLogin)
      return {
        kind: 'not_taken',
        reason: { detail: `${where} refused the mail: ${said}` },
        final: code >= 500,
      }
    const reason = {
      detail: failure.detail,
      ...(failure.fix === null ? {} : { fix: failure.fix }),
    }
    if (!begun) return { kind: 'not_taken', reason, final: false }
    return {
      kind: 'unknown',
      reason: {
        detail: `the mail was handed to ${where}, which then gave no clear answer (${failure.detail})`,
        fix: 'Ask a recipient, or look into the log of the server, before it is sent again.',
      },
    }
  } finally {
    body.destroy()
  }
}
