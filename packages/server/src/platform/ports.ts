import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { GatehouseError } from '@gatehouse/contract'
import { findPortHolder, type Protocol } from './port-holder.ts'

/** Listener, and the flags that change it. */
export type Listener = {
  readonly surface: string
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  readonly protocol: Protocol
  readonly portFlag: string
  readonly hostFlag?: string
}

const holderText = ({ port, protocol }: Listener): string =>
  findPortHolder(port, protocol) ?? 'another program, maybe of another user,'

const unavailable = (listener: Listener, detail: string, cause?: unknown): GatehouseError => {
  const { surface, host, port, protocol, portFlag, hostFlag } = listener
  const look =
    protocol === 'tcp' ? `sudo ss -ltnp 'sport = :${port}'` : `sudo ss -lunp 'sport = :${port}'`
  return new GatehouseError(
    'PortUnavailable',
    { port: String(port), host, surface, detail },
    {
      cause,
      recovery: [
        { action: `${portFlag} PORT`, description: 'Choose another port, or 0 for any free one.' },
        ...(hostFlag === undefined
          ? []
          : [{ action: `${hostFlag} ADDRESS`, description: 'Choose another address.' }]),
        { action: look, description: 'See which program has the port.' },
      ],
    },
  )
}

/** Says of a port that could not be opened which it is, who may have it, and which flag changes it. */
export const portFailure = (cause: unknown, listener: Listener): unknown => {
  switch ((cause as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return unavailable(listener, `${holderText(listener)} uses it`, cause)
    case 'EACCES':
      return unavailable(listener, 'this user may not open it', cause)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EINVAL':
      return unavailable(listener, 'this machine has no such address', cause)
    default:
      return cause
  }
}

const tryTcp = async ({ host, port }: Listener): Promise<() => void> => {
  const server = createServer((socket) => socket.destroy())
  server.listen({ host, port })
  await once(server, 'listening')
  return () => void server.close()
}

const tryUdp = async ({ host, port }: Listener): Promise<() => void> => {
  const socket = createSocket({ type: 'udp4', reuseAddr: false })
  socket.bind({ address: host, port, exclusive: true })
  await once(socket, 'listening')
  return () => void socket.close()
}

/**
 * Refuses to start where one of these could not be opened, before a first start creates anything. All are opened
 * at once for a moment, so that two of our own with one port are found too.
 */
export const assertPortsFree = async (listeners: readonly Listener[]): Promise<void> => {
  const closes: (() => void)[] = []
  const seen: Listener[] = []
  try {
    for (const listener of listeners) {
      if (listener.port === 0) continue
      const twin = seen.find(
        ({ port, protocol }) => port === listener.port && protocol === listener.protocol,
      )
      if (twin) throw unavailable(listener, `${twin.surface} has it already, by ${twin.portFlag}`)
      const open = listener.protocol === 'tcp' ? tryTcp : tryUdp
      closes.push(
        await open(listener).catch((cause: unknown) => {
          throw portFailure(cause, listener)
        }),
      )
      seen.push(listener)
    }
  } finally {
    for (const close of closes) close()
  }
}
