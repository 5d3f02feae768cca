// A plain node:http server that parses a JSON-RPC body and answers with 1 KiB: what calls through the gate are compared with.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const content = 'x'.repeat(1024)

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { id } = JSON.parse(Buffer.concat(chunks).toString()) as { readonly id: unknown }
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id,
      result: { success: true, data: { content } },
    })
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    })
    response.end(body)
  })
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
})
process.on('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
})
