// An HTTP server in a thread of its own, which answers and keeps its connections, and closes all it has when it is told to.
import { once } from 'node:events'
import { createServer as createTcp } from 'node:net'
import { createServer as createTls } from 'node:tls'
import { parentPort, workerData } from 'node:worker_threads'

const { ended, secured, greeting } = workerData
const answer = [
  'HTTP/1.1 200 OK',
  'Content-Type: application/json',
  'Content-Length: 2',
  'Keep-Alive: timeout=60',
  '',
  '{}',
].join('\r\n')

const open = new Set()
const serve = (socket) => {
  open.add(socket)
  socket.once('close', () => open.delete(socket)).on('error', () => undefined)
  if (greeting) socket.write(greeting)
  socket.on('data', () => socket.write(answer))
}
const server = secured
  ? createTls({ ...secured, requestCert: true, rejectUnauthorized: false }, serve)
  : createTcp(serve)
server.listen(0, '127.0.0.1')
await once(server, 'listening')
parentPort.postMessage(server.address().port)

await once(parentPort, 'message')
server.close()
await Promise.all(
  [...open].map((socket) => {
    const closed = once(socket, 'close')
    socket.destroy()
    return closed
  }),
)
Atomics.store(ended, 0, 1)
Atomics.notify(ended, 0)
