import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { connect, type TLSSocket } from 'node:tls'
import { GatehouseError } from '@gatehouse/contract'
import type { ExportPart } from '../ports/audit-export.ts'
import type { EntryTarget } from './target.ts'

export type SyslogSettings = {
  readonly host: string
  readonly port: number
  readonly caFile: string | null
  readonly client: { readonly certFile: string; readonly keyFile: string } | null
}

/** RFC 5424 §6.2.1: log audit. */
const facility = 13
const severities = { error: 3, warning: 4, informational: 6 } as const
const connectMs = 10_000
const closeMs = 30_000
/** Printable ASCII of at most 255 characters. */
const host =
  hostname()
    .replaceAll(/[^!-~]/g, '')
    .slice(0, 255) || '-'

type Fields = { readonly timestamp?: string; readonly result?: string }

const severityOf = ({ result }: Fields): number => {
  if (result === 'error') return severities.error
  return result === 'denied' || result === 'rejected'
    ? severities.warning
    : severities.informational
}

/** One message: RFC 5424, framed by octet counting as RFC 5425 has it. The message is the line of the export. */
export const frameOf = (
  line: string,
  kind: 'entry' | 'checkpoint' | 'test',
  fields: Fields,
): Buffer => {
  const pri = facility * 8 + severityOf(fields)
  const time = fields.timestamp ?? '-'
  const message = Buffer.from(
    `<${pri}>1 ${time} ${host} gatehouse ${process.pid} ${kind} - ${line}`,
  )
  return Buffer.concat([Buffer.from(`${message.length} `), message])
}

const fieldsOf = (line: string): Fields => {
  const { body } = JSON.parse(line) as { readonly body: string }
  try {
    return JSON.parse(body) as Fields
  } catch {
    return {}
  }
}

export function* framesOf({ entries, checkpoint }: ExportPart): Generator<Buffer> {
  for (const line of entries) yield frameOf(line, 'entry', fieldsOf(line))
  yield frameOf(JSON.stringify({ checkpoint }), 'checkpoint', {})
}

const failed = (detail: string, cause: unknown = null): GatehouseError =>
  new GatehouseError('ExportFailed', { detail }, { cause })

const codeOf = (cause: unknown): string => {
  const { code } = cause as NodeJS.ErrnoException
  return code ?? 'no TLS connection'
}

const open = async (
  { host: target, port, caFile, client }: SyslogSettings,
  signal: AbortSignal,
): Promise<TLSSocket> => {
  const socket = connect({
    ...{ host: target, port, servername: target, minVersion: 'TLSv1.2' },
    ...(caFile === null ? {} : { ca: await readFile(caFile) }),
    ...(client === null
      ? {}
      : { cert: await readFile(client.certFile), key: await readFile(client.keyFile) }),
  })
  const late = AbortSignal.any([signal, AbortSignal.timeout(connectMs)])
  return new Promise((resolve, reject) => {
    const end = (cause: unknown): void => {
      late.removeEventListener('abort', onAbort)
      socket.destroy()
      reject(failed(`${target}:${port} cannot be reached (${codeOf(cause)})`, cause))
    }
    const onAbort = (): void => end({ code: 'no answer within 10 s' })
    late.addEventListener('abort', onAbort, { once: true })
    socket.once('error', end)
    socket.once('secureConnect', () => {
      late.removeEventListener('abort', onAbort)
      socket.removeListener('error', end)
      resolve(socket)
    })
  })
}

/**
 * Sends everything over one connection, and resolves once the receiver has closed it in answer to our end: it has read
 * all of it by then. Syslog has no other acknowledgement, and what a connection loses that breaks off is sent again.
 */
const send = async (
  settings: SyslogSettings,
  frames: Iterable<Buffer>,
  signal: AbortSignal,
): Promise<void> => {
  const socket = await open(settings, signal)
  const place = `${settings.host}:${settings.port}`
  let onAbort = (): void => undefined
  try {
    await new Promise<void>((resolve, reject) => {
      onAbort = () => reject(failed(`${place} was given up`))
      signal.addEventListener('abort', onAbort, { once: true })
      socket.setTimeout(closeMs, () => reject(failed(`${place} did not take the messages in time`)))
      socket.on('error', (cause) => reject(failed(`${place} broke off (${codeOf(cause)})`, cause)))
      let ended = false
      socket.on('end', () => (ended ? resolve() : reject(failed(`${place} closed too early`))))
      socket.on('close', () => reject(failed(`${place} closed too early`)))
      socket.resume()
      const pieces = frames[Symbol.iterator]()
      const write = (): void => {
        for (let next = pieces.next(); ; next = pieces.next()) {
          if (next.done) {
            ended = true
            socket.end()
            return
          }
          if (!socket.write(next.value)) {
            socket.once('drain', write)
            return
          }
        }
      }
      write()
    })
  } finally {
    signal.removeEventListener('abort', onAbort)
    socket.destroy()
  }
}

export const syslogTarget = (settings: SyslogSettings): EntryTarget => ({
  takes: 'entries',
  deliver: (part, signal) => send(settings, framesOf(part), signal),
  probe: (signal) =>
    send(
      settings,
      [frameOf('{"test":"Gatehouse can send its audit log here"}', 'test', {})],
      signal,
    ),
})
