import type { ConnectionOptions } from 'node:tls'
import type { ImapFlow } from 'imapflow'
import type { ServiceConnection } from '../../../ports/service-adapter.ts'
import { imapEndpoint, type MailSettings } from './settings.ts'

export type MailTimeouts = {
  readonly connectMs: number
  readonly greetingMs: number
  /** Of silence in the middle of something. */
  readonly idleMs: number
}

export const mailTimeouts: MailTimeouts = {
  connectMs: 20_000,
  greetingMs: 15_000,
  idleMs: 60_000,
}

const mebibyte = 1024 * 1024

/**
 * @SECURITY Certificates are checked always; what the operator may add is an authority, never an exception.
 * `mail-check.test.ts` fails without it.
 */
export const tlsOptions = (settings: MailSettings): ConnectionOptions => ({
  minVersion: 'TLSv1.2',
  rejectUnauthorized: true,
  ...(settings.ca_certificate === undefined ? {} : { ca: settings.ca_certificate }),
})

/** A connection that is logged in. What a hostile server may send at once is bounded. */
export const openImap = async (
  connection: ServiceConnection,
  settings: MailSettings,
  timeouts: MailTimeouts,
  signal: AbortSignal,
): Promise<ImapFlow> => {
  const endpoint = imapEndpoint(settings)
  const { ImapFlow } = await import('imapflow')
  signal.throwIfAborted()
  return connection.secret(endpoint.secret, endpoint.host, async (pass) => {
    const client = new ImapFlow({
      host: endpoint.host,
      port: endpoint.port,
      secure: endpoint.security === 'tls',
      ...(endpoint.security === 'tls' ? {} : { doSTARTTLS: endpoint.security === 'starttls' }),
      tls: tlsOptions(settings),
      auth: { user: endpoint.user, pass },
      logger: false,
      disableAutoIdle: true,
      qresync: true,
      connectionTimeout: timeouts.connectMs,
      greetingTimeout: timeouts.greetingMs,
      socketTimeout: timeouts.idleMs,
      maxLineLength: 16 * mebibyte,
      maxLiteralSize: 32 * mebibyte,
      maxResponseSize: 64 * mebibyte,
      clientInfo: { name: 'Gatehouse' },
    })
    // A broken connection fails the command that runs; without a listener it would end the process.
    client.on('error', () => {})
    const leave = () => client.close()
    signal.addEventListener('abort', leave, { once: true })
    try {
      await client.connect()
      return client
    } catch (error) {
      client.close()
      throw error
    } finally {
      signal.removeEventListener('abort', leave)
      // @SECURITY The password is not kept beyond the login; open-imap.test.ts.
      client.options.auth = undefined
    }
  })
}
