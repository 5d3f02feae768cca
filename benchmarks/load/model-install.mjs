// Installs one model as the service does, without the rest of it. Prints JSON.
import { createModelFiles } from '../../packages/server/dist/inference/create-model-files.js'
import { createOutbound } from '../../packages/server/dist/outbound/create-outbound.js'

const [url, caFile, folder, sha256, size] = process.argv.slice(2)
const outbound = createOutbound(
  {
    'outbound.private_targets': [new URL(url).host],
    'outbound.ports': [],
    'outbound.ca_file': caFile,
    'outbound.proxy': null,
    'outbound.proxy_auth_file': null,
    'outbound.no_proxy': [],
    origins: {},
  },
  { ownPorts: () => new Set() },
)
const files = createModelFiles({ folder, outbound, mirrors: new Map() })
const file = { id: 'bench', url, sha256, size_bytes: Number(size) }
const { signal } = new AbortController()
const rate = (startedAt) => file.size_bytes / ((performance.now() - startedAt) / 1000)
let startedAt = performance.now()
await files.fetch(file, () => undefined, signal)
const bytes_per_second = rate(startedAt)
startedAt = performance.now()
const found = await files.hash(sha256, signal)
process.stdout.write(
  JSON.stringify({
    failures: found?.sha256 === sha256 ? 0 : 1,
    firstFailure: 'the hash differs',
    bytes_per_second,
    rehash_bytes_per_second: rate(startedAt),
    rss_mib: process.resourceUsage().maxRSS / 1024,
  }),
)
