import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { reachableName } from '../http/reachable-name.ts'
import { type GatewayOptions, GatewayServer } from './gateway-server.ts'

export type { GatewayOptions }

export interface Gateway extends AsyncDisposable {
  readonly url: string
  readonly mcpUrl: string
  readonly port: number
  /** Open sockets, whatever they carry. */
  connections(): number
  /** Accepts nothing new, lets what runs finish for `graceMs`, then cancels it. */
  close(graceMs: number): Promise<void>
}

const listen = (server: Server, host: string, port: number): Promise<AddressInfo> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.off('error', reject)
      resolve(server.address() as AddressInfo)
    })
  })

type Place = {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
}

/** Opens the gateway: `/rpc`, `/mcp`, `/healthz` and `/readyz`. */
export const openGateway = async ({
  host,
  port: asked,
  ...options
}: GatewayOptions & Place): Promise<Gateway> => {
  const gateway = new GatewayServer(options)
  const listening = await listen(gateway.server, host, asked)
  const [name, port] = [reachableName(listening), listening.port]
  return {
    url: `http://${name}:${port}`,
    mcpUrl: `ws://${name}:${port}/mcp`,
    port,
    connections: () => gateway.connections(),
    close: (graceMs) => gateway.close(graceMs),
    [Symbol.asyncDispose]: () => gateway.close(0),
  }
}
