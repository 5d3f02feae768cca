import { createTransport } from 'nodemailer'
import type { Delivery, Notice } from '../ports/notifier.ts'

export type MailSettings = {
  /** `smtps://host` or `smtp://host:port`. */
  readonly url: string
  readonly from: string
  readonly to: readonly string[]
  readonly user: string | null
}

const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

const bodyOf = ({ text, link }: Notice): string => [text, link ?? ''].filter(Boolean).join('\n\n')

/** Codes of the connection and of TLS in words; the rest is what the server said, by its number. */
const reasonOf = (cause: unknown): { status: number | null; detail: string } => {
  const { code, responseCode, command } = cause as {
    code?: string
    responseCode?: number
    command?: string
  }
  const status = typeof responseCode === 'number' ? responseCode : null
  if (code === 'EAUTH') return { status, detail: 'the mail server refused user and password' }
  if (code === 'ETLS') return { status, detail: 'the mail server offers no TLS that holds' }
  if (status !== null) return { status, detail: `it answered ${status} to ${command ?? 'mail'}` }
  return { status, detail: `it cannot be reached (${code ?? 'unknown'})` }
}

/**
 * Sends one notice by mail. Passwords and notices travel under TLS, unless the server is this machine.
 * A notice that is sent again has the same Message-ID.
 */
export const sendMail = async (
  { url, from, to, user }: MailSettings,
  password: string | null,
  notice: Notice,
  timeoutMs: number,
): Promise<Delivery> => {
  const { protocol, hostname, port } = new URL(url)
  const secure = protocol === 'smtps:'
  const transport = createTransport({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    // @SECURITY no fall-back to plain text; notice-mail.test.ts.
    requireTLS: !secure && !loopback.has(hostname),
    ...(user === null ? {} : { auth: { user, pass: password ?? '' } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  try {
    const { response } = await transport.sendMail({
      from,
      to: [...to],
      subject: notice.title,
      text: bodyOf(notice),
      messageId: `<${notice.id}@gatehouse.localhost>`,
      headers: {
        'Auto-Submitted': 'auto-generated',
        ...(notice.urgent ? { Importance: 'high' } : {}),
      },
    })
    return { kind: 'delivered', status: Number.parseInt(response, 10) || 250 }
  } catch (cause) {
    return { kind: 'failed', ...reasonOf(cause) }
  } finally {
    transport.close()
  }
}
