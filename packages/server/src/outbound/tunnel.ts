import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls, type SecureContext } from 'node:tls'
import { unbracket } from '../domain/web-address.ts'

/** A proxy of the operator's, to which every connection is handed by CONNECT. */
export type Proxy = {
  readonly url: URL
  /** `name:password`, or null. */
  readonly auth: string | null
  /** Hosts (`.example.org` with everything below) that are dialled directly. */
  readonly except: readonly string[]
}

const headBytesMax = 8192

export const goesDirect = ({ except }: Proxy, host: string): boolean =>
  except.some(
    (entry) =>
      entry === '*' ||
      host === entry.replace(/^\*?\./, '') ||
      (/^\*?\./.test(entry) && host.endsWith(entry.replace(/^\*/, ''))),
  )

const openTo = ({ url }: Proxy, secureContext: SecureContext | undefined): Socket => {
  const host = unbracket(url.hostname)
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  if (url.protocol === 'http:') return connectTcp({ host, port })
  return connectTls({
    host,
    port,
    rejectUnauthorized: true,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(secureContext ? { secureContext } : {}),
  })
}

/** Reads the answer to CONNECT byte-exactly: what follows the head belongs to the tunnel. */
const readHead = (socket: Socket, done: (error: Error | null) => void): void => {
  let head = Buffer.alloc(0)
  const onData = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end < 0 && head.length <= headBytesMax) return
    socket.off('data', onData)
    socket.pause()
    if (end < 0) return done(new Error('the proxy answered at too great length'))
    const status = /^HTTP\/1\.[01] (\d{3})/.exec(head.toString('latin1'))?.[1]
    if (status !== '200') return done(new Error(`the proxy answered ${status ?? 'no HTTP'}`))
    const rest = head.subarray(end + 4)
    if (rest.length > 0) socket.unshift(rest)
    done(null)
  }
  socket.on('data', onData)
}

/** A connection to an address through the proxy. The address is a checked one, so the proxy looks up nothing. */
export const openTunnel = (
  proxy: Proxy,
  target: { readonly address: string; readonly port: number },
  options: { readonly timeoutMs: number; readonly secureContext: SecureContext | undefined },
): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const { auth } = proxy
    const host = isIP(target.address) === 6 ? `[${target.address}]` : target.address
    const socket = openTo(proxy, options.secureContext)
    const fail = (error: Error) => {
      clearTimeout(timer)
      socket.destroy()
      reject(error)
    }
    const timer = setTimeout(
      () => fail(new Error('the proxy did not answer in time')),
      options.timeoutMs,
    )
    const onClose = () => fail(new Error('the proxy closed the connection'))
    socket.once('error', fail).once('close', onClose)
    socket.once(proxy.url.protocol === 'http:' ? 'connect' : 'secureConnect', () => {
      const authority = `${host}:${target.port}`
      const credentials = auth === null ? null : Buffer.from(auth).toString('base64')
      socket.write(
        `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${
          credentials === null ? '' : `Proxy-Authorization: Basic ${credentials}\r\n`
        }\r\n`,
      )
    })
    readHead(socket, (error) => {
      if (error) return fail(error)
      clearTimeout(timer)
      socket.off('error', fail).off('close', onClose)
      resolve(socket)
    })
  })
