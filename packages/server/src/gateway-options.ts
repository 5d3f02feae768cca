import type { Composition } from './compose.ts'
import type { Settings } from './config/settings.ts'
import type { Log } from './ports/log.ts'
import type { Pair } from './tls/issue.ts'
import { NodeLinks } from './transport/gateway/node-links.ts'
import type { GatewayOptions } from './transport/gateway/open-gateway.ts'
import { version } from './version.ts'

/** How long running calls may take to finish once the service is asked to stop. */
export const graceMs = 8_000

/** Names under which requests may come in, beside those of this machine. */
export const hostsOf = ({
  'server.allowed_hosts': allowed,
  'server.public_url': publicUrl,
}: Settings): readonly string[] =>
  publicUrl === null ? allowed : [...allowed, new URL(publicUrl).hostname]

/** On a terminal people read what was printed for them, and lines of JSON only get between. */
export const levelOf = ({ 'log.level': level, origins }: Settings): string =>
  origins['log.level'] === 'default' && process.stderr.isTTY ? 'warn' : level

/** Facts that every surface is opened with. */
export const surfaceOptions = (settings: Settings, { app, ids }: Composition, log: Log) => ({
  app,
  ids,
  log,
  version,
  allowedHosts: hostsOf(settings),
  allowedOrigins: settings['server.allowed_origins'],
  trustedProxies: settings['server.trusted_proxies'],
})

/** Links to other nodes, which know this one by the certificate. */
export const linksOf = ({ app }: Composition, identity: Pair, log: Log): NodeLinks =>
  new NodeLinks({ ways: app.nodes.ways, identity, log })

/** The gateway, in whichever process it serves. */
export const gatewayOptions = (
  settings: Settings,
  composition: Composition,
  log: Log,
  links: NodeLinks | null,
): Omit<GatewayOptions, 'host' | 'port'> => {
  const { app } = composition
  return {
    ...surfaceOptions(settings, composition, log),
    nodes: links ? { links, ways: app.nodes.ways } : undefined,
    page: () => app.listeners.page,
    onTokenFailures: (report) => void app.reportTokenFailures({ ...report, listener: 'gateway' }),
    limits: {
      bodyBytesMax: settings['server.body_bytes_max'],
      jsonDepthMax: settings['server.json_depth_max'],
    },
  }
}
