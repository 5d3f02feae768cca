// Y2: the same over ws.
import { WebSocketServer } from 'ws'

const content = 'x'.repeat(1024)

const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false }, () =>
  process.stdout.write(
    `${/** @type {import('node:net').AddressInfo} */ (server.address()).port}\n`,
  ),
)
server.on('connection', (socket) => {
  socket.on('message', (message) => {
    const { id } = JSON.parse(message.toString())
    socket.send(
      JSON.stringify({
        jsonrpc: '2.0',
        id,
        result: { content: [{ type: 'text', text: content }] },
      }),
    )
  })
})
process.on('SIGTERM', () => process.exit(0))
