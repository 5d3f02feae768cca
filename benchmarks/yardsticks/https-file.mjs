// Serves one file of a given size over HTTPS with an authority of its own. Prints JSON first: port, the
// authority's certificate and the hash of the file. The file is made of one block again and again.
import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:https'
import { issueAuthority, issueLeaf } from '../../packages/server/dist/tls/issue.js'

const size = Number(process.argv[2])
const names = { dns: ['localhost'], ip: ['127.0.0.1'] }

/** A GGUF header with one tensor that is the rest of the file. */
const header = () => {
  const parts = []
  const u32 = (n) => parts.push(Buffer.from(Uint32Array.of(n).buffer))
  const u64 = (n) => parts.push(Buffer.from(BigUint64Array.of(BigInt(n)).buffer))
  const text = (t) => {
    u64(t.length)
    parts.push(Buffer.from(t))
  }
  parts.push(Buffer.from('GGUF'))
  u32(3)
  u64(1)
  u64(1)
  text('general.architecture')
  u32(8)
  text('bench')
  text('weights')
  u32(1)
  u64((size - 4096) / 4)
  u32(0)
  u64(0)
  const made = Buffer.concat(parts)
  const padded = Buffer.alloc(Math.ceil(made.length / 32) * 32)
  made.copy(padded)
  return padded
}

const block = randomBytes(1024 * 1024)
const chunks = function* () {
  const first = header()
  yield first
  for (let at = first.length; at < size; at += block.length)
    yield block.subarray(0, Math.min(block.length, size - at))
}
const hash = createHash('sha256')
for (const chunk of chunks()) hash.update(chunk)

const nowMs = Date.now()
const authority = await issueAuthority({ names, nowMs })
const leaf = await issueLeaf({ authority, names, nowMs })
const answer = async (response) => {
  response.writeHead(200, { 'content-length': size })
  for (const chunk of chunks()) {
    if (response.destroyed) return
    if (!response.write(chunk)) await new Promise((resolve) => response.once('drain', resolve))
  }
  response.end()
}
const server = createServer({ cert: leaf.cert, key: leaf.key }, (_request, response) => {
  void answer(response)
})
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  process.stdout.write(
    `${JSON.stringify({ port, ca: authority.cert, sha256: hash.digest('hex') })}\n`,
  )
})
process.on('SIGTERM', () => process.exit(0))
