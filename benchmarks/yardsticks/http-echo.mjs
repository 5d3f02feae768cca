// Y1: a plain node:http server that parses a JSON-RPC body and answers with 1 KiB.
import { createServer } from 'node:http'

const content = 'x'.repeat(1024)

const server = createServer((req, res) => {
  const chunks = []
  req.on('data', (chunk) => chunks.push(chunk))
  req.on('end', () => {
    const { id } = JSON.parse(Buffer.concat(chunks).toString())
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id,
      result: { success: true, data: { content } },
    })
    res.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    })
    res.end(body)
  })
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))
process.on('SIGTERM', () => process.exit(0))
