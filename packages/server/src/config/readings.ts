import { resolve } from 'node:path'
import type { AuditTargetSettings } from './audit-targets.ts'
import { delaysOf } from './delays.ts'
import type { Key } from './fields.ts'
import { addressOf, mirrorsOf } from './models.ts'
import { noProxyOf, portsOf, proxyOf } from './outbound.ts'
import { networksOf, nodeUrlOf, publicUrlOf } from './public.ts'
import { refuse } from './refuse.ts'
import type { Surroundings } from './surroundings.ts'
import type { Target } from './targets.ts'

const besideData = (file: string | null, { dataDir }: Surroundings): string | null =>
  file === null ? null : resolve(dataDir, file)

/** A file that is of no use without the other one. */
const pairedWith =
  (other: Key, lack: string) =>
  (file: string | null, { given, origin }: Surroundings): string | null => {
    if (file === null) return null
    return given(other) === null ? refuse(origin, lack) : resolve(file)
  }

/** Names of files and folders are those of the data directory, where they are not absolute. */
const auditTargetsBesideData = (
  targets: readonly AuditTargetSettings[],
  around: Surroundings,
): readonly AuditTargetSettings[] =>
  targets.map((target) => {
    const at = (file: string): string => resolve(around.dataDir, file)
    if (target.kind === 'files') return { ...target, folder: at(target.folder) }
    if (target.kind !== 'syslog') return target
    const { caFile, client } = target
    return {
      ...target,
      caFile: besideData(caFile, around),
      client: client && { certFile: at(client.certFile), keyFile: at(client.keyFile) },
    }
  })

/** Settings whose value is more than what was written: checked, found in the file system, or made into something. */
export const readings = {
  data_dir: (_written: string | null, { dataDir }: Surroundings): string => dataDir,
  config: (_written: string | null, { file }: Surroundings): string => file,
  'tls.cert': pairedWith('tls.key', 'a certificate needs tls.key, its private key, too'),
  'tls.key': pairedWith('tls.cert', 'a private key needs tls.cert, its certificate, too'),
  'vault.passphrase_file': besideData,
  node_url: nodeUrlOf,
  'server.public_url': publicUrlOf,
  'server.trusted_proxies': networksOf,
  'audit.checkpoint_copy': besideData,
  'audit.targets': auditTargetsBesideData,
  'proxy.delays': delaysOf,
  notifications: (targets: readonly Target[], around: Surroundings): readonly Target[] =>
    targets.map((target) => ({ ...target, secretFile: besideData(target.secretFile, around) })),
  'catalog.url': addressOf('catalog.url'),
  'upstream.client_metadata_url': addressOf('upstream.client_metadata_url'),
  'models.mirrors': mirrorsOf,
  'outbound.ports': portsOf,
  'outbound.ca_file': besideData,
  'outbound.proxy': proxyOf,
  'outbound.proxy_auth_file': besideData,
  'outbound.no_proxy': noProxyOf,
} as const satisfies Partial<Record<Key, (written: never, around: Surroundings) => unknown>>
