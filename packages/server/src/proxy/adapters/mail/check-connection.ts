import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ConnectionCheck, ServiceConnection } from '../../../ports/service-adapter.ts'
import { SmtpSession } from './deliver-mail.ts'
import { describeFailure, saidText } from './describe-failure.ts'
import { listFolders } from './folders.ts'
import { type MailTimeouts, openImap, tlsOptions } from './open-imap.ts'
import { type Endpoint, imapEndpoint, type MailSettings, smtpEndpoint } from './settings.ts'

type Checking = {
  readonly connection: ServiceConnection
  readonly settings: MailSettings
  readonly timeouts: MailTimeouts
  readonly signal: AbortSignal
}

const dial = ({ settings }: Checking, { host, port, security }: Endpoint): Socket =>
  security === 'tls'
    ? connectTls({
        host,
        port,
        ...tlsOptions(settings),
        ...(isIP(host) === 0 ? { servername: host } : {}),
      })
    : connectTcp({ host, port })

/** The first line that a server says of itself. Raises what went wrong on the way. */
const greetingOf = (checking: Checking, endpoint: Endpoint): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = dial(checking, endpoint)
    const { timeouts, signal } = checking
    let connected = false
    const end = (finish: () => void) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', aborted)
      socket.destroy()
      finish()
    }
    const fail = (error: unknown) => end(() => reject(error))
    const aborted = () => fail(signal.reason)
    const late = () =>
      fail(
        Object.assign(new Error('late'), {
          code: connected ? 'GREETING_TIMEOUT' : 'CONNECT_TIMEOUT',
        }),
      )
    let timer = setTimeout(late, timeouts.connectMs)
    signal.addEventListener('abort', aborted)
    let said = ''
    socket.once(endpoint.security === 'tls' ? 'secureConnect' : 'connect', () => {
      connected = true
      clearTimeout(timer)
      timer = setTimeout(late, timeouts.greetingMs)
    })
    socket.on('data', (bytes) => {
      said += bytes.toString('latin1')
      if (said.includes('\n') || said.length > 1_000)
        end(() => resolve(saidText(said.split('\n')[0])))
    })
    socket.once('error', fail)
    socket.once('close', () => fail(Object.assign(new Error('closed'), { code: 'ECONNRESET' })))
    if (signal.aborted) aborted()
  })

const protocols: readonly (readonly [RegExp, string])[] = [
  [/^\* (OK|PREAUTH|BYE)/i, 'IMAP'],
  [/^(220|554)[ -]/, 'SMTP'],
  [/^\+OK/, 'POP3'],
  [/^HTTP\//i, 'HTTP'],
]

const good = (name: string, detail: string): ConnectionCheck => ({
  name,
  ok: true,
  detail,
  fix: null,
})

const bad = (name: string, error: unknown, endpoint: Endpoint): ConnectionCheck => {
  const { detail, fix } = describeFailure(error, endpoint)
  return { name, ok: false, detail, fix }
}

/** Whether somebody listens there who speaks the protocol that is wanted. */
const checkGreeting = async (
  checking: Checking,
  endpoint: Endpoint,
  wanted: 'IMAP' | 'SMTP',
): Promise<ConnectionCheck> => {
  const name = `${wanted} connection`
  const where = `${endpoint.host}:${endpoint.port}`
  try {
    const greeting = await greetingOf(checking, endpoint)
    const spoken = protocols.find(([pattern]) => pattern.test(greeting))?.[1]
    if (spoken === wanted)
      return good(name, `${where} answers${endpoint.security === 'plain' ? ', without TLS' : ''}`)
    return {
      name,
      ok: false,
      detail: spoken
        ? `${where} speaks ${spoken}, not ${wanted}`
        : `${where} does not speak ${wanted}`,
      fix:
        spoken === 'IMAP' || spoken === 'SMTP'
          ? 'The hosts or ports of reading and sending are mixed up.'
          : 'Check host and port.',
    }
  } catch (error) {
    return bad(name, error, endpoint)
  }
}

const checkImap = async (checking: Checking): Promise<ConnectionCheck[]> => {
  const { connection, settings, timeouts, signal } = checking
  const endpoint = imapEndpoint(settings)
  const reached = await checkGreeting(checking, endpoint, 'IMAP')
  if (!reached.ok) return [reached]
  try {
    const client = await openImap(connection, settings, timeouts, signal)
    try {
      const login = good('IMAP login', `${endpoint.user} is logged in`)
      const folders = await listFolders(client, settings)
      const named = (['sent', 'drafts', 'trash'] as const).filter(
        (use) => !folders.some((folder) => folder.use === use),
      )
      const count = folders.reduce((sum, { messages }) => sum + messages, 0)
      const lacks = named.length > 0 ? `; none of them is for ${named.join(' or ')}` : ''
      return [
        reached,
        login,
        good('IMAP folders', `${folders.length} folders, ${count} messages${lacks}`),
      ]
    } finally {
      client.close()
    }
  } catch (error) {
    return [reached, bad('IMAP login', error, endpoint)]
  }
}

const checkSmtp = async (checking: Checking): Promise<ConnectionCheck[]> => {
  const { connection, settings } = checking
  const endpoint = smtpEndpoint(settings, connection.secrets)
  const reached = await checkGreeting(checking, endpoint, 'SMTP')
  if (!reached.ok) return [reached]
  try {
    using session = await SmtpSession.open(checking, endpoint)
    await session.connect()
    const login = await session.login(connection, endpoint)
    const detail =
      login === 'done'
        ? `${endpoint.user} is logged in`
        : 'the server asks for no login; it may refuse mail from here'
    return [reached, good('SMTP login', detail)]
  } catch (error) {
    return [reached, bad('SMTP login', error, endpoint)]
  }
}

/** Looks at the way to each server, its TLS, its protocol and the login, and names what is wrong. Sends no mail. */
export const checkConnection = async (checking: Checking): Promise<readonly ConnectionCheck[]> => [
  ...(await checkImap(checking)),
  ...(await checkSmtp(checking)),
]
